/* Computes the directions of beams. */
#include "config.h"
#include "core/beamform/steer.h"

#include <math.h>

#include "core/kit/lines.h"
#include "core/kit/units.h"
#include "core/lib/sky/array.h"
#include "core/stream/track.h"
#include "core/stream/uvw.h"

#define EARTH_RATE 7.292115855e-5           /* radians a second, relative to the stars */
#define LONGEST_INTERVAL ((guint64)1 << 20) /* spectra, even at the phase centre */

struct AstroBeamformSteering {
  AstroTrack *centre;
  guint n_beams;
  AstroObservation **pointed; /* at each beam; without stations */
  AstroTrack **tracks;
  double *seconds;
  double position[3]; /* of the array, metres */
  double reach;       /* the station farthest from there, light seconds */
  double distance;
  guint64 interval;
};

/* Start and Earth orientation, and nothing else that a direction does not need: there may be many
 * beams and many stations. */
static AstroObservation *point(const AstroObservation *came, double ra, double dec)
{
  AstroObservation *pointed = astro_observation_new(0);
  pointed->has_start = came->has_start;
  pointed->start_mjd = came->start_mjd;
  pointed->start_ns = came->start_ns;
  pointed->earth = came->earth ? astro_earth_ref(came->earth) : NULL;
  pointed->has_phase_centre = TRUE;
  pointed->phase_ra = ra;
  pointed->phase_dec = dec;
  return pointed;
}

static gboolean place_beam(AstroBeamformSteering *self, const AstroObservation *came,
                           const AstroBeam *beam, GError **error)
{
  double lmn[3] = { beam->x, beam->y, 0 }, ra = beam->x, dec = beam->y;
  if (beam->frame == ASTRO_BEAM_LM) {
    lmn[2] = sqrt(MAX(1 - beam->x * beam->x - beam->y * beam->y, 0));
    astro_direction_from_lmn(came, lmn, &ra, &dec);
  } else {
    astro_lmn_from_direction(came, ra, dec, lmn);
  }
  if (!(lmn[2] > 0)) {
    g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                "beams: beam %s (ra %.4f, dec %.4f degrees) is %.1f degrees from the phase centre, "
                "expected less than 90",
                beam->name, ra * ASTRO_DEGREES, dec * ASTRO_DEGREES,
                acos(CLAMP(lmn[2], -1, 1)) * ASTRO_DEGREES);
    return FALSE;
  }
  const guint n = self->n_beams++;
  self->distance = MAX(self->distance, hypot(hypot(lmn[0], lmn[1]), 1 - lmn[2]));
  self->pointed[n] = point(came, ra, dec);
  self->tracks[n] = astro_track_new(self->pointed[n]);
  return TRUE;
}

/* A station at a distance r from the centre, and a beam at a chord d from the phase centre: tau is
 * r d cos(...), and changes by at most r d times the rate of the Earth. */
static guint64 find_interval(const AstroBeamformSteering *self, const AstroStream *spectra)
{
  const double highest = spectra->frequency + spectra->bandwidth / 2;
  const double turns = self->reach * self->distance * EARTH_RATE * highest * spectra->rate_d /
                       spectra->rate_n; /* in a step */
  guint64 interval = LONGEST_INTERVAL;
  while (interval > 1 && (double)interval * turns > ASTRO_BEAMFORM_TURNS)
    interval /= 2;
  return interval;
}

AstroBeamformSteering *astro_beamform_steering_new(AstroObservation *came,
                                                   const AstroObservation *beams,
                                                   const guint *index, guint n,
                                                   const AstroStream *spectra, GError **error)
{
  AstroBeamformSteering *self = g_new0(AstroBeamformSteering, 1);
  self->centre = astro_track_new(came);
  self->pointed = g_new0(AstroObservation *, beams->n_beams);
  self->tracks = g_new0(AstroTrack *, beams->n_beams);
  for (guint b = 0; b < beams->n_beams; b++)
    if (!place_beam(self, came, &beams->beams[b], error)) {
      astro_beamform_steering_free(self);
      return NULL;
    }
  astro_array_centre(came, self->position);
  g_autofree double *all = astro_array_seconds(came);
  self->seconds = g_new(double, 3 * (gsize)n);
  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < 3; k++)
      self->seconds[3 * i + k] = all[3 * (gsize)index[i] + k];
  self->reach = astro_array_reach(self->seconds, n);
  self->interval = find_interval(self, spectra);
  return self;
}

void astro_beamform_steering_free(AstroBeamformSteering *self)
{
  for (guint b = 0; b < self->n_beams; b++) {
    astro_track_free(self->tracks[b]);
    astro_observation_unref(self->pointed[b]);
  }
  astro_track_free(self->centre);
  g_free(self->tracks);
  g_free(self->pointed);
  g_free(self->seconds);
  g_free(self);
}

const double *astro_beamform_steering_seconds(const AstroBeamformSteering *self)
{
  return self->seconds;
}

guint64 astro_beamform_steering_interval(const AstroBeamformSteering *self)
{
  return self->interval;
}

double astro_beamform_steering_distance(const AstroBeamformSteering *self)
{
  return self->distance;
}

double astro_beamform_steering_spread(const AstroBeamformSteering *self)
{
  return 2 * self->reach * self->distance;
}

void astro_beamform_steering_at(AstroBeamformSteering *self, gint64 ns, double *offsets)
{
  double centre[3][3], beam[3][3];
  astro_track_axes(self->centre, ns, centre);
  for (guint b = 0; b < self->n_beams; b++) {
    astro_track_axes(self->tracks[b], ns, beam);
    for (guint k = 0; k < 3; k++)
      offsets[3 * (gsize)b + k] = beam[2][k] - centre[2][k];
  }
}

#define ON_EARTH 6e6 /* metres from the centre of the Earth */

gboolean astro_beamform_steering_find_low(AstroBeamformSteering *self, gint64 ns,
                                          AstroBeamformLow *low)
{
  const double *at = self->position;
  double axes[3][3], up[3];
  if (sqrt(at[0] * at[0] + at[1] * at[1] + at[2] * at[2]) < ON_EARTH)
    return FALSE;
  astro_up(at, up);
  for (guint b = 0; b < self->n_beams; b++) {
    astro_track_axes(self->tracks[b], ns, axes);
    const double sine = axes[2][0] * up[0] + axes[2][1] * up[1] + axes[2][2] * up[2];
    *low = (AstroBeamformLow){ b, self->pointed[b]->phase_ra, self->pointed[b]->phase_dec,
                               asin(CLAMP(sine, -1, 1)) };
    if (sine < 0)
      return TRUE;
  }
  return FALSE;
}
