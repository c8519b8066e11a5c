/* AVX-512 kernels: sixteen components at a time in single precision, eight in double. */
#include "config.h"
#include "core/lib/formats/kernels-vector.h"

#include <math.h>
#include <string.h>

#define NEAREST (_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define TO_ZERO (_MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)

/* As nibbles_8. */
static inline __m512i nibbles_16(gconstpointer in)
{
  __m512i bytes = _mm512_cvtepu8_epi64(_mm_loadl_epi64(in));
  bytes = _mm512_or_si512(_mm512_slli_epi64(bytes, 24), _mm512_slli_epi64(bytes, 60));
  return _mm512_srai_epi32(bytes, 28);
}

static inline __m512 single_from_i4(gconstpointer in)
{
  return _mm512_cvtepi32_ps(nibbles_16(in));
}

static inline __m512 single_from_i8(gconstpointer in)
{
  return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(in)));
}

static inline __m512 single_from_i16(gconstpointer in)
{
  return _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(_mm256_loadu_si256(in)));
}

static inline __m512 single_from_f16(gconstpointer in)
{
  return _mm512_cvtph_ps(_mm256_loadu_si256(in));
}

static inline __m512 single_from_f32(gconstpointer in)
{
  return _mm512_loadu_ps(in);
}

static inline __m512d double_from_i4(gconstpointer in)
{
  return _mm512_cvtepi32_pd(nibbles_8(in));
}

static inline __m512d double_from_i8(gconstpointer in)
{
  return _mm512_cvtepi32_pd(_mm256_cvtepi8_epi32(_mm_loadl_epi64(in)));
}

static inline __m512d double_from_i16(gconstpointer in)
{
  return _mm512_cvtepi32_pd(_mm256_cvtepi16_epi32(_mm_loadu_si128(in)));
}

static inline __m512d double_from_i32(gconstpointer in)
{
  return _mm512_cvtepi32_pd(_mm256_loadu_si256(in));
}

static inline __m512d double_from_u64(gconstpointer in)
{
  return _mm512_cvtepu64_pd(_mm512_loadu_si512(in));
}

static inline __m512d double_from_f16(gconstpointer in)
{
  return _mm512_cvtps_pd(_mm256_cvtph_ps(_mm_loadu_si128(in)));
}

static inline __m512d double_from_f32(gconstpointer in)
{
  return _mm512_cvtps_pd(_mm256_loadu_ps(in));
}

static inline __m512d double_from_f64(gconstpointer in)
{
  return _mm512_loadu_pd(in);
}

/* Stores take the components that came in and their products, and return a bit for each that clips.
 */

/* The upper limit, halfway to the next whole number, rounds out of range; the lower one does not.
 */
static inline __m512i single_round(__m512 product, float low, float high, __mmask16 *clipped)
{
  __mmask16 fits = _mm512_cmp_ps_mask(product, _mm512_set1_ps(low - 0.5f), _CMP_GE_OQ);
  fits = _mm512_mask_cmp_ps_mask(fits, product, _mm512_set1_ps(high + 0.5f), _CMP_LT_OQ);
  *clipped = (__mmask16)~fits;
  __mmask16 numbers = _mm512_cmp_ps_mask(product, product, _CMP_ORD_Q);
  product = _mm512_min_ps(_mm512_max_ps(product, _mm512_set1_ps(low)), _mm512_set1_ps(high));
  return _mm512_maskz_cvt_roundps_epi32(numbers, product, NEAREST);
}

static inline __m256i double_round(__m512d product, double low, double high, __mmask8 *clipped)
{
  __mmask8 fits = _mm512_cmp_pd_mask(product, _mm512_set1_pd(low - 0.5), _CMP_GE_OQ);
  fits = _mm512_mask_cmp_pd_mask(fits, product, _mm512_set1_pd(high + 0.5), _CMP_LT_OQ);
  *clipped = (__mmask8)~fits;
  __mmask8 numbers = _mm512_cmp_pd_mask(product, product, _CMP_ORD_Q);
  product = _mm512_min_pd(_mm512_max_pd(product, _mm512_set1_pd(low)), _mm512_set1_pd(high));
  return _mm512_maskz_cvt_roundpd_epi32(numbers, product, NEAREST);
}

