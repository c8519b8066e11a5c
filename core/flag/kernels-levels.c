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

/* ---- integers ---- */

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

/* ---- medians of channels ---- */

typedef guint32 Keys __attribute__((vector_size(LEVEL_BYTES)));

#define TOP 0x80000000u

/* Whole numbers in the order of the floats, and the last one for what is not usable; row by row. */
static void make_keys(const AstroFlagPlane *plane, guint c, Keys *keys, Ints *usable)
{
  *usable = (Ints){ 0 };
  for (guint t = 0; t < plane->rows; t++) {
    const gsize at = (gsize)t * plane->channels + c;
    const Ints bits = ints_load((const gint32 *)plane->amplitudes + at),
               is_usable = ints_load(plane->usable + at);
    keys[t] = ((Keys)bits ^ ((Keys)(bits >> 31) | TOP)) | (Keys)(is_usable - 1);
    *usable += is_usable;
  }
}

/* The medians of as many channels as there are lanes, two bits of their keys at a time: how many
 * keys that begin like the one sought go on with 0, 1 and 2. */
static void find_together(const AstroFlagPlane *plane, guint c, float *medians)
{
  Keys *keys = (Keys *)plane->sorted, found = { 0 };
  Ints usable, k;
  make_keys(plane, c, keys, &usable);
  k = usable >> 1;
  for (gint shift = 30; shift >= 0; shift -= 2) {
    Ints n[3] = { { 0 } };
    found <<= 2;
    for (guint t = 0; t < plane->rows; t++) {
      const Keys digit = (keys[t] >> shift) - found;
      for (guint d = 0; d < 3; d++)
        n[d] -= (Ints)(digit == d);
    }
    Ints is_beyond = (Ints){ 0 } - 1;
    for (guint d = 0; d < 3; d++) {
      is_beyond &= (Ints)(k >= n[d]);
      k -= n[d] & is_beyond;
      found -= (Keys)is_beyond;
    }
  }
  for (guint lane = 0; lane < LEVEL_FLOATS; lane++) {
    const guint32 key = found[lane], bits = key & TOP ? key & ~TOP : ~key;
    __builtin_memcpy(&medians[lane], &bits, sizeof bits);
    if (!usable[lane])
      medians[lane] = NAN;
  }
}

static void find_medians(const AstroFlagPlane *plane, float *medians)
{
  guint c = 0;
  for (; c + LEVEL_FLOATS <= plane->channels; c += LEVEL_FLOATS)
    find_together(plane, c, medians + c);
  for (; c < plane->channels; c++)
    medians[c] = astro_flag_channel_median(plane, c);
}

/* ---- lines ---- */

static inline gsize size_of(const AstroFlagPlane *plane)
{
  return (gsize)plane->rows * plane->channels;
}

static void weigh(AstroFlagPlane *plane)
{
  float *weights = plane->weights[0], *weighted = plane->weighted[0];
  gsize i = 0;
  for (; i + LEVEL_FLOATS <= size_of(plane); i += LEVEL_FLOATS) {
    const Ints counts = ints_load(plane->usable + i) & ~ints_load(plane->bad + i);
    floats_store(weights + i, __builtin_convertvector(counts, Floats));
    ints_store((gint32 *)weighted + i, ints_load((const gint32 *)plane->amplitudes + i) & -counts);
  }
  for (; i < size_of(plane); i++) {
    const gint32 counts = plane->usable[i] & ~plane->bad[i];
    weights[i] = (float)counts;
    weighted[i] = counts ? plane->amplitudes[i] : 0;
  }
}

/* As astro_flag_line. */
static inline Floats line_of(const Floats m[ASTRO_FLAG_MOMENTS])
{
  const Floats zero = { 0 }, spread = m[0] * m[2] - m[1] * m[1],
               mean = floats_pick(floats_below(zero, m[0]), m[3] / m[0], zero);
  return floats_pick(floats_below(floats_all(ASTRO_FLAG_LEAST_SPREAD) * m[0] * m[2], spread),
                     (m[2] * m[3] - m[1] * m[4]) / spread, mean);
}

