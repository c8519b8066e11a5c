/* The kernels of flags, one text for all levels. Products are rounded before they are added to
 * (core/column.mk), so that every level agrees with the reference to the bit. */
#include "config.h"
#include "core/backend/level.h"
#include "core/flag/kernels.h"
#include "core/kit/vector.h"

#include <string.h>

/* ---- powers ---- */

#if defined ASTRO_LEVEL_AVX512
#define EVERY_SECOND(z, from)                                                                      \
  __builtin_shufflevector(z, z, from, from + 2, from + 4, from + 6, from + 8, from + 10,           \
                          from + 12, from + 14)
#elif defined ASTRO_LEVEL_AVX2
#define EVERY_SECOND(z, from) __builtin_shufflevector(z, z, from, from + 2, from + 4, from + 6)
#else
#define EVERY_SECOND(z, from) __builtin_shufflevector(z, z, from, from + 2)
#endif

static void add_powers(const float *samples, guint n, double *sums, double *squares)
{
  for (guint i = 0; i < n; i += LEVEL_DOUBLES) {
    const Floats z = floats_load(samples + 2 * i);
    const Doubles re = __builtin_convertvector(EVERY_SECOND(z, 0), Doubles),
                  im = __builtin_convertvector(EVERY_SECOND(z, 1), Doubles);
    const Doubles power = re * re + im * im;
    doubles_store(sums + i, doubles_load(sums + i) + power);
    doubles_store(squares + i, doubles_load(squares + i) + power * power);
  }
}

/* ---- smoothing ---- */

/* Adds taps, `stride` apart, in order, for n values; `first` and `last` say which taps there are.
 */
static void smooth_run(const float *in, float *out, guint n, gsize stride, const float *taps,
                       guint first, guint last)
{
  guint c = 0;
  for (; c + LEVEL_FLOATS <= n; c += LEVEL_FLOATS) {
    Floats sum = { 0 };
    for (guint k = first; k < last; k++)
      sum += floats_all(taps[k]) * floats_load(in + c + (k - first) * stride);
    floats_store(out + c, sum);
  }
  for (; c < n; c++) {
    float sum = 0;
    for (guint k = first; k < last; k++)
      sum += taps[k] * in[c + (k - first) * stride];
    out[c] = sum;
  }
}

/* The taps that lie inside, at place i of n. */
static void find_taps(guint i, guint n, guint n_taps, guint *first, guint *last)
{
  const guint half = n_taps / 2;
  *first = i < half ? half - i : 0;
  *last = n - i + half < n_taps ? n - i + half : n_taps;
}

static void smooth_rows(const float *in, float *out, guint rows, guint channels, const float *taps,
                        guint n_taps)
{
  for (guint t = 0; t < rows; t++) {
    guint first, last;
    find_taps(t, rows, n_taps, &first, &last);
    smooth_run(in + (gsize)(t + first - n_taps / 2) * channels, out + (gsize)t * channels, channels,
               channels, taps, first, last);
  }
}

static void smooth_channels(const float *in, float *out, guint rows, guint channels,
                            const float *taps, guint n_taps)
{
  const guint half = n_taps / 2, middle = channels > 2 * half ? channels - 2 * half : 0;
  for (guint t = 0; t < rows; t++, in += channels, out += channels) {
    for (guint c = 0; c < channels; c++) {
      guint first, last;
      if (middle && c == half)
        c += middle;
      find_taps(c, channels, n_taps, &first, &last);
      smooth_run(in + c + first - half, out + c, 1, 1, taps, first, last);
    }
    if (middle)
      smooth_run(in, out + half, middle, 1, taps, 0, n_taps);
  }
}

/* ---- windows ---- */

static inline Ints ints_load(const gint32 *from)
{
  Ints loaded;
  __builtin_memcpy(&loaded, from, sizeof loaded);
  return loaded;
}

static inline void ints_store(gint32 *to, Ints stored)
{
  __builtin_memcpy(to, &stored, sizeof stored);
}

/* Takes what counts: the values that are usable and not flagged. */
static void mask(const AstroFlagPlane *plane, gint32 *values, gint32 *counted, gsize n)
{
  gsize i = 0;
  for (; i + LEVEL_FLOATS <= n; i += LEVEL_FLOATS) {
    const Ints counts = ints_load(plane->usable + i) & ~ints_load(plane->bad + i);
    ints_store(counted + i, counts);
    ints_store(values + i, ints_load(plane->deviations + i) & -counts);
  }
  for (; i < n; i++) {
    counted[i] = plane->usable[i] & ~plane->bad[i];
    values[i] = plane->deviations[i] & -counted[i];
  }
}