static inline __m512 single_quiet(__m512 product)
{
  __mmask16 nan = _mm512_cmp_ps_mask(product, product, _CMP_UNORD_Q);
  return _mm512_mask_mov_ps(product, nan, _mm512_set1_ps((float)NAN));
}

static inline __m512d double_quiet(__m512d product)
{
  __mmask8 nan = _mm512_cmp_pd_mask(product, product, _CMP_UNORD_Q);
  return _mm512_mask_mov_pd(product, nan, _mm512_set1_pd((double)NAN));
}

static inline guint single_to_i4(gpointer out, __m512 x, __m512 product)
{
  __mmask16 clipped;
  __m512i pairs = single_round(product, -8, 7, &clipped);
  __m512i low = _mm512_and_si512(_mm512_srli_epi64(pairs, 32), _mm512_set1_epi64(15));
  pairs = _mm512_or_si512(_mm512_slli_epi64(pairs, 4), low);
  _mm_storel_epi64(out, _mm512_cvtepi64_epi8(pairs));
  return clipped;
}

static inline guint single_to_i8(gpointer out, __m512 x, __m512 product)
{
  __mmask16 clipped;
  _mm_storeu_si128(out, _mm512_cvtepi32_epi8(single_round(product, -128, 127, &clipped)));
  return clipped;
}

static inline guint single_to_i16(gpointer out, __m512 x, __m512 product)
{
  __mmask16 clipped;
  _mm256_storeu_si256(out, _mm512_cvtepi32_epi16(single_round(product, -32768, 32767, &clipped)));
  return clipped;
}

/* From 65520 on a half is infinite. */
static inline guint single_to_f16(gpointer out, __m512 x, __m512 product)
{
  __mmask16 finite = _mm512_cmp_ps_mask(_mm512_abs_ps(x), _mm512_set1_ps(INFINITY), _CMP_LT_OQ);
  _mm256_storeu_si256(out, _mm512_cvtps_ph(single_quiet(product), NEAREST));
  return _mm512_mask_cmp_ps_mask(finite, _mm512_abs_ps(product), _mm512_set1_ps(65520), _CMP_GE_OQ);
}

static inline guint single_to_f32(gpointer out, __m512 x, __m512 product)
{
  _mm512_storeu_si512(out, _mm512_castps_si512(single_quiet(product)));
  return 0;
}

static inline guint double_to_i4(gpointer out, __m512d x, __m512d product)
{
  __mmask8 clipped;
  __m256i pairs = double_round(product, -8, 7, &clipped);
  __m256i low = _mm256_and_si256(_mm256_srli_epi64(pairs, 32), _mm256_set1_epi64x(15));
  pairs = _mm256_or_si256(_mm256_slli_epi64(pairs, 4), low);
  _mm_storeu_si32(out, _mm256_cvtepi64_epi8(pairs));
  return clipped;
}

static inline guint double_to_i8(gpointer out, __m512d x, __m512d product)
{
  __mmask8 clipped;
  _mm_storel_epi64(out, _mm256_cvtepi32_epi8(double_round(product, -128, 127, &clipped)));
  return clipped;
}

static inline guint double_to_i16(gpointer out, __m512d x, __m512d product)
{
  __mmask8 clipped;
  _mm_storeu_si128(out, _mm256_cvtepi32_epi16(double_round(product, -32768, 32767, &clipped)));
  return clipped;
}

static inline guint double_to_i32(gpointer out, __m512d x, __m512d product)
{
  __mmask8 clipped;
  _mm256_storeu_si256(out, double_round(product, -0x1p31, 0x1p31 - 1, &clipped));
  return clipped;
}