/* Arrays of a plane that lines are fitted to, and those that they go to. */
typedef struct {
  const float *weights, *weighted, *taps;
  float *lines, *to_weights, *to_weighted;
  guint n_taps;
} Fit;

/* Adds up moments in the order of the taps: those from first to last, stride apart, of which the
 * middle one lies at the place itself. */
static inline void add_up(const Fit *fit, const float *weights, const float *weighted,
                          gssize stride, guint first, guint last, Floats m[ASTRO_FLAG_MOMENTS])
{
  const float *taps = fit->taps;
  const gssize half = fit->n_taps / 2;
  for (guint i = 0; i < ASTRO_FLAG_MOMENTS; i++)
    m[i] = (Floats){ 0 };
  for (guint k = first; k < last; k++) {
    const gssize far = ((gssize)k - half) * stride;
    const Floats weight = floats_load(weights + far), value = floats_load(weighted + far),
                 tap = floats_all(taps[k]), tilted = floats_all(taps[fit->n_taps + k]),
                 square = floats_all(taps[2 * fit->n_taps + k]);
    m[0] += tap * weight;
    m[1] += tilted * weight;
    m[2] += square * weight;
    m[3] += tap * value;
    m[4] += tilted * value;
  }
}

static inline void store_lines(const Fit *fit, gsize at, const Floats m[ASTRO_FLAG_MOMENTS])
{
  const Floats line = line_of(m);
  floats_store(fit->lines + at, line);
  floats_store(fit->to_weights + at, m[0]);
  floats_store(fit->to_weighted + at, line * m[0]);
}

/* One place. */
static void fit_one(const Fit *fit, gsize at, gssize stride, guint first, guint last)
{
  const gssize half = fit->n_taps / 2;
  float m[ASTRO_FLAG_MOMENTS] = { 0 };
  for (guint k = first; k < last; k++) {
    const gssize far = (gssize)at + ((gssize)k - half) * stride;
    for (guint i = 0; i < ASTRO_FLAG_MOMENTS; i++)
      m[i] += fit->taps[i % 3 * fit->n_taps + k] * (i < 3 ? fit->weights : fit->weighted)[far];
  }
  fit->lines[at] = astro_flag_line(m);
  fit->to_weights[at] = m[0];
  fit->to_weighted[at] = fit->lines[at] * m[0];
}

/* The taps that lie inside, at place i of n. */
static void find_taps(guint i, guint n, guint n_taps, guint *first, guint *last)
{
  const guint half = n_taps / 2;
  *first = i < half ? half - i : 0;
  *last = n - i + half < n_taps ? n - i + half : n_taps;
}

/* Where the next lanes of n begin after c: the last ones overlap those before. */
static guint next_lanes(guint c, guint n)
{
  return c + LEVEL_FLOATS < n ? MIN(c + LEVEL_FLOATS, n - LEVEL_FLOATS) : n;
}

/* Row t, along rows. */
static void fit_across(const Fit *fit, guint t, guint rows, guint channels)
{
  const gsize at = (gsize)t * channels;
  guint first, last;
  Floats m[ASTRO_FLAG_MOMENTS];
  find_taps(t, rows, fit->n_taps, &first, &last);
  for (guint c = 0; channels < LEVEL_FLOATS && c < channels; c++)
    fit_one(fit, at + c, channels, first, last);
  for (guint c = 0; channels >= LEVEL_FLOATS && c < channels; c = next_lanes(c, channels)) {
    add_up(fit, fit->weights + at + c, fit->weighted + at + c, channels, first, last, m);
    store_lines(fit, at + c, m);
  }
}

/* Copies the neighbours of lanes from channel c on, with zeros beyond the ends, which change no
 * sum. */
static void pad(const float *row, guint channels, guint c, float *padded)
{
  const guint half = ASTRO_FLAG_CHANNEL_TAPS / 2, n = LEVEL_FLOATS + 2 * half,
              from = c < half ? half - c : 0,
              to = channels - c + half < n ? channels - c + half : n;
  memset(padded, 0, n * sizeof *padded);
  memcpy(padded + from, row + c + from - half, (to - from) * sizeof *padded);
}

