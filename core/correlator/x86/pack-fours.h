/* Packs 8-bit and 4-bit samples into quads: four samples of an input in a lane of 32 bits; first
 * the 16 real quads of a panel, then the 16 imaginary ones. For the AVX-512 VNNI and AMX kernels.
 */
#include "core/correlator/kernels.h"
#include <immintrin.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* Packs four time steps of 16 inputs; steps from count on are zero, and so are inputs outside of
 * the mask. With constants for a whole panel the compiler merges the loads. */
static ALWAYS_INLINE void quad_pack_ci8(__m512i *re, __m512i *im, const guint8 *in, gsize stride,
                                        guint count, __mmask16 inputs)
{
  const __m512i low = _mm512_set1_epi16(0xff), order = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
  const __m512i to_quads =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15));
  __m512i row[4];
#pragma GCC unroll 4
  for (guint t = 0; t < 4; t++)
    row[t] = _mm512_castsi256_si512(t >= count ? _mm256_setzero_si256()
                                    : inputs == 0xffff
                                        ? _mm256_loadu_si256((const __m256i *)(in + t * stride))
                                        : _mm256_maskz_loadu_epi16(inputs, in + t * stride));
  /* A 128-bit lane has four inputs at two time steps, in four words each. With shifts and bitwise
   * operations only one permutation per part is left, as there is only one execution unit for
   * these. 0xe4: the third operand selects between the first two. */
  __m512i early = _mm512_permutex2var_epi64(row[0], order, row[1]);
  __m512i late = _mm512_permutex2var_epi64(row[2], order, row[3]);
  *re = _mm512_shuffle_epi8(_mm512_ternarylogic_epi32(early, _mm512_slli_epi16(late, 8), low, 0xe4),
                            to_quads);
  *im = _mm512_shuffle_epi8(_mm512_ternarylogic_epi32(_mm512_srli_epi16(early, 8), late, low, 0xe4),
                            to_quads);
}

static ALWAYS_INLINE void quad_pack_ci4(__m512i *re, __m512i *im, const guint8 *in, gsize stride,
                                        guint count, __mmask16 inputs)
{
  const __m512i nibble = _mm512_set1_epi8(15), sign = _mm512_set1_epi8(8);
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m512i to_quads =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
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
  all = _mm512_shuffle_epi8(_mm512_permutexvar_epi32(order, all), to_quads);
  /* (nibble ^ 8) - 8 extends the sign. */
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
