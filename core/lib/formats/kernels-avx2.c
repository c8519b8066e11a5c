/* AVX2 kernels: eight components at a time in single precision, four in double. None for U64LE,
 * which this instruction set cannot convert. */
#include "config.h"
#include "core/lib/formats/kernels-vector.h"

#include <math.h>
#include <string.h>

#define NEAREST (_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)

/* As nibbles_8. */
static inline __m128i nibbles_4(gconstpointer in)
{
  __m128i bytes = _mm_cvtepu8_epi64(_mm_loadu_si16(in));
  bytes = _mm_or_si128(_mm_slli_epi64(bytes, 24), _mm_slli_epi64(bytes, 60));
  return _mm_srai_epi32(bytes, 28);
}

static inline __m256 single_from_i4(gconstpointer in)
{
  return _mm256_cvtepi32_ps(nibbles_8(in));
}

static inline __m256 single_from_i8(gconstpointer in)
{
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(in)));
}

static inline __m256 single_from_i16(gconstpointer in)
{
  return _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_loadu_si128(in)));
}

static inline __m256 single_from_f16(gconstpointer in)
{
  return _mm256_cvtph_ps(_mm_loadu_si128(in));
}

static inline __m256 single_from_f32(gconstpointer in)
{
  return _mm256_loadu_ps(in);
}

static inline __m256d double_from_i4(gconstpointer in)
{
  return _mm256_cvtepi32_pd(nibbles_4(in));
}

static inline __m256d double_from_i8(gconstpointer in)
{
  return _mm256_cvtepi32_pd(_mm_cvtepi8_epi32(_mm_loadu_si32(in)));
}

static inline __m256d double_from_i16(gconstpointer in)
{
  return _mm256_cvtepi32_pd(_mm_cvtepi16_epi32(_mm_loadl_epi64(in)));
}

static inline __m256d double_from_i32(gconstpointer in)
{
  return _mm256_cvtepi32_pd(_mm_loadu_si128(in));
}

static inline __m256d double_from_f16(gconstpointer in)
{
  return _mm256_cvtps_pd(_mm_cvtph_ps(_mm_loadl_epi64(in)));
}

static inline __m256d double_from_f32(gconstpointer in)
{
  return _mm256_cvtps_pd(_mm_loadu_ps(in));
}

static inline __m256d double_from_f64(gconstpointer in)
{
  return _mm256_loadu_pd(in);
}

/* Stores take the components that came in and their products, and return a bit for each that clips.
 */

/* The upper limit, halfway to the next whole number, rounds out of range; the lower one does not.
 */
static inline __m256i single_round(__m256 product, float low, float high, guint *clipped)
{
  __m256 fits = _mm256_and_ps(_mm256_cmp_ps(product, _mm256_set1_ps(low - 0.5f), _CMP_GE_OQ),
                              _mm256_cmp_ps(product, _mm256_set1_ps(high + 0.5f), _CMP_LT_OQ));
  *clipped = (guint)_mm256_movemask_ps(fits) ^ 0xff;
  product = _mm256_and_ps(product, _mm256_cmp_ps(product, product, _CMP_ORD_Q));
  product = _mm256_min_ps(_mm256_max_ps(product, _mm256_set1_ps(low)), _mm256_set1_ps(high));
  return _mm256_cvtps_epi32(product);
}

static inline __m128i double_round(__m256d product, double low, double high, guint *clipped)
{
  __m256d fits = _mm256_and_pd(_mm256_cmp_pd(product, _mm256_set1_pd(low - 0.5), _CMP_GE_OQ),
                               _mm256_cmp_pd(product, _mm256_set1_pd(high + 0.5), _CMP_LT_OQ));
  *clipped = (guint)_mm256_movemask_pd(fits) ^ 0xf;
  product = _mm256_and_pd(product, _mm256_cmp_pd(product, product, _CMP_ORD_Q));
  product = _mm256_min_pd(_mm256_max_pd(product, _mm256_set1_pd(low)), _mm256_set1_pd(high));
  return _mm256_cvtpd_epi32(product);
}

