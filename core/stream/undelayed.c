/* Computes the phase errors of visibilities whose delays were not removed. */
#include "config.h"
#include "core/stream/undelayed.h"

#include "core/stream/track.h"

struct AstroUndelayed {
  AstroObservation *observation;
  AstroTrack *track;
  double wavenumber; /* of the highest frequency */
};

AstroUndelayed *astro_undelayed_new(AstroObservation *observation, const AstroStream *visibilities)
{
  if (!observation || !observation->has_start || !observation->has_phase_centre ||
      observation->n_stations < 2 ||
      astro_history_delays(&observation->done, visibilities->quantity) == ASTRO_DELAYS_OUT)
    return NULL;
  AstroUndelayed *self = g_new0(AstroUndelayed, 1);
  self->observation = astro_observation_ref(observation);
  self->track = astro_track_new(observation);
  self->wavenumber = (visibilities->frequency + visibilities->bandwidth / 2) / ASTRO_LIGHT_SPEED;
  return self;
}

void astro_undelayed_free(AstroUndelayed *self)
{
  astro_track_free(self->track);
  astro_observation_unref(self->observation);
  g_free(self);
}

double astro_undelayed_turns(AstroUndelayed *self, gint64 ns_since_start)
{
  const AstroObservation *o = self->observation;
  double axes[3][3], nearest = G_MAXDOUBLE, farthest = -G_MAXDOUBLE;
  astro_track_axes(self->track, ns_since_start, axes);
  for (guint i = 0; i < o->n_stations; i++) {
    const double *p = &o->positions[3 * i];
    const double w = p[0] * axes[2][0] + p[1] * axes[2][1] + p[2] * axes[2][2];
    nearest = MIN(nearest, w);
    farthest = MAX(farthest, w);
  }
  return (farthest - nearest) * self->wavenumber;
}
