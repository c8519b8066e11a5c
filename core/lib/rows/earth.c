/* One Earth orientation for all days. */
#include "core/lib/rows/earth.h"

#include "core/kit/units.h"
#include "core/lib/sky/earth-file.h"

#define MOST_DAYS 100000
#define CLOSE 0.1 /* arcsec: the error of a constant value after a day or so */

AstroEarth *astro_rows_constant_earth(const char *name, const AstroEarthDay *day, gint32 start_mjd,
                                      guint64 duration_ns)
{
  const double longest = (double)duration_ns / ASTRO_NS_PER_DAY;
  const guint n = ASTRO_EARTH_LEAST_DAYS + (guint)MIN(longest, MOST_DAYS);
  g_autofree AstroEarthDay *days = g_new(AstroEarthDay, n);
  for (guint i = 0; i < n; i++)
    days[i] = *day;
  return astro_earth_new(name, start_mjd - 1, days, n, NULL);
}

gboolean astro_rows_prefer_earth(AstroObservation *o, const char *file, double *arcsec,
                                 GError **error)
{
  g_autoptr(AstroEarth) told = g_steal_pointer(&o->earth);
  if (!astro_earth_amend(o, file, error))
    return FALSE;
  *arcsec = astro_earth_difference(told, o->earth, o->start_mjd);
  *arcsec = *arcsec > CLOSE ? *arcsec : 0;
  return TRUE;
}