/* Makes of each value the sum of `length` values from there on, `stride` apart, by doubling. Sums
 * that reach beyond the end are of no use. */
static void sum_windows(gint32 *values, gsize n, guint length, gsize stride)
{
  for (gsize far = stride; far < length * stride; far *= 2) {
    gsize i = 0;
    for (; i + far + LEVEL_FLOATS <= n; i += LEVEL_FLOATS)
      ints_store(values + i, ints_load(values + i) + ints_load(values + i + far));
    for (; i + far < n; i++)
      values[i] += values[i + far];
  }
}

/* Marks the value and those that follow it in its window, for each value that is marked. */
static void spread(gint32 *marks, gsize n, guint length, gsize stride)
{
  for (gsize far = stride; far < length * stride; far *= 2) {
    gsize i = n;
    for (; i >= far + LEVEL_FLOATS; i -= LEVEL_FLOATS)
      ints_store(marks + i - LEVEL_FLOATS,
                 ints_load(marks + i - LEVEL_FLOATS) | ints_load(marks + i - LEVEL_FLOATS - far));
    for (; i > far; i--)
      marks[i - 1] |= marks[i - 1 - far];
  }
}

/* Marks windows, from `first` on, whose sum is beyond their limit. Returns whether there is one. */
static gboolean mark_windows(const AstroFlagPlane *plane, gsize first, guint n,
                             const gint32 *limits, guint length, gboolean has_missing)
{
  const gint32 *sums = plane->room[0] + first, *counted = plane->room[1] + first,
               *usable = plane->room[2] + first;
  gint32 *marks = plane->room[3] + first, any = 0;
  Ints found = { 0 };
  guint i = 0;
  for (; !has_missing && i + LEVEL_FLOATS <= n; i += LEVEL_FLOATS) {
    const Ints sum = ints_load(sums + i), sign = sum >> 31, size = (sum ^ sign) - sign,
               counts = ints_load(counted + i);
    /* Where nothing counts the sum is 0, and not beyond a limit of 0. */
    const Ints beyond = (Ints)(size > counts * limits[length]) & 1;
    ints_store(marks + i, beyond);
    found |= beyond;
  }
  for (; i < n; i++) {
    marks[i] = ABS(sums[i]) > counted[i] * limits[has_missing ? (guint)usable[i] : length];
    any |= marks[i];
  }
  for (guint lane = 0; lane < LEVEL_FLOATS; lane++)
    any |= found[lane];
  return any;
}

static gboolean find_missing(const AstroFlagPlane *plane, gsize n)
{
  Ints all = (Ints){ 0 } + 1;
  gint32 least = 1;
  gsize i = 0;
  for (; i + LEVEL_FLOATS <= n; i += LEVEL_FLOATS)
    all &= ints_load(plane->usable + i);
  for (; i < n; i++)
    least &= plane->usable[i];
  for (guint lane = 0; lane < LEVEL_FLOATS; lane++)
    least &= all[lane];
  return !least;
}

static void flag_windows(AstroFlagPlane *plane, guint length, gboolean along_rows,
                         const gint32 *limits)
{
  const gsize n = (gsize)plane->rows * plane->channels, stride = along_rows ? plane->channels : 1;
  const guint rows = along_rows ? plane->rows - length + 1 : plane->rows,
              channels = along_rows ? plane->channels : plane->channels - length + 1;
  const gboolean has_missing = find_missing(plane, n);
  gint32 *marks = plane->room[3];

  mask(plane, plane->room[0], plane->room[1], n);
  sum_windows(plane->room[0], n, length, stride);
  sum_windows(plane->room[1], n, length, stride);
  if (has_missing) {
    memcpy(plane->room[2], plane->usable, n * sizeof(gint32));
    sum_windows(plane->room[2], n, length, stride);
  }
  gboolean any = FALSE;
  memset(marks, 0, n * sizeof *marks);
  for (guint t = 0; t < rows; t++)
    any |= mark_windows(plane, (gsize)t * plane->channels, channels, limits, length, has_missing);
  if (!any)
    return;
  spread(marks, n, length, stride);
  for (gsize i = 0; i < n; i++)
    plane->bad[i] |= marks[i];
}

const AstroFlagKernels LEVEL_NAMED(astro_flag_kernels) = {
  .variant = LEVEL_VARIANT,
  .lanes = LEVEL_DOUBLES,
  .add_powers = add_powers,
  .plane = { smooth_rows, smooth_channels, flag_windows },
};
