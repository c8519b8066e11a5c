/* The rounds of SumThreshold: baseline, deviations, windows. */
#include "config.h"
#include "core/flag/plane.h"
#include "core/flag/median.h"
#include "core/flag/rank.h"

#include <math.h>
#include <string.h>

#define ROUNDS ASTRO_FLAG_ROUNDS
#define FEWEST 32 /* values that say what noise there is */
#define TIME_WIDTH 2.5
#define CHANNEL_WIDTH 5.0
#define RATIO 1.45       /* by which the threshold falls with each doubling of the window */
#define GAUSSIAN 1.4826f /* standard deviations in a median absolute deviation */

/* ---- settings ---- */

/* taps[power][i]: a Gaussian times the distance to that power. */
static void make_taps(float *taps, guint n, double width)
{
  for (guint i = 0; i < n; i++) {
    const double distance = (double)i - n / 2, x = distance / width;
    for (guint power = 0; power < 3; power++)
      taps[power * n + i] = (float)(exp(-x * x / 2) * pow(distance, power));
  }
}

void astro_flag_thresholds(AstroFlagThresholds *thresholds, double threshold, guint longest)
{
  thresholds->longest = longest;
  for (guint r = 0; r < ROUNDS; r++)
    for (guint n = 1; n <= longest; n++)
      thresholds->limits[r][n] = (gint32)lrint(threshold * (1 << (ROUNDS - 1 - r)) *
                                               ASTRO_FLAG_UNIT / pow(RATIO, log2(n)));
  make_taps(thresholds->time_taps[0], ASTRO_FLAG_TIME_TAPS, TIME_WIDTH);
  make_taps(thresholds->channel_taps[0], ASTRO_FLAG_CHANNEL_TAPS, CHANNEL_WIDTH);
}

/* ---- room ---- */

#define ARRAYS 15

static gsize array_bytes(guint64 rows, guint64 channels)
{
  return (rows * channels * sizeof(float) + 63) / 64 * 64;
}

gsize astro_flag_plane_bytes(guint64 rows, guint64 channels)
{
  return ARRAYS * array_bytes(rows, channels);
}

void astro_flag_plane_lay(AstroFlagPlane *plane, gpointer room, guint rows, guint channels)
{
  gpointer arrays[ARRAYS];
  for (guint i = 0; i < ARRAYS; i++)
    arrays[i] = (guint8 *)room + i * array_bytes(rows, channels);
  *plane = (AstroFlagPlane){
    .rows = rows,
    .channels = channels,
    .deviations = arrays[0],
    .usable = arrays[1],
    .bad = arrays[2],
    .baseline = arrays[3],
    .sorted = arrays[4],
    .weights = { arrays[5], arrays[6] },
    .weighted = { arrays[7], arrays[8] },
    .sums = { arrays[9], arrays[10] },
    .counts = { arrays[11], arrays[12] },
    .room = { arrays[13], arrays[14] },
  };
}

/* ---- values ---- */

static gsize size_of(const AstroFlagPlane *plane)
{
  return (gsize)plane->rows * plane->channels;
}

/* Copies the values that count to plane->sorted. */
static gsize gather(const AstroFlagPlane *plane, const float *values)
{
  gsize n = 0;
  for (gsize i = 0; i < size_of(plane); i++) {
    plane->sorted[n] = values[i];
    n += (gsize)(plane->usable[i] & ~plane->bad[i]);
  }
  return n;
}

static void mark_usable(AstroFlagPlane *plane)
{
  gint32 all = 1;
  for (gsize i = 0; i < size_of(plane); i++) {
    plane->usable[i] = fabsf(plane->amplitudes[i]) <= G_MAXFLOAT;
    all &= plane->usable[i];
  }
  plane->has_missing = !all;
}

/* ---- baselines ---- */

float astro_flag_channel_median(const AstroFlagPlane *plane, guint c)
{
  gsize n = 0;
  for (guint t = 0; t < plane->rows; t++) {
    const gsize at = (gsize)t * plane->channels + c;
    plane->sorted[n] = plane->amplitudes[at];
    n += (gsize)plane->usable[at];
  }
  return n ? astro_flag_median(plane->sorted, n) : NAN;
}

