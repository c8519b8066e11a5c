/* The reference of SumThreshold's parts: each sum by itself. */
#include "config.h"
#include "core/backend/count.h"
#include "core/flag/reference.h"

#include <math.h>
#include <string.h>

static gsize size_of(const AstroFlagPlane *plane)
{
  return (gsize)plane->rows * plane->channels;
}

static void find_medians(const AstroFlagPlane *plane, float *medians)
{
  for (guint c = 0; c < plane->channels; c++)
    medians[c] = astro_flag_channel_median(plane, c);
}

static void weigh(AstroFlagPlane *plane)
{
  for (gsize i = 0; i < size_of(plane); i++) {
    const gboolean counts = plane->usable[i] & ~plane->bad[i];
    plane->weighted[0][i] = counts ? plane->amplitudes[i] : 0;
    plane->weights[0][i] = (float)counts;
  }
}

static void fit_lines(AstroFlagPlane *plane, gboolean along_rows, const float *taps, guint n_taps)
{
  const guint from = along_rows ? 0 : 1, to = 1 - from, half = n_taps / 2;
  const guint length = along_rows ? plane->rows : plane->channels;
  const gsize stride = along_rows ? plane->channels : 1;
  for (gsize i = 0; i < size_of(plane); i++) {
    const gsize place = along_rows ? i / plane->channels : i % plane->channels;
    float moments[ASTRO_FLAG_MOMENTS] = { 0 };
    for (guint k = 0; k < n_taps; k++) {
      if (place + k < half || place + k - half >= length)
        continue;
      const gsize at = i + k * stride - half * stride;
      ASTRO_COUNT(2 * ASTRO_FLAG_MOMENTS);
      for (guint m = 0; m < ASTRO_FLAG_MOMENTS; m++)
        moments[m] +=
            taps[m % 3 * n_taps + k] * (m < 3 ? plane->weights : plane->weighted)[from][at];
    }
    plane->baseline[i] = astro_flag_line(moments);
    plane->weights[to][i] = moments[0];
    plane->weighted[to][i] = plane->baseline[i] * moments[0];
  }
}

static void deviate(AstroFlagPlane *plane)
{
  for (gsize i = 0; i < size_of(plane); i++) {
    const float baseline = plane->baseline[i], value = plane->usable[i] ? plane->amplitudes[i] : 0;
    float deviation = value - baseline;
    ASTRO_COUNT(plane->is_power ? 2 : 1);
    if (plane->is_power)
      deviation = baseline > 0 ? deviation / baseline : 0;
    plane->baseline[i] = plane->usable[i] && fabsf(deviation) <= G_MAXFLOAT ? deviation : 0;
  }
}

static void make_whole(AstroFlagPlane *plane, float deviation)
{
  const float times = ASTRO_FLAG_UNIT / deviation, most = ASTRO_FLAG_MOST;
  for (gsize i = 0; i < size_of(plane); i++) {
    float scaled = plane->baseline[i] * times;
    ASTRO_COUNT(1);
    scaled = scaled > most ? most : scaled;
    scaled = scaled < -most ? -most : scaled;
    plane->deviations[i] = (gint32)(scaled + (scaled < 0 ? -0.5f : 0.5f));
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

const AstroFlagPlaneWork astro_flag_plane_reference = { find_medians, weigh,      fit_lines,
                                                        deviate,      make_whole, flag_windows };