static inline __m256 single_quiet(__m256 product)
{
  __m256 nan = _mm256_cmp_ps(product, product, _CMP_UNORD_Q);
  return _mm256_blendv_ps(product, _mm256_set1_ps((float)NAN), nan);
}

static inline __m256d double_quiet(__m256d product)
{
  __m256d nan = _mm256_cmp_pd(product, product, _CMP_UNORD_Q);
  return _mm256_blendv_pd(product, _mm256_set1_pd((double)NAN), nan);
}

/* A half from 65520 on is infinite: clipped where the component that came in was not. */
static inline guint single_overflows(__m256 x, __m256 product)
{
  const __m256 sign = _mm256_set1_ps(-0.0f);
  __m256 finite = _mm256_cmp_ps(_mm256_andnot_ps(sign, x), _mm256_set1_ps(INFINITY), _CMP_LT_OQ);
  __m256 beyond = _mm256_cmp_ps(_mm256_andnot_ps(sign, product), _mm256_set1_ps(65520), _CMP_GE_OQ);
  return (guint)_mm256_movemask_ps(_mm256_and_ps(finite, beyond));
}

static inline guint double_overflows(__m256d x, __m256d product)
{
  const __m256d sign = _mm256_set1_pd(-0.0);
  __m256d finite = _mm256_cmp_pd(_mm256_andnot_pd(sign, x), _mm256_set1_pd(INFINITY), _CMP_LT_OQ);
  __m256d beyond =
      _mm256_cmp_pd(_mm256_andnot_pd(sign, product), _mm256_set1_pd(65520), _CMP_GE_OQ);
  return (guint)_mm256_movemask_pd(_mm256_and_pd(finite, beyond));
}

static inline __m128i halves(__m256i words)
{
  return _mm_packs_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
}

static inline guint single_to_i4(gpointer out, __m256 x, __m256 product)
{
  guint clipped;
  __m128i pairs = halves(single_round(product, -8, 7, &clipped));
  __m128i low = _mm_and_si128(_mm_srli_epi32(pairs, 16), _mm_set1_epi32(15));
  pairs = _mm_or_si128(_mm_slli_epi32(pairs, 4), low);
  pairs = _mm_shuffle_epi8(pairs, _mm_set1_epi32(0x0c080400));
  _mm_storeu_si32(out, pairs);
  return clipped;
}

static inline guint single_to_i8(gpointer out, __m256 x, __m256 product)
{
  guint clipped;
  __m128i shorts = halves(single_round(product, -128, 127, &clipped));
  _mm_storel_epi64(out, _mm_packs_epi16(shorts, shorts));
  return clipped;
}

static inline guint single_to_i16(gpointer out, __m256 x, __m256 product)
{
  guint clipped;
  _mm_storeu_si128(out, halves(single_round(product, -32768, 32767, &clipped)));
  return clipped;
}

static inline guint single_to_f16(gpointer out, __m256 x, __m256 product)
{
  _mm_storeu_si128(out, _mm256_cvtps_ph(single_quiet(product), NEAREST));
  return single_overflows(x, product);
}

static inline guint single_to_f32(gpointer out, __m256 x, __m256 product)
{
  _mm256_storeu_si256(out, _mm256_castps_si256(single_quiet(product)));
  return 0;
}

static inline guint double_to_i4(gpointer out, __m256d x, __m256d product)
{
  guint clipped;
  __m128i pairs = double_round(product, -8, 7, &clipped);
  __m128i low = _mm_and_si128(_mm_srli_epi64(pairs, 32), _mm_set1_epi64x(15));
  pairs = _mm_or_si128(_mm_slli_epi64(pairs, 4), low);
  _mm_storeu_si16(out, _mm_shuffle_epi8(pairs, _mm_set1_epi16(0x0800)));
  return clipped;
}

static inline guint double_to_i8(gpointer out, __m256d x, __m256d product)
{
  guint clipped;
  __m128i words = double_round(product, -128, 127, &clipped);
  _mm_storeu_si32(out, _mm_shuffle_epi8(words, _mm_set1_epi32(0x0c080400)));
  return clipped;
}

