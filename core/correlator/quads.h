/* Packs 8-bit and 4-bit samples into quads: four samples of an input side by side in a lane of 32
 * bits, 16 real quads of a panel, then 16 imaginary ones. For the files of AVX-512 VNNI and AMX. */
#include "core/correlator/kernels.h"
#include <immintrin.h>

/* Four time steps of 16 inputs; those from count on are zero. */
static inline __attribute__((always_inline)) void quad_rows(__m512i *early, __m512i *late,
                                                            const guint8 *in, gsize stride,
                                                            guint count, __mmask16 inputs,
                                                            AstroFormat format)
{
  __m256i row[4];
#pragma GCC unroll 4
  for (guint t = 0; t < 4; t++) {
    __mmask16 mask = t < count ? inputs : 0;
    if (format == ASTRO_FORMAT_CI8) {
      row[t] = _mm256_maskz_loadu_epi16(mask, in + t * stride);
    } else {
      __m128i bytes = _mm_maskz_loadu_epi8(mask, in + t * stride);
      /* (re, im) in the low halves of two bytes, and from there by table */
      __m256i wide = _mm256_cvtepu8_epi16(bytes);
      wide = _mm256_or_si256(_mm256_srli_epi16(wide, 4), _mm256_slli_epi16(wide, 8));
      row[t] = _mm256_and_si256(wide, _mm256_set1_epi8(15));
    }
  }
  *early = _mm512_inserti64x4(_mm512_castsi256_si512(row[0]), row[1], 1);
  *late = _mm512_inserti64x4(_mm512_castsi256_si512(row[2]), row[3], 1);
  if (format == ASTRO_FORMAT_CI4) {
    const __m512i value = _mm512_broadcast_i32x4(
        _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1));
    *early = _mm512_shuffle_epi8(value, *early);
    *late = _mm512_shuffle_epi8(value, *late);
  }
}

/* Which byte of (early, late), modulo 64, goes to each byte of a quad. */
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

static inline __attribute__((always_inline)) void quad_pack(__m512i *re, __m512i *im,
                                                            const guint8 *in, gsize stride,
                                                            guint count, __mmask16 inputs,
                                                            AstroFormat format)
{
  const __m512i take_re = _mm512_load_si512(quad_re), take_im = _mm512_load_si512(quad_im);
  const __mmask64 second = 0xccccccccccccccccu; /* bytes 2 and 3 of each quad */
  __m512i early, late;
  quad_rows(&early, &late, in, stride, count, inputs, format);
  *re =
      _mm512_mask_permutexvar_epi8(_mm512_permutexvar_epi8(take_re, early), second, take_re, late);
  *im =
      _mm512_mask_permutexvar_epi8(_mm512_permutexvar_epi8(take_im, early), second, take_im, late);
}
