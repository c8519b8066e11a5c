/* Vectors as wide as the level that a source is built for, and the operations on them that several
 * kernels need, under one name at every level. Kernels written in these are one text, *-levels.c.
 *
 * The types are GCC's vectors, so + - * & | << and the like work on them lane by lane, and so do
 * the intrinsics of the level. Only what these cannot say for every level has a name here.
 * Comparisons have one, as AVX-512 keeps their results in registers of their own. Operations on
 * reals come in two kinds: floats_least for Floats, doubles_least for Doubles. */
#pragma once

#include "core/kit/vector-size.h"

#include <glib.h>
#include <math.h>

#ifdef __SSE2__
#include <immintrin.h>
#endif

typedef float Floats __attribute__((vector_size(LEVEL_BYTES)));
typedef double Doubles __attribute__((vector_size(LEVEL_BYTES)));
typedef gint32 Ints __attribute__((vector_size(LEVEL_BYTES)));
typedef gint64 Longs __attribute__((vector_size(LEVEL_BYTES)));

/* The lanes that a comparison holds for: a bit for each lane, or all the bits of the lane. */
#ifdef ASTRO_LEVEL_AVX512
typedef __mmask16 FloatsMask;
typedef __mmask8 DoublesMask;
#else
typedef Ints FloatsMask;
typedef Longs DoublesMask;
#endif

/* VECTOR(add_ps) is the intrinsic that adds vectors of the level's width, HALF_VECTOR(add_ps) that
 * for vectors of half the width. */
#if defined ASTRO_LEVEL_AVX512
#define VECTOR(operation) _mm512_##operation
#define HALF_VECTOR(operation) _mm256_##operation
#elif defined ASTRO_LEVEL_AVX2
#define VECTOR(operation) _mm256_##operation
#define HALF_VECTOR(operation) _mm_##operation
#elif defined __SSE2__
#define VECTOR(operation) _mm_##operation
#endif

#define REAL float
#define REALS Floats
#define WHOLES Ints
#define MASK FloatsMask
#define NAME(operation) floats_##operation
#define SUFFIXED(operation) VECTOR(operation##_ps)
#define SUFFIXED_MASK(operation) VECTOR(operation##_ps_mask)
#include "core/kit/vector-reals.h"

#define REAL double
#define REALS Doubles
#define WHOLES Longs
#define MASK DoublesMask
#define NAME(operation) doubles_##operation
#define SUFFIXED(operation) VECTOR(operation##_pd)
#define SUFFIXED_MASK(operation) VECTOR(operation##_pd_mask)
#include "core/kit/vector-reals.h"

/* Copies bytes, a multiple of 64, past the caches to an address that is a multiple of 64. Other
 * threads may look at them after vector_fence(). */
static inline void vector_stream(guint8 *to, const guint8 *from, gsize bytes)
{
  for (gsize i = 0; i < bytes; i += 64)
#if defined ASTRO_LEVEL_AVX512
    _mm512_stream_si512((__m512i *)(to + i), _mm512_loadu_si512(from + i));
#elif defined ASTRO_LEVEL_AVX2
  {
    const __m256i first = _mm256_loadu_si256((const __m256i *)(from + i)),
                  second = _mm256_loadu_si256((const __m256i *)(from + i + 32));
    _mm256_stream_si256((__m256i *)(to + i), first);
    _mm256_stream_si256((__m256i *)(to + i + 32), second);
  }
#else
    __builtin_memcpy(to + i, from + i, 64);
#endif
}

static inline void vector_fence(void)
{
#ifdef __SSE2__
  _mm_sfence();
#else
  __atomic_thread_fence(__ATOMIC_RELEASE);
#endif
}
