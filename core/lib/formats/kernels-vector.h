/* What kernels of instruction sets share. Their loop: a vector of components at a time is taken
 * from one format, multiplied, and put in the other. */
#pragma once

#include "core/lib/formats/kernels.h"

#include <immintrin.h>

/* Memory is asked for this many bytes before it is needed: more than processors do by themselves.
 */
#define ASTRO_CONVERT_AHEAD 4096

/* Each byte of CI4 becomes a quadword; its high nibble goes to the top of the low half, its low
 * nibble to the top of the high half, and both come down with their signs. */
static inline __m256i nibbles_8(gconstpointer in)
{
  __m256i bytes = _mm256_cvtepu8_epi64(_mm_loadu_si32(in));
  bytes = _mm256_or_si256(_mm256_slli_epi64(bytes, 24), _mm256_slli_epi64(bytes, 60));
  return _mm256_srai_epi32(bytes, 28);
}

/* set and multiply are of that vector of so many lanes; precision##_from_##from takes them from
 * memory, precision##_to_##to puts their product there and tells which were clipped. */
#define ASTRO_CONVERT_VECTORS(precision, vector, lanes, set, multiply, FROM, from, TO, to)         \
  static guint64 convert_##FROM##_##TO(gpointer out, gconstpointer in, gsize components,           \
                                       double scale)                                               \
  {                                                                                                \
    const guint8 *source = in;                                                                     \
    guint8 *target = out;                                                                          \
    vector factor = set(scale);                                                                    \
    guint64 clipped = 0;                                                                           \
    for (gsize i = 0; i < components; i += lanes) {                                                \
      _mm_prefetch((gconstpointer)((guintptr)source + ASTRO_CONVERT_AHEAD), _MM_HINT_T0);          \
      vector x = precision##_from_##from(source);                                                  \
      clipped += (guint)__builtin_popcount(precision##_to_##to(target, x, multiply(x, factor)));   \
      source += lanes * ASTRO_CONVERT_BITS_##from / 8;                                             \
      target += lanes * ASTRO_CONVERT_BITS_##to / 8;                                               \
    }                                                                                              \
    return clipped;                                                                                \
  }
