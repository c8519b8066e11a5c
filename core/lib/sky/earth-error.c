/* The error from taking UT1 as UTC and the pole as fixed. */
#include "config.h"
#include "core/lib/sky/earth-error.h"

#include <math.h>

#include "core/stream/uvw.h"
#include "core/kit/units.h"

#define MOST_ROTATION (0.9 * 15) /* arcsec: leap seconds keep UT1 - UTC below 0.9 s */
#define MOST_POLE 0.6            /* arcsec */
#define SHARE_OF_BEAM 0.1
#define ARCSEC (ASTRO_DEGREE / 3600)

double astro_earth_error_of_delays(const AstroObservation *observation)
{
  return hypot(MOST_ROTATION * cos(observation->phase_dec), MOST_POLE);
}

double astro_earth_error_of_uvw(double distance)
{
  return distance * hypot(MOST_ROTATION, MOST_POLE);
}

/* The distance to the station farthest from a given one, metres. */
static double longest_from(const AstroObservation *observation, guint station, guint *farthest)
{
  const double *from = &observation->positions[3 * (gsize)station];
  double longest = 0;
  for (guint i = 0; i < observation->n_stations; i++) {
    const double *to = &observation->positions[3 * (gsize)i];
    const double metres = hypot(hypot(to[0] - from[0], to[1] - from[1]), to[2] - from[2]);
    *farthest = metres > longest ? i : *farthest;
    longest = MAX(longest, metres);
  }
  return longest;
}

gboolean astro_earth_error_is_seen(const AstroObservation *observation, double frequency,
                                   double error, double *beam)
{
  guint end = 0, other = 0;
  if (observation->n_stations == 0 || !(frequency > 0) || !(longest_from(observation, 0, &end) > 0))
    return FALSE;
  *beam = ASTRO_LIGHT_SPEED / frequency / longest_from(observation, end, &other) / ARCSEC;
  return error > SHARE_OF_BEAM * *beam;
}