/* What is not below 2^64 converts to 2^64 - 1 by itself, what lies below 0 must not be asked for.
 */
static inline guint double_to_u64(gpointer out, __m512d x, __m512d product)
{
  __mmask8 fits = _mm512_cmp_pd_mask(product, _mm512_set1_pd(-0.5), _CMP_GE_OQ);
  _mm512_storeu_si512(out, _mm512_maskz_cvt_roundpd_epu64(fits, product, NEAREST));
  return (__mmask8)~_mm512_mask_cmp_pd_mask(fits, product, _mm512_set1_pd(0x1p64), _CMP_LT_OQ);
}

/* Rounded to single precision towards zero, with the last place set where something was cut off:
 * then the second rounding falls as if it were the only one. */
static inline guint double_to_f16(gpointer out, __m512d x, __m512d product)
{
  __mmask8 finite = _mm512_cmp_pd_mask(_mm512_abs_pd(x), _mm512_set1_pd(INFINITY), _CMP_LT_OQ);
  __m512d quiet = double_quiet(product);
  __m256 cut = _mm512_cvt_roundpd_ps(quiet, TO_ZERO);
  __mmask8 inexact = _mm512_cmp_pd_mask(_mm512_cvtps_pd(cut), quiet, _CMP_NEQ_OQ);
  __m256i bits = _mm256_castps_si256(cut);
  bits = _mm256_mask_or_epi32(bits, inexact, bits, _mm256_set1_epi32(1));
  _mm_storeu_si128(out, _mm256_cvtps_ph(_mm256_castsi256_ps(bits), NEAREST));
  return _mm512_mask_cmp_pd_mask(finite, _mm512_abs_pd(product), _mm512_set1_pd(65520), _CMP_GE_OQ);
}

static inline guint double_to_f32(gpointer out, __m512d x, __m512d product)
{
  _mm256_storeu_si256(out, _mm256_castps_si256(_mm512_cvtpd_ps(double_quiet(product))));
  return 0;
}

static inline guint double_to_f64(gpointer out, __m512d x, __m512d product)
{
  _mm512_storeu_si512(out, _mm512_castpd_si512(double_quiet(product)));
  return 0;
}

#define SET_SINGLE(scale) _mm512_set1_ps((float)(scale))
#define SINGLE(FROM, from, TO, to)                                                                 \
  ASTRO_CONVERT_VECTORS(single, __m512, 16, SET_SINGLE, _mm512_mul_ps, FROM, from, TO, to)
#define DOUBLE(FROM, from, TO, to)                                                                 \
  ASTRO_CONVERT_VECTORS(double, __m512d, 8, _mm512_set1_pd, _mm512_mul_pd, FROM, from, TO, to)

ASTRO_CONVERT_PAIRS_SINGLE(SINGLE)
ASTRO_CONVERT_PAIRS_NARROW(SINGLE)
ASTRO_CONVERT_PAIRS_DOUBLE(DOUBLE)
ASTRO_CONVERT_PAIRS_U64(DOUBLE)

/* What astro_convert_nibbles() made, for shuffles. */
static inline __m512i in_lanes(const guint8 *bytes)
{
  return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)bytes));
}

static inline guint count_clipped(__m512i clipped, __m512i indices)
{
  return (guint)__builtin_popcountll(_mm512_movepi8_mask(_mm512_shuffle_epi8(clipped, indices)));
}

