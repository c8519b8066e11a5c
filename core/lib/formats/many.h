/* Components as many at once as a vector holds, for AVX2 and AVX-512. */
#pragma once

#include "core/kit/vector.h"
#include "core/lib/formats/kernels.h"

#include <string.h>

/* Memory is asked for this many bytes before it is needed: earlier than processors do by
 * themselves. */
#define FETCH_AHEAD 4096

typedef Floats Single;
typedef Doubles Double;
enum { SINGLE_AT_ONCE = LEVEL_FLOATS, DOUBLE_AT_ONCE = LEVEL_DOUBLES };

#define single_all(number) floats_all((float)(number))
#define double_all(number) doubles_all(number)
#define count_lanes(clipped) (guint) __builtin_popcount(clipped)

static inline void fetch_ahead(gconstpointer in)
{
  __builtin_prefetch((gconstpointer)((guintptr)in + FETCH_AHEAD), 0, 3);
}

/* ---- integers: a vector of them, and parts of one ---- */

#ifdef ASTRO_LEVEL_AVX512
typedef __m512i Whole;
typedef __m256i Half;
#define LOAD_HALF(at) _mm256_loadu_si256((const __m256i *)(at))
#define LOAD_QUARTER(at) _mm_loadu_si128((const __m128i *)(at))
#define LOAD_EIGHTH(at) _mm_loadl_epi64((const __m128i *)(at))
#define LOAD_SIXTEENTH(at) _mm_loadu_si32(at)
#define STORE_HALF(at, half) _mm256_storeu_si256((__m256i *)(at), half)
#define STORE_QUARTER(at, quarter) _mm_storeu_si128((__m128i *)(at), quarter)
#define STORE_EIGHTH(at, eighth) _mm_storel_epi64((__m128i *)(at), eighth)
#define STORE_SIXTEENTH(at, sixteenth) _mm_storeu_si32(at, sixteenth)
#else
typedef __m256i Whole;
typedef __m128i Half;
#define LOAD_HALF(at) _mm_loadu_si128((const __m128i *)(at))
#define LOAD_QUARTER(at) _mm_loadl_epi64((const __m128i *)(at))
#define LOAD_EIGHTH(at) _mm_loadu_si32(at)
#define LOAD_SIXTEENTH(at) _mm_loadu_si16(at)
#define STORE_HALF(at, half) _mm_storeu_si128((__m128i *)(at), half)
#define STORE_QUARTER(at, quarter) _mm_storel_epi64((__m128i *)(at), quarter)
#define STORE_EIGHTH(at, eighth) _mm_storeu_si32(at, eighth)
#define STORE_SIXTEENTH(at, sixteenth) _mm_storeu_si16(at, sixteenth)
#define LOW_HALF(whole) _mm256_castsi256_si128(whole)
#define HIGH_HALF(whole) _mm256_extracti128_si256(whole, 1)
#endif
typedef float HalfFloats __attribute__((vector_size(LEVEL_BYTES / 2)));
typedef guint64 HalfLongs __attribute__((vector_size(LEVEL_BYTES / 2)));
typedef gint32 HalfInts __attribute__((vector_size(LEVEL_BYTES / 2)));

/* ---- from memory ---- */

#define FROM(precision, Type, from, Stored, value)                                                 \
  static inline Type precision##_from_##from(gconstpointer in, gsize i)                            \
  {                                                                                                \
    const Stored *at = (const Stored *)in + i;                                                     \
    return value;                                                                                  \
  }
FROM(single, Single, i8, gint8, VECTOR(cvtepi32_ps)(VECTOR(cvtepi8_epi32)(LOAD_QUARTER(at))))
FROM(single, Single, i16, gint16, VECTOR(cvtepi32_ps)(VECTOR(cvtepi16_epi32)(LOAD_HALF(at))))
FROM(single, Single, f16, guint16, VECTOR(cvtph_ps)(LOAD_HALF(at)))
FROM(single, Single, f32, float, floats_load(at))
FROM(double, Double, i8, gint8, VECTOR(cvtepi32_pd)(HALF_VECTOR(cvtepi8_epi32)(LOAD_EIGHTH(at))))
FROM(double, Double, i16, gint16,
     VECTOR(cvtepi32_pd)(HALF_VECTOR(cvtepi16_epi32)(LOAD_QUARTER(at))))
