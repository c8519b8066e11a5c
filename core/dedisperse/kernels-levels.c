/* The kernels of dedispersion, one text for all levels. */
#include "config.h"
#include "core/backend/level.h"
#include "core/dedisperse/kernels.h"
#include "core/kit/vector.h"

/* Counts never exceed 2^32 - 1 (dedisperse.h), so that signed lanes that wrap hold them. */
typedef guint32 Counts __attribute__((vector_size(LEVEL_BYTES)));

static inline Counts counts_load(const guint32 *from)
{
  Counts vector;
  __builtin_memcpy(&vector, from, sizeof vector);
  return vector;
}

static inline void counts_store(guint32 *to, Counts vector)
{
  __builtin_memcpy(to, &vector, sizeof vector);
}

#define KERNELS(Number, Vector, load, store, suffix)                                               \
  static void add_##suffix(Number *to, const Number *a, const Number *b,                           \
                           const AstroDedisperseSum *sums, guint n_sums, guint n)                  \
  {                                                                                                \
    for (guint s = 0; s < n_sums; s++) {                                                           \
      Number *out = to + sums[s].to;                                                               \
      const Number *x = a + sums[s].a, *y = b + sums[s].b;                                         \
      const guint end = n + sums[s].more;                                                          \
      for (guint i = 0; i < end; i += LEVEL_FLOATS)                                                \
        store(out + i, load(x + i) + load(y + i));                                                 \
    }                                                                                              \
  }                                                                                                \
  static inline __attribute__((always_inline)) void take_##suffix##_of(                            \
      Number *to, gsize pitch, const AstroDedisperseTaken *taken, guint n_rows, guint n,           \
      gboolean first, guint bands)                                                                 \
  {                                                                                                \
    for (guint r = 0; r < n_rows; r++) {                                                           \
      Number *out = to + r * pitch;                                                                \
      const Number *x[ASTRO_DEDISPERSE_BANDS];                                                     \
      for (guint b = 0; b < bands; b++)                                                            \
        x[b] = (const Number *)taken->rows[b] + taken->from[b][r];                                 \
      for (guint i = 0; i < n; i += LEVEL_FLOATS) {                                                \
        Vector sum = first ? load(x[0] + i) : load(out + i) + load(x[0] + i);                      \
        for (guint b = 1; b < bands; b++)                                                          \
          sum += load(x[b] + i);                                                                   \
        store(out + i, sum);                                                                       \
      }                                                                                            \
    }                                                                                              \
  }                                                                                                \
  static void take_##suffix(Number *to, gsize pitch, const AstroDedisperseTaken *taken,            \
                            guint n_rows, guint n, gboolean first)                                 \
  {                                                                                                \
    if (taken->n == ASTRO_DEDISPERSE_BANDS)                                                        \
      take_##suffix##_of(to, pitch, taken, n_rows, n, first, ASTRO_DEDISPERSE_BANDS);              \
    else                                                                                           \
      take_##suffix##_of(to, pitch, taken, n_rows, n, first, taken->n);                            \
  }

KERNELS(float, Floats, floats_load, floats_store, floats)
KERNELS(guint32, Counts, counts_load, counts_store, counts)

const AstroDedisperseKernels LEVEL_NAMED(astro_dedisperse_kernels) = {
  .variant = LEVEL_VARIANT,
  .add_floats = add_floats,
  .add_counts = add_counts,
  .take_floats = take_floats,
  .take_counts = take_counts,
};