/* The baseline of the first round follows the shape of the band, and neither what is narrower than
 * half of the reach nor what is on for less than half of the time: the median, over the reach of
 * the Gaussian, of the medians of channels. */
static void begin_baseline(AstroFlagPlane *plane, const AstroFlagPlaneWork *work)
{
  const guint half = ASTRO_FLAG_CHANNEL_TAPS / 2, channels = plane->channels;
  float *medians = plane->weights[0], around[ASTRO_FLAG_CHANNEL_TAPS];
  work->find_medians(plane, medians);
  for (guint c = 0; c < channels; c++) {
    gsize n = 0;
    for (guint k = c > half ? c - half : 0; k < MIN(c + half + 1, channels); k++)
      if (!isnan(medians[k]))
        around[n++] = medians[k];
    const float middle = n ? astro_flag_median(around, n) : 0;
    for (guint t = 0; t < plane->rows; t++)
      plane->baseline[(gsize)t * channels + c] = middle;
  }
}

float astro_flag_line(const float m[ASTRO_FLAG_MOMENTS])
{
  const float spread = m[0] * m[2] - m[1] * m[1];
  return spread > ASTRO_FLAG_LEAST_SPREAD * m[0] * m[2] ? (m[2] * m[3] - m[1] * m[4]) / spread
         : m[0] > 0                                     ? m[3] / m[0]
                                                        : 0;
}

/* Where there is nothing to smooth within reach, the baseline is the median of all that counts. */
static void fill_holes(AstroFlagPlane *plane)
{
  gboolean is_known = FALSE;
  float middle = 0;
  for (gsize i = 0; i < size_of(plane); i++) {
    if (plane->weights[0][i] > 0 || !plane->usable[i])
      continue;
    if (!is_known)
      middle = astro_flag_median(plane->sorted, gather(plane, plane->amplitudes));
    is_known = TRUE;
    plane->baseline[i] = middle;
  }
}

/* A band with a slope keeps its edges, since lines are fitted through them. */
static void smooth(AstroFlagPlane *plane, const AstroFlagThresholds *thresholds,
                   const AstroFlagPlaneWork *work)
{
  work->weigh(plane);
  work->fit_lines(plane, TRUE, thresholds->time_taps[0], ASTRO_FLAG_TIME_TAPS);
  work->fit_lines(plane, FALSE, thresholds->channel_taps[0], ASTRO_FLAG_CHANNEL_TAPS);
  fill_holes(plane);
}

/* ---- a round ---- */

/* The standard deviation of the values that count, from the median of what they deviate from their
 * own median; 0: they are too few. */
static float find_deviation(AstroFlagPlane *plane)
{
  const gsize n = gather(plane, plane->baseline);
  const float middle = astro_flag_median(plane->sorted, n);
  gsize k = 0;
  /* The median has overwritten what it looked through. */
  for (gsize i = 0; i < size_of(plane); i++) {
    plane->sorted[k] = fabsf(plane->baseline[i] - middle);
    k += (gsize)(plane->usable[i] & ~plane->bad[i]);
  }
  if (n < FEWEST)
    return 0;
  return GAUSSIAN * astro_flag_median(plane->sorted, n);
}

gboolean astro_flag_plane(AstroFlagPlane *plane, const AstroFlagThresholds *thresholds,
                          const AstroFlagPlaneWork *work)
{
  memset(plane->bad, 0, size_of(plane) * sizeof *plane->bad);
  mark_usable(plane);
  for (guint round = 0; round < ROUNDS; round++) {
    if (round > 0)
      smooth(plane, thresholds, work);
    else
      begin_baseline(plane, work);
    work->deviate(plane);
    const float deviation = find_deviation(plane);
    memset(plane->bad, 0, size_of(plane) * sizeof *plane->bad);
    if (!(deviation > 0) || ASTRO_FLAG_UNIT / deviation > G_MAXFLOAT)
      return FALSE;
    work->make_whole(plane, deviation);
    plane->summed[0] = plane->summed[1] = 0;
    for (guint length = 1; length <= thresholds->longest; length *= 2) {
      if (length <= plane->rows)
        work->flag_windows(plane, length, TRUE, thresholds->limits[round]);
      if (length <= plane->channels && length > 1)
        work->flag_windows(plane, length, FALSE, thresholds->limits[round]);
    }
  }
  astro_flag_extend(plane);
  return TRUE;
}
