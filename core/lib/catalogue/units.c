/* Units of positions in catalogues. */
#include "core/lib/catalogue/units.h"
#include "core/kit/units.h"

#include <math.h>

gboolean astro_catalogue_unit(const char *unit, gboolean *is_radians)
{
  static const struct {
    const char *unit;
    gboolean is_radians;
  } units[] = {
    { "", FALSE },   { "deg", FALSE },   { "degree", FALSE }, { "degrees", FALSE },
    { "rad", TRUE }, { "radian", TRUE }, { "radians", TRUE },
  };
  g_autofree char *trimmed = g_strstrip(g_strdup(unit));
  for (guint i = 0; i < G_N_ELEMENTS(units); i++)
    if (g_ascii_strcasecmp(trimmed, units[i].unit) == 0) {
      *is_radians = units[i].is_radians;
      return TRUE;
    }
  return FALSE;
}

gboolean astro_catalogue_unit_is_sixtieths(const char *unit)
{
  g_autofree char *trimmed = g_strstrip(g_strdup(unit));
  return g_str_equal(trimmed, "h:m:s") || g_str_equal(trimmed, "d:m:s");
}

double astro_catalogue_degrees(double radians, gboolean is_dec)
{
  double degrees = radians * ASTRO_DEGREES;
  /* The pole as a float of radians is slightly beyond 90 degrees. */
  gboolean is_pole = is_dec && fabs(degrees) > 90 && fabs(radians) <= (float)G_PI_2;
  return is_pole ? copysign(90, degrees) : degrees;
}
