/* The parsers of arrays, skies and interference on any text. The first byte chooses one. */
#include "core/lib/sky/array.h"
#include "core/lib/sky/interference.h"
#include "core/lib/sky/sky.h"

/* In a file and in a list. */
static void read_interference(const char *text)
{
  AstroObservation *observation = astro_observation_new(3);
  const AstroInterferencePlace place = { observation, 1e8, 1e6, 1 };
  for (guint i = 0; i < 2; i++) {
    g_autoptr(GError) error = NULL;
    AstroLines lines;
    astro_lines_init(&lines, "fuzz", g_strdup(text));
    g_autoptr(AstroInterference) interference =
        i ? astro_interference_from_lines(&lines, &place, &error)
          : astro_interference_from_inline(text, &place, &error);
    astro_lines_clear(&lines);
    if (!interference && !error)
      abort();
    if (interference)
      g_free(astro_interference_tell(interference, 3));
  }
  astro_observation_unref(observation);
}

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
  /* The steady ones among the corpus begin with letters that are digits. */
  const AstroSourceKind kind = data[0] < '4' ? ASTRO_SOURCE_STEADY
                               : data[0] & 8 ? ASTRO_SOURCE_PULSAR
                                             : ASTRO_SOURCE_BURST;

  astro_lines_init(&lines, "fuzz", g_strdup(text));
  switch (data[0] % 4) {
  case 0:
    array = astro_array_from_lines(&lines, 0, NULL, &error);
    break;
  case 1:
    array = astro_array_from_lines(&lines, 0, &site, &error);
    break;
  case 2:
    sky = astro_sky_from_lines(&lines, kind, &error);
    break;
  default:
    sky = astro_sky_from_inline(text, kind, &error);
    read_interference(text);
  }
  if (!array && !sky && !error)
    abort();
  astro_lines_clear(&lines);
  g_clear_pointer(&array, astro_observation_unref);
  return 0;
}
