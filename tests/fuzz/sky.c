/* The parsers of arrays and skies on any text. The first byte chooses one. */
#include "core/lib/sky/array.h"
#include "core/lib/sky/sky.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
  static const AstroSite site = { 0.9, 0.1 };
  if (size == 0)
    return 0;
  g_autofree char *text = g_strndup((const char *)data + 1, size - 1);
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroSky) sky = NULL;
  AstroObservation *array = NULL;
  AstroLines lines;

  astro_lines_init(&lines, "fuzz", g_strdup(text));
  switch (data[0] % 4) {
  case 0:
    array = astro_array_from_lines(&lines, 0, NULL, &error);
    break;
  case 1:
    array = astro_array_from_lines(&lines, 0, &site, &error);
    break;
  case 2:
    sky = astro_sky_from_lines(&lines, &error);
    break;
  default:
    sky = astro_sky_from_inline(text, &error);
  }
  if (!array && !sky && !error)
    abort();
  astro_lines_clear(&lines);
  g_clear_pointer(&array, astro_observation_unref);
  return 0;
}