/* Row t, along its channels. */
static void fit_along(const Fit *fit, guint t, guint channels)
{
  enum { HALF = ASTRO_FLAG_CHANNEL_TAPS / 2 };
  const gsize at = (gsize)t * channels;
  float weights[LEVEL_FLOATS + 2 * HALF], weighted[LEVEL_FLOATS + 2 * HALF];
  guint first, last;
  Floats m[ASTRO_FLAG_MOMENTS];
  for (guint c = 0; channels < LEVEL_FLOATS && c < channels; c++) {
    find_taps(c, channels, fit->n_taps, &first, &last);
    fit_one(fit, at + c, 1, first, last);
  }
  for (guint c = 0; channels >= LEVEL_FLOATS && c < channels; c = next_lanes(c, channels)) {
    if (c >= HALF && c + LEVEL_FLOATS + HALF <= channels) {
      add_up(fit, fit->weights + at + c, fit->weighted + at + c, 1, 0, fit->n_taps, m);
    } else {
      pad(fit->weights + at, channels, c, weights);
      pad(fit->weighted + at, channels, c, weighted);
      add_up(fit, weights + HALF, weighted + HALF, 1, 0, fit->n_taps, m);
    }
    store_lines(fit, at + c, m);
  }
}

static void fit_lines(AstroFlagPlane *plane, gboolean along_rows, const float *taps, guint n_taps)
{
  const guint from = along_rows ? 0 : 1, to = 1 - from;
  const Fit fit = { .weights = plane->weights[from],
                    .weighted = plane->weighted[from],
                    .taps = taps,
                    .lines = plane->baseline,
                    .to_weights = plane->weights[to],
                    .to_weighted = plane->weighted[to],
                    .n_taps = n_taps };
  for (guint t = 0; t < plane->rows; t++)
    if (along_rows)
      fit_across(&fit, t, plane->rows, plane->channels);
    else
      fit_along(&fit, t, plane->channels);
}

/* ---- deviations ---- */

static void deviate(AstroFlagPlane *plane)
{
  const Floats zero = { 0 }, most = floats_all(G_MAXFLOAT);
  gsize i = 0;
  for (; i + LEVEL_FLOATS <= size_of(plane); i += LEVEL_FLOATS) {
    const Ints usable = -ints_load(plane->usable + i);
    const Floats baseline = floats_load(plane->baseline + i),
                 value = (Floats)(ints_load((const gint32 *)plane->amplitudes + i) & usable);
    Floats deviation = value - baseline;
    if (plane->is_power)
      deviation = floats_pick(floats_below(zero, baseline), deviation / baseline, zero);
    deviation = floats_pick(floats_at_least(most, floats_magnitude(deviation)), deviation, zero);
    floats_store(plane->baseline + i, (Floats)((Ints)deviation & usable));
  }
  for (; i < size_of(plane); i++) {
    const float baseline = plane->baseline[i], value = plane->usable[i] ? plane->amplitudes[i] : 0;
    float deviation = value - baseline;
    if (plane->is_power)
      deviation = baseline > 0 ? deviation / baseline : 0;
    plane->baseline[i] = plane->usable[i] && fabsf(deviation) <= G_MAXFLOAT ? deviation : 0;
  }
}

static void make_whole(AstroFlagPlane *plane, float deviation)
{
  const float times = ASTRO_FLAG_UNIT / deviation, most = ASTRO_FLAG_MOST;
  const Floats half = floats_all(0.5f);
  gsize i = 0;
  for (; i + LEVEL_FLOATS <= size_of(plane); i += LEVEL_FLOATS) {
    Floats scaled = floats_load(plane->baseline + i) * floats_all(times);
    scaled = floats_greatest(floats_least(scaled, floats_all(most)), floats_all(-most));
    scaled += floats_pick(floats_below(scaled, (Floats){ 0 }), -half, half);
    ints_store(plane->deviations + i, __builtin_convertvector(scaled, Ints));
  }
  for (; i < size_of(plane); i++) {
    float scaled = plane->baseline[i] * times;
    scaled = scaled > most ? most : scaled;
    scaled = scaled < -most ? -most : scaled;
    plane->deviations[i] = (gint32)(scaled + (scaled < 0 ? -0.5f : 0.5f));
  }
}

