/* The kernels of fold, one text for all levels. */
#include "config.h"
#include "core/backend/level.h"
#include "core/fold/kernels.h"
#include "core/kit/vector.h"

#define ROWS_AHEAD 12 /* memory is asked for this many rows before it is needed */

static inline Ints ints_load(gconstpointer from)
{
  Ints loaded;
  __builtin_memcpy(&loaded, from, sizeof loaded);
  return loaded;
}

static inline void ints_store(gint32 *to, Ints stored)
{
  __builtin_memcpy(to, &stored, sizeof stored);
}

/* As many doubles as a vector has floats. */
typedef struct {
  Doubles first, last;
} Wide;

static inline Wide wide_load(const double *from)
{
  return (Wide){ doubles_load(from), doubles_load(from + LEVEL_DOUBLES) };
}

static inline void wide_store(double *to, Wide wide)
{
  doubles_store(to, wide.first);
  doubles_store(to + LEVEL_DOUBLES, wide.last);
}

/* The lanes in which the rest is at least the split; and what is done by them: to add x to the sum
 * of high lanes or to that of the others, and to count high ones. */
#ifdef ASTRO_LEVEL_AVX512
typedef __mmask16 High;

static inline High is_high(gint32 rest, Ints splits)
{
  return _mm512_cmp_epi32_mask(_mm512_set1_epi32(rest), (__m512i)splits, _MM_CMPINT_NLT);
}

static inline void wide_add(Wide *high, Wide *low, Floats x, High mask)
{
  const Doubles first = _mm512_cvtps_pd(_mm512_castps512_ps256(x)),
                last = _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1));
  const __mmask8 ahead = (__mmask8)mask, behind = (__mmask8)(mask >> 8);
  high->first = _mm512_mask_add_pd(high->first, ahead, high->first, first);
  high->last = _mm512_mask_add_pd(high->last, behind, high->last, last);
  low->first = _mm512_mask_add_pd(low->first, (__mmask8)~ahead, low->first, first);
  low->last = _mm512_mask_add_pd(low->last, (__mmask8)~behind, low->last, last);
}

static inline Ints ints_count(Ints count, High mask)
{
  return (Ints)_mm512_mask_add_epi32((__m512i)count, mask, (__m512i)count, _mm512_set1_epi32(1));
}

static inline Ints bits_of(High mask)
{
  return (Ints)_mm512_movm_epi32(mask);
}
#else
typedef Ints High;
typedef float HalfOfFloats __attribute__((vector_size(LEVEL_BYTES / 2)));

static inline High is_high(gint32 rest, Ints splits)
{
  return ((Ints){ 0 } + rest) >= splits;
}

static inline void add_halves(Wide *sum, Floats x)
{
  HalfOfFloats halves[2];
  __builtin_memcpy(halves, &x, sizeof halves);
  sum->first += __builtin_convertvector(halves[0], Doubles);
  sum->last += __builtin_convertvector(halves[1], Doubles);
}

static inline void wide_add(Wide *high, Wide *low, Floats x, High mask)
{
  add_halves(high, (Floats)((Ints)x & mask));
  add_halves(low, (Floats)((Ints)x & ~mask));
}

static inline Ints ints_count(Ints count, High mask)
{
  return count - mask; /* a mask is -1 */
}

static inline Ints bits_of(High mask)
{
  return mask;
}
#endif

static inline __attribute__((always_inline)) void
add_rows(const float *in, gsize stride, const gint32 *rests, guint rows, guint n,
         const gint32 *splits, double *high, double *low, gint32 *high_count, gint32 *low_count)
{
  for (guint i = 0; i < n; i += LEVEL_FLOATS) {
    const Ints split = ints_load(splits + i);
    Wide highs = wide_load(high + i), lows = wide_load(low + i);
    Ints counted = { 0 };
    for (guint r = 0; r < rows; r++) {
      const High mask = is_high(rests[r], split);
      /* Rows are too far apart for the machine to see where the next ones are. */
      __builtin_prefetch(in + (r + ROWS_AHEAD) * stride + i);
      wide_add(&highs, &lows, floats_load(in + r * stride + i), mask);
      if (high_count)
        counted = ints_count(counted, mask);
    }
    wide_store(high + i, highs);
    wide_store(low + i, lows);
    if (!high_count)
      continue;
    ints_store(high_count + i, ints_load(high_count + i) + counted);
    ints_store(low_count + i, ints_load(low_count + i) + ((gint32)rows - counted));
  }
}

static void add(const float *in, gsize stride, const gint32 *rests, guint rows, guint n,
                const gint32 *splits, double *high, double *low)
{
  add_rows(in, stride, rests, rows, n, splits, high, low, NULL, NULL);
}

static void add_and_count(const float *in, gsize stride, const gint32 *rests, guint rows, guint n,
                          const gint32 *splits, double *high, double *low, gint32 *high_count,
                          gint32 *low_count)
{
  add_rows(in, stride, rests, rows, n, splits, high, low, high_count, low_count);
}

static void count(const gint32 *good, gsize stride, const gint32 *rests, guint rows, guint n,
                  const gint32 *splits, gint32 *high, gint32 *low)
{
  for (guint i = 0; i < n; i += LEVEL_FLOATS) {
    const Ints split = ints_load(splits + i);
    Ints highs = ints_load(high + i), lows = ints_load(low + i);
    for (guint r = 0; r < rows; r++) {
      const Ints all = ints_load(good + r * stride + i), mask = bits_of(is_high(rests[r], split));
      highs -= all & mask;
      lows -= all & ~mask;
    }
    ints_store(high + i, highs);
    ints_store(low + i, lows);
  }
}

const AstroFoldKernels LEVEL_NAMED(astro_fold_kernels) = {
  .variant = LEVEL_VARIANT,
  .lanes = LEVEL_FLOATS,
  .add = add,
  .add_and_count = add_and_count,
  .count = count,
};