static guint64 look_up_CI4_CI8(gpointer out, gconstpointer in, gsize components, double scale)
{
  AstroConvertNibbles nibbles;
  astro_convert_nibbles(&nibbles, ASTRO_FORMAT_CI8, scale);
  const __m512i become = in_lanes(nibbles.becomes), clip = in_lanes(nibbles.clipped);
  const guint8 *source = in;
  guint8 *target = out;
  guint64 clipped = 0;
  for (gsize i = 0; i < components; i += 64) {
    __m512i bytes = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)source));
    bytes = _mm512_or_si512(_mm512_srli_epi16(bytes, 4), _mm512_slli_epi16(bytes, 8));
    bytes = _mm512_and_si512(bytes, _mm512_set1_epi8(15));
    _mm512_storeu_si512(target, _mm512_shuffle_epi8(become, bytes));
    clipped += count_clipped(clip, bytes);
    source += 32;
    target += 64;
  }
  return clipped;
}

static guint64 look_up_CI4_CI4(gpointer out, gconstpointer in, gsize components, double scale)
{
  AstroConvertNibbles nibbles;
  astro_convert_nibbles(&nibbles, ASTRO_FORMAT_CI4, scale);
  const __m512i become = in_lanes(nibbles.becomes), clip = in_lanes(nibbles.clipped);
  const __m512i ones = _mm512_set1_epi8(15);
  const guint8 *source = in;
  guint8 *target = out;
  guint64 clipped = 0;
  for (gsize i = 0; i < components; i += 128) {
    const __m512i bytes = _mm512_loadu_si512(source);
    const __m512i low = _mm512_and_si512(bytes, ones);
    const __m512i high = _mm512_and_si512(_mm512_srli_epi16(bytes, 4), ones);
    const __m512i shifted = _mm512_slli_epi16(_mm512_shuffle_epi8(become, high), 4);
    _mm512_storeu_si512(target, _mm512_or_si512(shifted, _mm512_shuffle_epi8(become, low)));
    clipped += count_clipped(clip, low) + count_clipped(clip, high);
    source += 64;
    target += 64;
  }
  return clipped;
}

/* With scale 1 whole numbers stay whole. */
static guint64 narrow_CI8_CI4(gpointer out, gconstpointer in, gsize components, double scale)
{
  if (scale != 1)
    return convert_CI8_CI4(out, in, components, scale);
  const guint8 *source = in;
  guint8 *target = out;
  guint64 clipped = 0;
  for (gsize i = 0; i < components; i += 64) {
    __m512i bytes = _mm512_loadu_si512(source);
    __m512i held = _mm512_max_epi8(bytes, _mm512_set1_epi8(-8));
    held = _mm512_min_epi8(held, _mm512_set1_epi8(7));
    clipped += (guint)__builtin_popcountll(_mm512_cmpneq_epi8_mask(bytes, held));
    __m512i low = _mm512_and_si512(_mm512_srli_epi16(held, 8), _mm512_set1_epi16(15));
    held = _mm512_or_si512(_mm512_slli_epi16(held, 4), low);
    _mm256_storeu_si256((__m256i *)target, _mm512_cvtepi16_epi8(held));
    source += 64;
    target += 32;
  }
  return clipped;
}

const AstroConvertKernels astro_convert_kernels_avx512 = {
  ASTRO_CONVERT_PAIRS_SINGLE(ASTRO_CONVERT_ENTRY) ASTRO_CONVERT_PAIRS_DOUBLE(ASTRO_CONVERT_ENTRY)
      ASTRO_CONVERT_PAIRS_U64(ASTRO_CONVERT_ENTRY)[ASTRO_FORMAT_CI4][ASTRO_FORMAT_CI8] =
          look_up_CI4_CI8,
  [ASTRO_FORMAT_CI4][ASTRO_FORMAT_CI4] = look_up_CI4_CI4,
  [ASTRO_FORMAT_CI8][ASTRO_FORMAT_CI4] = narrow_CI8_CI4,
};

void astro_convert_copy_avx512(gpointer out, gconstpointer in, gsize bytes)
{
  const guint8 *source = in;
  guint8 *target = out;
  gsize i = 0;
  for (; i + 64 <= bytes; i += 64)
    _mm512_stream_si512((__m512i *)(target + i), _mm512_loadu_si512(source + i));
  memcpy(target + i, source + i, bytes - i);
}
