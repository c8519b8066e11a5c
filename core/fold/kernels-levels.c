/* The kernels of fold, one text for all levels. */
#include "config.h"
#include "core/backend/level.h"
#include "core/fold/kernels.h"
#include "core/kit/vector.h"

typedef float HalfOfFloats __attribute__((vector_size(LEVEL_BYTES / 2)));

typedef struct {
  Doubles first, last;
} Wide;

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

/* All bits of the lanes in which the rest is at least the split. */
static inline Ints is_high(gint32 rest, Ints splits)
{
  return ((Ints){ 0 } + rest) >= splits;
}

static inline Wide wide_load(const double *from)
{
  return (Wide){ doubles_load(from), doubles_load(from + LEVEL_DOUBLES) };
}

static inline void wide_store(double *to, Wide wide)
{
  doubles_store(to, wide.first);
  doubles_store(to + LEVEL_DOUBLES, wide.last);
}

static inline Wide wide_add(Wide sum, Floats x)
{
  HalfOfFloats halves[2];
  __builtin_memcpy(halves, &x, sizeof halves);
  return (Wide){ sum.first + __builtin_convertvector(halves[0], Doubles),
                 sum.last + __builtin_convertvector(halves[1], Doubles) };
}

static void add(const float *in, gsize stride, const gint32 *rests, guint rows, guint n,
                const gint32 *splits, double *high, double *low)
{
  for (guint i = 0; i < n; i += LEVEL_FLOATS) {
    const Ints split = ints_load(splits + i);
    Wide highs = wide_load(high + i), lows = wide_load(low + i);
    for (guint r = 0; r < rows; r++) {
      const Ints x = ints_load((gconstpointer)(in + r * stride + i)),
                 mask = is_high(rests[r], split);
      highs = wide_add(highs, (Floats)(x & mask));
      lows = wide_add(lows, (Floats)(x & ~mask));
    }
    wide_store(high + i, highs);
    wide_store(low + i, lows);
  }
}

static void count(const gint32 *good, gsize stride, const gint32 *rests, guint rows, guint n,
                  const gint32 *splits, gint32 *high, gint32 *low)
{
  for (guint i = 0; i < n; i += LEVEL_FLOATS) {
    const Ints split = ints_load(splits + i);
    Ints highs = ints_load(high + i), lows = ints_load(low + i);
    for (guint r = 0; r < rows; r++) {
      const Ints all = good ? ints_load(good + r * stride + i) : (Ints){ 0 } - 1,
                 mask = is_high(rests[r], split);
      highs -= all & mask; /* a mask is -1 */
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
  .count = count,
};