FROM(double, Double, i32, gint32, VECTOR(cvtepi32_pd)(LOAD_HALF(at)))
FROM(double, Double, f16, guint16, VECTOR(cvtps_pd)(HALF_VECTOR(cvtph_ps)(LOAD_QUARTER(at))))
FROM(double, Double, f32, float, VECTOR(cvtps_pd)(HALF_VECTOR(loadu_ps)(at)))
FROM(double, Double, f64, double, doubles_load(at))
#ifdef ASTRO_LEVEL_AVX512
FROM(double, Double, u64, guint64, _mm512_cvtepu64_pd(_mm512_loadu_si512(at)))
#endif

/* Each byte of CI4 becomes a quadword; its high nibble goes to the top of the low half, its low
 * nibble to the top of the high half, and both come down with their signs. */
static inline Single single_from_i4(gconstpointer in, gsize i)
{
  const Longs bytes = (Longs)VECTOR(cvtepu8_epi64)(LOAD_EIGHTH((const guint8 *)in + i / 2));
  return VECTOR(cvtepi32_ps)((Whole)((Ints)(bytes << 24 | bytes << 60) >> 28));
}

static inline Double double_from_i4(gconstpointer in, gsize i)
{
  const HalfLongs bytes =
      (HalfLongs)HALF_VECTOR(cvtepu8_epi64)(LOAD_SIXTEENTH((const guint8 *)in + i / 2));
  return VECTOR(cvtepi32_pd)((Half)((HalfInts)(bytes << 24 | bytes << 60) >> 28));
}

/* ---- rounding ---- */

#define NEAREST (_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define TO_ZERO (_MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)

/* The whole number nearest to each one held, and 0 where the product is not a number. */
static inline Whole single_nearest(FloatsMask is_number, Floats held)
{
#ifdef ASTRO_LEVEL_AVX512
  return _mm512_maskz_cvt_roundps_epi32(is_number, held, NEAREST);
#else
  return _mm256_cvtps_epi32((__m256)((Ints)held & is_number));
#endif
}

static inline Half double_nearest(DoublesMask is_number, Doubles held)
{
#ifdef ASTRO_LEVEL_AVX512
  return _mm512_maskz_cvt_roundpd_epi32(is_number, held, NEAREST);
#else
  return _mm256_cvtpd_epi32((__m256d)((Longs)held & is_number));
#endif
}

static inline guint single_outside(FloatsMask fits)
{
  return floats_lanes(fits) ^ ((1u << LEVEL_FLOATS) - 1);
}

static inline guint double_outside(DoublesMask fits)
{
  return doubles_lanes(fits) ^ ((1u << LEVEL_DOUBLES) - 1);
}

#define REAL float
#define REALS Floats
#define MASK FloatsMask
#define ROUNDED Whole
#define NAME(function) single_##function
#define OPERATION(name) floats_##name
#include "core/lib/formats/rounding.h"

#define REAL double
#define REALS Doubles
#define MASK DoublesMask
#define ROUNDED Half
#define NAME(function) double_##function
#define OPERATION(name) doubles_##name
#include "core/lib/formats/rounding.h"

/* ---- to memory ---- */

#define PUT(precision, Rounded, to, Stored, store)                                                 \
  static inline void precision##_put_##to(gpointer out, gsize i, Rounded rounded)                  \
  {                                                                                                \
    Stored *at = (Stored *)out + i;                                                                \
    store;                                                                                         \
  }
PUT(single, Floats, f32, float, floats_store(at, rounded))
PUT(double, Doubles, f64, double, doubles_store(at, rounded))
PUT(double, Half, i32, gint32, STORE_HALF(at, rounded))
#ifdef ASTRO_LEVEL_AVX512
PUT(single, Whole, i8, gint8, STORE_QUARTER(at, _mm512_cvtepi32_epi8(rounded)))
PUT(single, Whole, i16, gint16, STORE_HALF(at, _mm512_cvtepi32_epi16(rounded)))
PUT(double, Half, i8, gint8, STORE_EIGHTH(at, _mm256_cvtepi32_epi8(rounded)))
PUT(double, Half, i16, gint16, STORE_QUARTER(at, _mm256_cvtepi32_epi16(rounded)))
#else
#define SHORTS(whole) _mm_packs_epi32(LOW_HALF(whole), HIGH_HALF(whole))
#define EACH_FOURTH _mm_set1_epi32(0x0c080400) /* of 16 bytes */
#define EACH_EIGHTH _mm_set1_epi16(0x0800)
PUT(single, Whole, i8, gint8, STORE_QUARTER(at, _mm_packs_epi16(SHORTS(rounded), SHORTS(rounded))))
PUT(single, Whole, i16, gint16, STORE_HALF(at, SHORTS(rounded)))
PUT(double, Half, i8, gint8, STORE_EIGHTH(at, _mm_shuffle_epi8(rounded, EACH_FOURTH)))
PUT(double, Half, i16, gint16, STORE_QUARTER(at, _mm_packs_epi32(rounded, rounded)))
#endif

