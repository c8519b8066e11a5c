/* The parser of files of channel gains, on any text. */
#include "core/channelizer/gains.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
  enum { CHANNELS = 3 };
  g_autoptr(GError) error = NULL;
  AstroLines lines;
  astro_lines_init(&lines, "fuzz", g_strndup((const char *)data, size));
  g_autofree float *gains = astro_channelizer_gains_from_lines(&lines, CHANNELS, &error);
  astro_lines_clear(&lines);
  if (!gains == !error)
    abort();
  for (guint i = 0; gains && i < CHANNELS; i++)
    if (!isfinite(gains[i]))
      abort();
  return 0;
}
