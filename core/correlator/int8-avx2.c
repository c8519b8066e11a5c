/* A packed step is one sample of 16 inputs in int16, where even -(-128) fits: 16 times (re, im),
 * then 16 times (-im, re), so that one multiply-add of neighbours gives each part of a product. */
#define TILE gint32
#define SUM gint64
#include "core/correlator/ahead.h"
#include "core/correlator/tile.h"
#include <immintrin.h>

/* 8 samples of two bytes. */
static inline void pack_8(__m256i *out, __m128i bytes)
{
  __m256i pairs = _mm256_cvtepi8_epi16(bytes);
  const __m256i swap = _mm256_setr_epi8(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13, 2, 3,
                                        0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
  _mm256_store_si256(out, pairs);
  _mm256_store_si256(
      out + 2, _mm256_sign_epi16(_mm256_shuffle_epi8(pairs, swap), _mm256_set1_epi32(0x0001ffff)));
}

void astro_correlator_pack_ci8_avx2(guint8 *packed, gint32 *bias, const AstroCorrelatorRows *rows)
{
  __m256i *out = (__m256i *)packed;
  gint8 part[2 * PANEL] = { 0 };
  for (guint t = 0; t < rows->count; t++, out += 4) {
    const guint8 *in = rows->first + t * rows->stride;
    if (rows->inputs < PANEL)
      in = memcpy(part, in, 2 * rows->inputs);
    pack_8(out, _mm_loadu_si128((const __m128i *)in));
    pack_8(out + 1, _mm_loadu_si128((const __m128i *)in + 1));
  }
}

void astro_correlator_pack_ci4_avx2(guint8 *packed, gint32 *bias, const AstroCorrelatorRows *rows)
{
  const __m128i nibble = _mm_set1_epi8(15);
  const __m128i value = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1);
  __m256i *out = (__m256i *)packed;
  gint8 part[PANEL] = { 0 };
  for (guint t = 0; t < rows->count; t++, out += 4) {
    const guint8 *in = rows->first + t * rows->stride;
    if (rows->inputs < PANEL)
      in = memcpy(part, in, rows->inputs);
    __m128i bytes = _mm_loadu_si128((const __m128i *)in);
    __m128i re = _mm_shuffle_epi8(value, _mm_and_si128(_mm_srli_epi16(bytes, 4), nibble));
    __m128i im = _mm_shuffle_epi8(value, _mm_and_si128(bytes, nibble));
    pack_8(out, _mm_unpacklo_epi8(re, im));
    pack_8(out + 1, _mm_unpackhi_epi8(re, im));
  }
}

enum { ROWS = 4, COLUMNS = 8 };

static inline void multiply_block(gint32 *re, gint32 *im, const gint32 *left, const __m256i *right,
                                  guint steps)
{
  __m256i sum_re[ROWS], sum_im[ROWS];
#pragma GCC unroll 4
  for (guint r = 0; r < ROWS; r++) {
    sum_re[r] = _mm256_load_si256((const __m256i *)(re + r * PANEL));
    sum_im[r] = _mm256_load_si256((const __m256i *)(im + r * PANEL));
  }
  for (guint t = 0; t < steps; t++, left += 2 * PANEL, right += 4) {
    __m256i b_re = _mm256_load_si256(right), b_im = _mm256_load_si256(right + 2);
#pragma GCC unroll 4
    for (guint r = 0; r < ROWS; r++) {
      __m256i a = _mm256_set1_epi32(left[r]);
      sum_re[r] = _mm256_add_epi32(sum_re[r], _mm256_madd_epi16(a, b_re));
      sum_im[r] = _mm256_add_epi32(sum_im[r], _mm256_madd_epi16(a, b_im));
    }
  }
#pragma GCC unroll 4
  for (guint r = 0; r < ROWS; r++) {
    _mm256_store_si256((__m256i *)(re + r * PANEL), sum_re[r]);
    _mm256_store_si256((__m256i *)(im + r * PANEL), sum_im[r]);
  }
}

void astro_correlator_multiply_int8_avx2(const AstroCorrelatorProduct *product)
{
  AstroCorrelatorAhead ahead = astro_correlator_ahead(product, PANEL / COLUMNS * (PANEL / ROWS));
  for (guint i = 0; i < product->rows; i++)
    for (guint j = 0; j < astro_correlator_columns(product, i); j++) {
      gint32 *re = (gint32 *)(product->tiles + i * product->tiles_stride) + j * 2 * PANEL * PANEL;
      gint32 *im = re + PANEL * PANEL;
      const gint32 *left = (const gint32 *)(product->left + i * product->panel_stride);
      const __m256i *right = (const __m256i *)(product->right + j * product->panel_stride);
      if (product->first)
        memset(re, 0, 2 * PANEL * PANEL * sizeof *re);
      for (guint c = 0; c < PANEL; c += COLUMNS)
        for (guint r = 0; r < PANEL; r += ROWS) {
          astro_correlator_ask(&ahead);
          multiply_block(re + r * PANEL + c, im + r * PANEL + c, left + r, right + c / COLUMNS,
                         product->steps);
        }
    }
}

ADD_TILES(int8_avx2, add_tile)