static inline guint double_to_i16(gpointer out, __m256d x, __m256d product)
{
  guint clipped;
  __m128i words = double_round(product, -32768, 32767, &clipped);
  _mm_storel_epi64(out, _mm_packs_epi32(words, words));
  return clipped;
}

static inline guint double_to_i32(gpointer out, __m256d x, __m256d product)
{
  guint clipped;
  _mm_storeu_si128(out, double_round(product, -0x1p31, 0x1p31 - 1, &clipped));
  return clipped;
}

/* The low half of each quadword of a mask. */
static inline __m128i narrow_mask(__m256d mask)
{
  __m128 low = _mm_castpd_ps(_mm256_castpd256_pd128(mask));
  __m128 high = _mm_castpd_ps(_mm256_extractf128_pd(mask, 1));
  return _mm_castps_si128(_mm_shuffle_ps(low, high, _MM_SHUFFLE(2, 0, 2, 0)));
}

/* Rounded to single precision towards zero, with the last place set where something was cut off:
 * then the second rounding falls as if it were the only one. Where rounding to nearest went away
 * from zero the number before, one less in its bits, is the one cut off. */
static inline guint double_to_f16(gpointer out, __m256d x, __m256d product)
{
  const __m256d sign = _mm256_set1_pd(-0.0);
  __m256d quiet = double_quiet(product);
  __m128 near = _mm256_cvtpd_ps(quiet);
  __m256d back = _mm256_cvtps_pd(near);
  __m256d inexact = _mm256_cmp_pd(back, quiet, _CMP_NEQ_OQ);
  __m256d away =
      _mm256_cmp_pd(_mm256_andnot_pd(sign, back), _mm256_andnot_pd(sign, quiet), _CMP_GT_OQ);
  __m128i bits = _mm_add_epi32(_mm_castps_si128(near), narrow_mask(away));
  bits = _mm_or_si128(bits, _mm_srli_epi32(narrow_mask(inexact), 31));
  _mm_storel_epi64(out, _mm_cvtps_ph(_mm_castsi128_ps(bits), NEAREST));
  return double_overflows(x, product);
}

static inline guint double_to_f32(gpointer out, __m256d x, __m256d product)
{
  _mm_storeu_si128(out, _mm_castps_si128(_mm256_cvtpd_ps(double_quiet(product))));
  return 0;
}

static inline guint double_to_f64(gpointer out, __m256d x, __m256d product)
{
  _mm256_storeu_si256(out, _mm256_castpd_si256(double_quiet(product)));
  return 0;
}

#define SET_SINGLE(scale) _mm256_set1_ps((float)(scale))
#define SINGLE(FROM, from, TO, to)                                                                 \
  ASTRO_CONVERT_VECTORS(single, __m256, 8, SET_SINGLE, _mm256_mul_ps, FROM, from, TO, to)
#define DOUBLE(FROM, from, TO, to)                                                                 \
  ASTRO_CONVERT_VECTORS(double, __m256d, 4, _mm256_set1_pd, _mm256_mul_pd, FROM, from, TO, to)

ASTRO_CONVERT_PAIRS_SINGLE(SINGLE)
ASTRO_CONVERT_PAIRS_NARROW(SINGLE)
ASTRO_CONVERT_PAIRS_DOUBLE(DOUBLE)

/* What astro_convert_nibbles() made, for shuffles. */
static inline __m256i in_lanes(const guint8 *bytes)
{
  return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)bytes));
}

static inline guint count_clipped(__m256i clipped, __m256i indices)
{
  return (guint)__builtin_popcount(
      (guint)_mm256_movemask_epi8(_mm256_shuffle_epi8(clipped, indices)));
}

