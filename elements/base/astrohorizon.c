/* Whether an array can see the direction it is pointed at. */
#include "config.h"
#include "elements/base/astrohorizon.h"

#include <math.h>

#include "core/kit/units.h"
#include "core/lib/sky/array.h"
#include "core/lib/sky/sky.h"

#define ON_EARTH 6e6 /* metres from the centre of the earth */

/* Stations whose place on earth is not known have no horizon. */
static gboolean has_horizon(const AstroObservation *observation)
{
  double centre[3];
  if (!observation->has_start || !observation->has_phase_centre || observation->n_stations == 0)
    return FALSE;
  astro_array_centre(observation, centre);
  return hypot(hypot(centre[0], centre[1]), centre[2]) >= ON_EARTH;
}

void astro_horizon_warn(GstElement *element, AstroObservation *observation, const char *expected)
{
  const double height =
      has_horizon(observation) ? astro_sky_phase_centre_height(observation, 0) : 0;
  if (height >= 0)
    return;
  GST_ELEMENT_WARNING(element, LIBRARY, SETTINGS,
                      ("the phase centre (ra %.4f, dec %.4f degrees) is %.1f degrees below the "
                       "horizon of the array at the start%s: expected %s",
                       observation->phase_ra * ASTRO_DEGREES,
                       observation->phase_dec * ASTRO_DEGREES, -height * ASTRO_DEGREES,
                       astro_sky_phase_centre_rises(observation) ? "" : ", and never rises there",
                       expected),
                      (NULL));
}
