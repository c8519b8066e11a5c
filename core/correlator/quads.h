/* Packs 8-bit and 4-bit samples into quads: four samples of an input side by side in a lane of 32
 * bits, 16 real quads of a panel, then 16 imaginary ones. For the files of AVX-512 VNNI and AMX. */
#include "core/correlator/kernels.h"
#include <immintrin.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* Which byte goes to each byte of a quad: of two rows of bytes (re, im), and of four of nibbles. */
static const guint8 quad_re[64] __attribute__((aligned(64))) = {
  0,  32, 0,  32, 2,  34, 2,  34, 4,  36, 4,  36, 6,  38, 6,  38, 8,  40, 8,  40, 10, 42,
  10, 42, 12, 44, 12, 44, 14, 46, 14, 46, 16, 48, 16, 48, 18, 50, 18, 50, 20, 52, 20, 52,
  22, 54, 22, 54, 24, 56, 24, 56, 26, 58, 26, 58, 28, 60, 28, 60, 30, 62, 30, 62,
};
static const guint8 quad_im[64] __attribute__((aligned(64))) = {
  1,  33, 1,  33, 3,  35, 3,  35, 5,  37, 5,  37, 7,  39, 7,  39, 9,  41, 9,  41, 11, 43,
  11, 43, 13, 45, 13, 45, 15, 47, 15, 47, 17, 49, 17, 49, 19, 51, 19, 51, 21, 53, 21, 53,
  23, 55, 23, 55, 25, 57, 25, 57, 27, 59, 27, 59, 29, 61, 29, 61, 31, 63, 31, 63,
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
  const __m512i take_re = _mm512_load_si512(quad_re), take_im = _mm512_load_si512(quad_im);
  const __mmask64 second = 0xccccccccccccccccu; /* bytes 2 and 3 of each quad */
  __m256i row[4];
#pragma GCC unroll 4
  for (guint t = 0; t < 4; t++)
    row[t] = t >= count         ? _mm256_setzero_si256()
             : inputs == 0xffff ? _mm256_loadu_si256((const __m256i *)(in + t * stride))
                                : _mm256_maskz_loadu_epi16(inputs, in + t * stride);
  __m512i early = _mm512_inserti64x4(_mm512_castsi256_si512(row[0]), row[1], 1);
  __m512i late = _mm512_inserti64x4(_mm512_castsi256_si512(row[2]), row[3], 1);
  *re =
      _mm512_mask_permutexvar_epi8(_mm512_permutexvar_epi8(take_re, early), second, take_re, late);
  *im =
      _mm512_mask_permutexvar_epi8(_mm512_permutexvar_epi8(take_im, early), second, take_im, late);
}

static ALWAYS_INLINE void quad_pack_ci4(__m512i *re, __m512i *im, const guint8 *in, gsize stride,
                                        guint count, __mmask16 inputs)
{
  const __m512i value =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1));
  const __m512i nibble = _mm512_set1_epi8(15);
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
  *re = _mm512_shuffle_epi8(value, _mm512_and_si512(_mm512_srli_epi16(all, 4), nibble));
  *im = _mm512_shuffle_epi8(value, _mm512_and_si512(all, nibble));
}

static ALWAYS_INLINE void quad_pack(__m512i *re, __m512i *im, const guint8 *in, gsize stride,
                                    guint count, __mmask16 inputs, AstroFormat format)
{
  if (format == ASTRO_FORMAT_CI8)
    quad_pack_ci8(re, im, in, stride, count, inputs);
  else
    quad_pack_ci4(re, im, in, stride, count, inputs);
}
