/* Packs 8-bit and 4-bit samples into quads: four samples of an input side by side in a lane of 32
 * bits, 16 real quads of a panel, then 16 imaginary ones. For the files of AVX-512 VNNI and AMX. */
#include "core/correlator/kernels.h"
#include <immintrin.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* Which byte goes to each byte of a quad: of two rows of words (times 0 and 2, times 1 and 3), and
 * of four of nibbles. */
static const guint8 quad_words[64] __attribute__((aligned(64))) = {
  0,  32, 1,  33, 2,  34, 3,  35, 4,  36, 5,  37, 6,  38, 7,  39, 8,  40, 9,  41, 10, 42,
  11, 43, 12, 44, 13, 45, 14, 46, 15, 47, 16, 48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53,
  22, 54, 23, 55, 24, 56, 25, 57, 26, 58, 27, 59, 28, 60, 29, 61, 30, 62, 31, 63,
};
static const guint8 quad_nibbles[64] __attribute__((aligned(64))) = {
  0,  16, 32, 48, 1,  17, 33, 49, 2,  18, 34, 50, 3,  19, 35, 51, 4,  20, 36, 52, 5,  21,
  37, 53, 6,  22, 38, 54, 7,  23, 39, 55, 8,  24, 40, 56, 9,  25, 41, 57, 10, 26, 42, 58,
  11, 27, 43, 59, 12, 28, 44, 60, 13, 29, 45, 61, 14, 30, 46, 62, 15, 31, 47, 63,
};

/* Four time steps of 16 inputs; those from count on are zero, and so are inputs that the mask
 * lacks. Constants for a whole panel let the loads join the rows by themselves. */
static ALWAYS_INLINE void quad_pack_ci8(__m512i *re, __m512i *im, const guint8 *in, gsize stride,
                                        guint count, __mmask16 inputs)
{
  const __m512i order = _mm512_load_si512(quad_words), low = _mm512_set1_epi16(0xff);
  __m256i row[4];
#pragma GCC unroll 4
  for (guint t = 0; t < 4; t++)
    row[t] = t >= count         ? _mm256_setzero_si256()
             : inputs == 0xffff ? _mm256_loadu_si256((const __m256i *)(in + t * stride))
                                : _mm256_maskz_loadu_epi16(inputs, in + t * stride);
  __m512i early = _mm512_inserti64x4(_mm512_castsi256_si512(row[0]), row[1], 1);
  __m512i late = _mm512_inserti64x4(_mm512_castsi256_si512(row[2]), row[3], 1);
  /* Shifts and bitwise operations first: one permutation is left for each, since there is one unit
   * for these. 0xe4: the third operand chooses between the first two. */
  *re = _mm512_permutexvar_epi8(
      order, _mm512_ternarylogic_epi32(early, _mm512_slli_epi16(late, 8), low, 0xe4));
  *im = _mm512_permutexvar_epi8(
      order, _mm512_ternarylogic_epi32(_mm512_srli_epi16(early, 8), late, low, 0xe4));
}

static ALWAYS_INLINE void quad_pack_ci4(__m512i *re, __m512i *im, const guint8 *in, gsize stride,
                                        guint count, __mmask16 inputs)
{
  const __m512i nibble = _mm512_set1_epi8(15), sign = _mm512_set1_epi8(8);
  __m128i row[4];
#pragma GCC unroll 4
  for (guint t = 0; t < 4; t++)
    row[t] = t >= count         ? _mm_setzero_si128()
             : inputs == 0xffff ? _mm_loadu_si128((const __m128i *)(in + t * stride))
                                : _mm_maskz_loadu_epi8(inputs, in + t * stride);
  __m512i all = _mm512_castsi128_si512(row[0]);
  all = _mm512_mask_broadcast_i32x4(all, 0x00f0, row[1]);
  all = _mm512_mask_broadcast_i32x4(all, 0x0f00, row[2]);
  all = _mm512_mask_broadcast_i32x4(all, 0xf000, row[3]);
  all = _mm512_permutexvar_epi8(_mm512_load_si512(quad_nibbles), all);
  /* (nibble ^ 8) - 8 extends its sign. */
  *re = _mm512_sub_epi8(_mm512_ternarylogic_epi32(_mm512_srli_epi16(all, 4), nibble, sign, 0x6a),
                        sign);
  *im = _mm512_sub_epi8(_mm512_ternarylogic_epi32(all, nibble, sign, 0x6a), sign);
}

static ALWAYS_INLINE void quad_pack(__m512i *re, __m512i *im, const guint8 *in, gsize stride,
                                    guint count, __mmask16 inputs, AstroFormat format)
{
  if (format == ASTRO_FORMAT_CI8)
    quad_pack_ci8(re, im, in, stride, count, inputs);
  else
    quad_pack_ci4(re, im, in, stride, count, inputs);
}
