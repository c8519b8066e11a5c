/* Computes how much nearer each station is to the new phase centre than to the old one. */
#include "config.h"
#include "core/phaseshift/phaseshift.h"

#include <math.h>

#include "core/stream/track.h"

struct AstroShift {
  AstroObservation *observation;
  double distance;
  AstroTrack *from, *to;
};

AstroShift *astro_shift_new(AstroObservation *from, AstroObservation *to)
{
  AstroShift *shift = g_new(AstroShift, 1);
  double lmn[3];
  astro_lmn_from_direction(from, to->phase_ra, to->phase_dec, lmn);
  shift->distance = hypot(hypot(lmn[0], lmn[1]), 1 - lmn[2]);
  shift->observation = astro_observation_ref(from);
  shift->from = astro_track_new(from);
  shift->to = astro_track_new(to);
  return shift;
}

void astro_shift_free(AstroShift *shift)
{
  astro_track_free(shift->from);
  astro_track_free(shift->to);
  astro_observation_unref(shift->observation);
  g_free(shift);
}

double astro_shift_distance(const AstroShift *shift)
{
  return shift->distance;
}

/* Subtracts the directions before multiplying by positions: stations are far from the geocentre but
 * close to each other, so that this order rounds less. */
void astro_shift_at(AstroShift *shift, gint64 ns_since_start, double *nearer)
{
  double from[3][3], to[3][3], change[3];
  astro_track_axes(shift->from, ns_since_start, from);
  astro_track_axes(shift->to, ns_since_start, to);
  for (guint k = 0; k < 3; k++)
    change[k] = to[2][k] - from[2][k];
  for (guint i = 0; i < shift->observation->n_stations; i++) {
    const double *p = &shift->observation->positions[3 * i];
    nearer[i] = p[0] * change[0] + p[1] * change[1] + p[2] * change[2];
  }
}