/* The first of two components goes to the high nibble of their byte. */
static inline void single_put_i4(gpointer out, gsize i, Whole whole)
{
  guint8 *at = (guint8 *)out + i / 2;
#ifdef ASTRO_LEVEL_AVX512
  const Longs pairs = (Longs)whole;
  STORE_EIGHTH(at, _mm512_cvtepi64_epi8((__m512i)(pairs << 4 | (pairs >> 32 & 15))));
#else
  const HalfInts pairs = (HalfInts)SHORTS(whole);
  STORE_EIGHTH(at, _mm_shuffle_epi8((__m128i)(pairs << 4 | (pairs >> 16 & 15)), EACH_FOURTH));
#endif
}

static inline void double_put_i4(gpointer out, gsize i, Half half)
{
  guint8 *at = (guint8 *)out + i / 2;
  const HalfLongs pairs = (HalfLongs)half;
  const Half bytes = (Half)(pairs << 4 | (pairs >> 32 & 15));
#ifdef ASTRO_LEVEL_AVX512
  STORE_SIXTEENTH(at, _mm256_cvtepi64_epi8(bytes));
#else
  STORE_SIXTEENTH(at, _mm_shuffle_epi8(bytes, EACH_EIGHTH));
#endif
}

static inline guint double_to_f32(gpointer out, gsize i, Double x, Double product)
{
  HALF_VECTOR(storeu_ps)((float *)out + i, VECTOR(cvtpd_ps)(double_quiet(product)));
  return 0;
}

/* A half from 65520 on is infinite: clipped where the component that came in was finite. */
static inline guint single_to_f16(gpointer out, gsize i, Single x, Single product)
{
  const FloatsMask finite = floats_below(floats_magnitude(x), floats_all(INFINITY)),
                   beyond = floats_at_least(floats_magnitude(product), floats_all(65520));
  STORE_HALF((guint16 *)out + i, VECTOR(cvtps_ph)(single_quiet(product), NEAREST));
  return floats_lanes(finite & beyond);
}

/* Rounded to single precision towards zero, with the last place set where something was cut off:
 * then the second rounding falls as if it were the only one. */
static inline guint double_to_f16(gpointer out, gsize i, Double x, Double product)
{
  const DoublesMask finite = doubles_below(doubles_magnitude(x), doubles_all(INFINITY)),
                    beyond = doubles_at_least(doubles_magnitude(product), doubles_all(65520));
  const Doubles quiet = double_quiet(product);
#ifdef ASTRO_LEVEL_AVX512
  const __m256 cut = _mm512_cvt_roundpd_ps(quiet, TO_ZERO);
  const __mmask8 inexact = _mm512_cmp_pd_mask(_mm512_cvtps_pd(cut), quiet, _CMP_NEQ_OQ);
  const Half whole = (Half)cut,
             bits = _mm256_mask_or_epi32(whole, inexact, whole, _mm256_set1_epi32(1));
#else
/* The low half of each quadword of a mask. */
#define LOW_INTS(mask)                                                                             \
  (HalfInts) _mm_shuffle_ps((__m128)LOW_HALF((Whole)(mask)), (__m128)HIGH_HALF((Whole)(mask)), 0x88)
  /* Where rounding to nearest went away from zero, the number before, one less in its bits, is the
   * one cut off. */
  const __m128 near = _mm256_cvtpd_ps(quiet);
  const Doubles back = _mm256_cvtps_pd(near);
  const Longs inexact = (Longs)_mm256_cmp_pd(back, quiet, _CMP_NEQ_OQ),
              away = doubles_magnitude(back) > doubles_magnitude(quiet);
  const Half bits = (Half)(((HalfInts)near + LOW_INTS(away)) | (LOW_INTS(inexact) & 1));
#endif
  STORE_QUARTER((guint16 *)out + i, HALF_VECTOR(cvtps_ph)((HalfFloats)bits, NEAREST));
  return doubles_lanes(finite & beyond);
}

#ifdef ASTRO_LEVEL_AVX512
/* A product of 2^64 or more converts to 2^64 - 1 by itself; one below 0 must not be converted. */
static inline guint double_to_u64(gpointer out, gsize i, Double x, Double product)
{
  const __mmask8 fits = doubles_at_least(product, doubles_all(-0.5));
  _mm512_storeu_si512((guint64 *)out + i, _mm512_maskz_cvt_roundpd_epu64(fits, product, NEAREST));
  return double_outside(fits & doubles_below(product, doubles_all(0x1p64)));
}
#endif
