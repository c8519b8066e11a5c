/* Reads gains of channels. */
#include "config.h"
#include "core/channelizer/gains.h"

#include <float.h>
#include <math.h>

float *astro_channelizer_gains_from_lines(AstroLines *lines, guint channels, GError **error)
{
  g_autofree float *gains = g_new(float, channels);
  g_auto(GStrv) fields = NULL;
  guint n = 0;

  while ((fields = astro_lines_next(lines))) {
    for (guint i = 0; fields[i]; i++) {
      double gain;
      if (n == channels) {
        astro_lines_error(lines, error, "more gains than the %u channels", channels);
        return NULL;
      }
      if (!astro_number_parse(fields[i], &gain) || fabs(gain) > FLT_MAX) {
        astro_lines_error(lines, error,
                          "the gain of channel %u is %s, expected a number of at most %g", n,
                          fields[i], FLT_MAX);
        return NULL;
      }
      gains[n++] = (float)gain;
    }
    g_clear_pointer(&fields, g_strfreev);
  }
  if (n < channels) {
    astro_lines_error(lines, error, "%u gains, expected one for each of %u channels", n, channels);
    return NULL;
  }
  return g_steal_pointer(&gains);
}

float *astro_channelizer_gains_read(const char *path, guint channels, GError **error)
{
  AstroLines lines;
  if (!astro_lines_open(&lines, path, error))
    return NULL;
  float *gains = astro_channelizer_gains_from_lines(&lines, channels, error);
  astro_lines_clear(&lines);
  return gains;
}