static guint64 look_up_CI4_CI8(gpointer out, gconstpointer in, gsize components, double scale)
{
  AstroConvertNibbles nibbles;
  astro_convert_nibbles(&nibbles, ASTRO_FORMAT_CI8, scale);
  const __m256i become = in_lanes(nibbles.becomes), clip = in_lanes(nibbles.clipped);
  const guint8 *source = in;
  guint8 *target = out;
  guint64 clipped = 0;
  for (gsize i = 0; i < components; i += 32) {
    __m256i bytes = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)source));
    bytes = _mm256_or_si256(_mm256_srli_epi16(bytes, 4), _mm256_slli_epi16(bytes, 8));
    bytes = _mm256_and_si256(bytes, _mm256_set1_epi8(15));
    _mm256_storeu_si256((__m256i *)target, _mm256_shuffle_epi8(become, bytes));
    clipped += count_clipped(clip, bytes);
    source += 16;
    target += 32;
  }
  return clipped;
}

static guint64 look_up_CI4_CI4(gpointer out, gconstpointer in, gsize components, double scale)
{
  AstroConvertNibbles nibbles;
  astro_convert_nibbles(&nibbles, ASTRO_FORMAT_CI4, scale);
  const __m256i become = in_lanes(nibbles.becomes), clip = in_lanes(nibbles.clipped);
  const __m256i ones = _mm256_set1_epi8(15);
  const guint8 *source = in;
  guint8 *target = out;
  guint64 clipped = 0;
  for (gsize i = 0; i < components; i += 64) {
    const __m256i bytes = _mm256_loadu_si256((const __m256i *)source);
    const __m256i low = _mm256_and_si256(bytes, ones);
    const __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), ones);
    const __m256i shifted = _mm256_slli_epi16(_mm256_shuffle_epi8(become, high), 4);
    _mm256_storeu_si256((__m256i *)target,
                        _mm256_or_si256(shifted, _mm256_shuffle_epi8(become, low)));
    clipped += count_clipped(clip, low) + count_clipped(clip, high);
    source += 32;
    target += 32;
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
  guint64 fitting = 0;
  for (gsize i = 0; i < components; i += 32) {
    __m256i bytes = _mm256_loadu_si256((const __m256i *)source);
    __m256i held = _mm256_max_epi8(bytes, _mm256_set1_epi8(-8));
    held = _mm256_min_epi8(held, _mm256_set1_epi8(7));
    __m256i fits = _mm256_cmpeq_epi8(bytes, held);
    fitting += (guint)__builtin_popcount((guint)_mm256_movemask_epi8(fits));
    __m256i low = _mm256_and_si256(_mm256_srli_epi16(held, 8), _mm256_set1_epi16(15));
    __m256i high = _mm256_and_si256(_mm256_slli_epi16(held, 4), _mm256_set1_epi16(0xf0));
    held = _mm256_or_si256(high, low);
    _mm_storeu_si128((__m128i *)target, _mm_packus_epi16(_mm256_castsi256_si128(held),
                                                         _mm256_extracti128_si256(held, 1)));
    source += 32;
    target += 16;
  }
  return components - fitting;
}

const AstroConvertKernels astro_convert_kernels_avx2 = {
  ASTRO_CONVERT_PAIRS_SINGLE(ASTRO_CONVERT_ENTRY) ASTRO_CONVERT_PAIRS_DOUBLE(
      ASTRO_CONVERT_ENTRY)[ASTRO_FORMAT_CI4][ASTRO_FORMAT_CI8] = look_up_CI4_CI8,
  [ASTRO_FORMAT_CI4][ASTRO_FORMAT_CI4] = look_up_CI4_CI4,
  [ASTRO_FORMAT_CI8][ASTRO_FORMAT_CI4] = narrow_CI8_CI4,
};

void astro_convert_copy_avx2(gpointer out, gconstpointer in, gsize bytes)
{
  const guint8 *source = in;
  guint8 *target = out;
  gsize i = 0;
  for (; i + 32 <= bytes; i += 32)
    _mm256_stream_si256((__m256i *)(target + i), _mm256_loadu_si256((const __m256i *)(source + i)));
  memcpy(target + i, source + i, bytes - i);
}
