/* The reference of SumThreshold's parts: each sum by itself. */
#include "config.h"
#include "core/flag/reference.h"

#include <string.h>

static void smooth_rows(const float *in, float *out, guint rows, guint channels, const float *taps,
                        guint n_taps)
{
  for (guint t = 0; t < rows; t++)
    for (guint c = 0; c < channels; c++) {
      float sum = 0;
      for (guint k = 0; k < n_taps; k++)
        if (t + k >= n_taps / 2 && t + k - n_taps / 2 < rows)
          sum += taps[k] * in[(gsize)(t + k - n_taps / 2) * channels + c];
      out[(gsize)t * channels + c] = sum;
    }
}

static void smooth_channels(const float *in, float *out, guint rows, guint channels,
                            const float *taps, guint n_taps)
{
  for (guint t = 0; t < rows; t++)
    for (guint c = 0; c < channels; c++) {
      float sum = 0;
      for (guint k = 0; k < n_taps; k++)
        if (c + k >= n_taps / 2 && c + k - n_taps / 2 < channels)
          sum += taps[k] * in[(gsize)t * channels + c + k - n_taps / 2];
      out[(gsize)t * channels + c] = sum;
    }
}

/* Whether the window of n values that begins at `first`, `stride` apart, is flagged. */
static gboolean is_beyond(const AstroFlagPlane *plane, gsize first, gsize stride, guint n,
                          const gint32 *limits)
{
  gint32 sum = 0, counted = 0, usable = 0;
  for (guint i = 0; i < n; i++) {
    const gsize at = first + i * stride;
    usable += plane->usable[at];
    if (plane->usable[at] && !plane->bad[at]) {
      sum += plane->deviations[at];
      counted++;
    }
  }
  return counted > 0 && ABS(sum) > counted * limits[usable];
}

static void flag_windows(AstroFlagPlane *plane, guint n, gboolean along_rows, const gint32 *limits)
{
  const guint rows = plane->rows, channels = plane->channels;
  const gsize stride = along_rows ? channels : 1;
  gint32 *found = plane->room[0];
  memset(found, 0, (gsize)rows * channels * sizeof *found);
  for (guint t = 0; t < (along_rows ? rows - n + 1 : rows); t++)
    for (guint c = 0; c < (along_rows ? channels : channels - n + 1); c++) {
      const gsize first = (gsize)t * channels + c;
      if (is_beyond(plane, first, stride, n, limits))
        for (guint i = 0; i < n; i++)
          found[first + i * stride] = 1;
    }
  for (gsize i = 0; i < (gsize)rows * channels; i++)
    plane->bad[i] |= found[i];
}

const AstroFlagPlaneWork astro_flag_plane_reference = { smooth_rows, smooth_channels,
                                                        flag_windows };
