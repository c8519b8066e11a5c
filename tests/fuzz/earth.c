/* The reader of IERS files on any text. */
#include "core/lib/sky/earth-file.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
  g_autoptr(GError) error = NULL;
  AstroLines lines;
  astro_lines_init(&lines, "fuzz", g_strndup((const char *)data, size));
  AstroEarth *earth = astro_earth_from_lines(&lines, &error);
  astro_lines_clear(&lines);
  if (!earth == !error)
    abort();
  if (!earth)
    return 0;
  g_autoptr(AstroEarth) cut = astro_earth_cut(earth, earth->first_mjd + 2);
  g_autofree char *about = astro_earth_describe(cut);
  AstroEarthDay day;
  astro_earth_at(cut, earth->first_mjd, 1.5, &day);
  if (!(ABS(day.ut1_utc) < 1000))
    abort();
  astro_earth_unref(earth);
  return 0;
}