/* ---- windows ---- */

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

/* Makes of sums of `has` values the sums of `length` values from there on, `stride` apart, by
 * doubling. Sums that reach beyond the end are of no use. */
static void sum_windows(gint32 *values, gsize n, guint has, guint length, gsize stride)
{
  for (gsize far = has * stride; far < length * stride; far *= 2) {
    gsize i = 0;
    for (; i + far + LEVEL_FLOATS <= n; i += LEVEL_FLOATS)
      ints_store(values + i, ints_load(values + i) + ints_load(values + i + far));
    for (; i + far < n; i++)
      values[i] += values[i + far];
  }
}

/* As long as nothing new is flagged, the sums of shorter windows are there. */
static void sum_up(AstroFlagPlane *plane, guint length, gboolean along_rows, gsize stride)
{
  gint32 *sums = plane->sums[along_rows], *counts = plane->counts[along_rows];
  guint has = plane->summed[along_rows];
  if (!has) {
    mask(plane, sums, counts, size_of(plane));
    has = 1;
  }
  sum_windows(sums, size_of(plane), has, length, stride);
  sum_windows(counts, size_of(plane), has, length, stride);
  plane->summed[along_rows] = length;
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
static gboolean mark_windows(const AstroFlagPlane *plane, gsize first, guint n, gboolean along_rows,
                             const gint32 *limits, guint length)
{
  const gint32 *sums = plane->sums[along_rows] + first,
               *counted = plane->counts[along_rows] + first, *usable = plane->room[0] + first;
  gint32 *marks = plane->room[1] + first, any = 0;
  Ints found = { 0 };
  guint i = 0;
  for (; !plane->has_missing && i + LEVEL_FLOATS <= n; i += LEVEL_FLOATS) {
    const Ints sum = ints_load(sums + i), sign = sum >> 31, size = (sum ^ sign) - sign,
               counts = ints_load(counted + i);
    /* Where nothing counts the sum is 0, and not beyond a limit of 0. */
    const Ints beyond = (Ints)(size > counts * limits[length]) & 1;
    ints_store(marks + i, beyond);
    found |= beyond;
  }
  for (; i < n; i++) {
    marks[i] = ABS(sums[i]) > counted[i] * limits[plane->has_missing ? (guint)usable[i] : length];
    any |= marks[i];
  }
  for (guint lane = 0; lane < LEVEL_FLOATS; lane++)
    any |= found[lane];
  return any;
}

static void flag_windows(AstroFlagPlane *plane, guint length, gboolean along_rows,
                         const gint32 *limits)
{
  const gsize n = size_of(plane), stride = along_rows ? plane->channels : 1;
  const guint rows = along_rows ? plane->rows - length + 1 : plane->rows,
              channels = along_rows ? plane->channels : plane->channels - length + 1;
  gint32 *marks = plane->room[1];
  gboolean any = FALSE;

  sum_up(plane, length, along_rows, stride);
  if (plane->has_missing) {
    memcpy(plane->room[0], plane->usable, n * sizeof(gint32));
    sum_windows(plane->room[0], n, 1, length, stride);
  }
  for (guint t = 0; t < rows; t++) {
    const gsize at = (gsize)t * plane->channels;
    any |= mark_windows(plane, at, channels, along_rows, limits, length);
    memset(marks + at + channels, 0, (plane->channels - channels) * sizeof *marks);
  }
  if (!any)
    return;
  memset(marks + (gsize)rows * plane->channels, 0,
         (gsize)(plane->rows - rows) * plane->channels * sizeof *marks);
  spread(marks, n, length, stride);
  for (gsize i = 0; i < n; i++)
    plane->bad[i] |= marks[i];
  plane->summed[0] = plane->summed[1] = 0;
}

const AstroFlagKernels LEVEL_NAMED(astro_flag_kernels) = {
  .variant = LEVEL_VARIANT,
  .lanes = LEVEL_DOUBLES,
  .add_powers = add_powers,
  .plane = { find_medians, weigh, fit_lines, deviate, make_whole, flag_windows },
};
