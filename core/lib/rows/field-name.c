/* Names the field of an observation. */
#include "core/lib/rows/field-name.h"

#include <math.h>

#include "core/kit/units.h"

/* Names truncate minutes. The small addition makes -60 degrees, converted to radians and back, 60
 * and not 59 59'. */
static guint whole_minutes(double minutes)
{
  return (guint)(minutes + 1e-6);
}

char *astro_field_name(const AstroObservation *o)
{
  double ra = fmod(o->phase_ra * ASTRO_DEGREES + 360, 360) / 15,
         dec = fabs(o->phase_dec * ASTRO_DEGREES);
  guint ra_minutes = whole_minutes(ra * 60) % (24 * 60), dec_minutes = whole_minutes(dec * 60);
  return g_strdup_printf("J%02u%02u%c%02u%02u", ra_minutes / 60, ra_minutes % 60,
                         o->phase_dec < 0 ? '-' : '+', dec_minutes / 60, dec_minutes % 60);
}
