/* Counts, sums and roots of vectors, for the kernels of pairs. */
#pragma once

#include "core/kit/shuffle.h"
#include "core/kit/vector.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 16")

/* The sum of all lanes. */
#ifdef ASTRO_LEVEL_AVX512
#define sum_ints(v) (guint32) _mm512_reduce_add_epi32((__m512i)(v))
#define sum_longs(v) (guint64) _mm512_reduce_add_epi64((__m512i)(v))
#define sum_doubles(v) _mm512_reduce_add_pd(v)
#else
/* Halves are added until there is one number. */
#define SUM(name, Type, Vector, Places, Place)                                                     \
  INLINE Type name(Vector v)                                                                       \
  {                                                                                                \
    static const Place numbers[] = { 0, 1, 2, 3, 4, 5, 6, 7 };                                     \
    Places places;                                                                                 \
    memcpy(&places, numbers, sizeof places);                                                       \
    UNROLL for (Place n = sizeof v / sizeof v[0] / 2; n > 0; n /= 2) v +=                          \
        ASTRO_SHUFFLE(v, places ^ n);                                                              \
    return (Type)v[0];                                                                             \
  }
SUM(sum_ints, guint32, Ints, Ints, gint32)
SUM(sum_longs, guint64, Longs, Longs, gint64)
SUM(sum_doubles, double, Doubles, Longs, gint64)
#endif

INLINE Longs count(Longs counts, DoublesMask mask)
{
#ifdef ASTRO_LEVEL_AVX512
  return (Longs)_mm512_mask_add_epi64((__m512i)counts, mask, (__m512i)counts, _mm512_set1_epi64(1));
#else
  return counts - mask;
#endif
}

INLINE Doubles add_where(Doubles sums, DoublesMask mask, Doubles numbers)
{
#ifdef ASTRO_LEVEL_AVX512
  return _mm512_mask_add_pd(sums, mask, sums, numbers);
#else
  return sums + (Doubles)((Longs)numbers & mask);
#endif
}

INLINE Doubles doubles_root(Doubles squares)
{
#ifdef __SSE2__
  return VECTOR(sqrt_pd)(squares);
#else
  for (guint lane = 0; lane < LEVEL_DOUBLES; lane++)
    squares[lane] = sqrt(squares[lane]);
  return squares;
#endif
}
