/* Dot products of four samples at a time. The instruction multiplies unsigned bytes by signed ones,
 * so columns are taken as re + 128, im + 128 and 127 - im, each by one exclusive or. What that adds
 * to the sums depends on the row alone: 128 (sum re + sum im) on real parts, 128 sum im + 127 sum
 * re on imaginary ones. Packing gathers these two as the panel's bias, and they are taken off where
 * a tile is added to the sums of its channel. Arithmetic modulo 2^32 keeps all this exact, since
 * the true sums of a span fit. */
#include "core/correlator/tile-int32.h"
#include "core/correlator/ahead.h"
#include "core/correlator/quads.h"

static ALWAYS_INLINE void pack_quads(__m512i *out, gint32 *bias, const AstroCorrelatorRows *rows,
                                     __mmask16 inputs, AstroFormat format)
{
  const __m512i bias_128 = _mm512_set1_epi8((char)128), bias_127 = _mm512_set1_epi8(127);
  __m512i bias_re = _mm512_load_si512(bias), bias_im = _mm512_load_si512(bias + PANEL);
  for (guint t = 0; t < rows->count; t += 4, out += 2) {
    const guint8 *in = rows->first + t * rows->stride;
    guint count = rows->count - t;
    if (count >= 4)
      quad_pack(&out[0], &out[1], in, rows->stride, 4, inputs, format);
    else
      quad_pack(&out[0], &out[1], in, rows->stride, count, inputs, format);
    bias_re = _mm512_dpbusd_epi32(bias_re, bias_128, out[0]);
    bias_re = _mm512_dpbusd_epi32(bias_re, bias_128, out[1]);
    bias_im = _mm512_dpbusd_epi32(bias_im, bias_127, out[0]);
    bias_im = _mm512_dpbusd_epi32(bias_im, bias_128, out[1]);
  }
  _mm512_store_si512(bias, bias_re);
  _mm512_store_si512(bias + PANEL, bias_im);
}

static ALWAYS_INLINE void pack(guint8 *packed, gint32 *bias, const AstroCorrelatorRows *rows,
                               AstroFormat format)
{
  if (rows->inputs == PANEL)
    pack_quads((__m512i *)packed, bias, rows, 0xffff, format);
  else
    pack_quads((__m512i *)packed, bias, rows, (__mmask16)((1u << rows->inputs) - 1), format);
}

void astro_correlator_pack_ci8_vnni(guint8 *packed, gint32 *bias, const AstroCorrelatorRows *rows)
{
  pack(packed, bias, rows, ASTRO_FORMAT_CI8);
}

void astro_correlator_pack_ci4_vnni(guint8 *packed, gint32 *bias, const AstroCorrelatorRows *rows)
{
  pack(packed, bias, rows, ASTRO_FORMAT_CI4);
}

enum { ROWS = 8 };

static inline void multiply_block(gint32 *re, gint32 *im, const gint32 *left, const __m512i *right,
                                  guint steps, AstroCorrelatorAhead *ahead)
{
  const __m512i high = _mm512_set1_epi8((char)0x80), rest = _mm512_set1_epi8(0x7f);
  __m512i sum_re[ROWS], sum_im[ROWS];
#pragma GCC unroll 8
  for (guint r = 0; r < ROWS; r++) {
    sum_re[r] = _mm512_load_si512(re + r * PANEL);
    sum_im[r] = _mm512_load_si512(im + r * PANEL);
  }
  for (guint s = 0; s < steps; s++, left += 2 * PANEL, right += 2) {
    astro_correlator_ask(ahead);
    __m512i b_re = _mm512_xor_si512(right[0], high), b_im = _mm512_xor_si512(right[1], high);
    __m512i b_minus = _mm512_xor_si512(right[1], rest);
#pragma GCC unroll 8
    for (guint r = 0; r < ROWS; r++) {
      __m512i a_re = _mm512_set1_epi32(left[r]), a_im = _mm512_set1_epi32(left[PANEL + r]);
      sum_re[r] = _mm512_dpbusd_epi32(sum_re[r], b_re, a_re);
      sum_im[r] = _mm512_dpbusd_epi32(sum_im[r], b_minus, a_re);
      sum_re[r] = _mm512_dpbusd_epi32(sum_re[r], b_im, a_im);
      sum_im[r] = _mm512_dpbusd_epi32(sum_im[r], b_re, a_im);
    }
  }
#pragma GCC unroll 8
  for (guint r = 0; r < ROWS; r++) {
    _mm512_store_si512(re + r * PANEL, sum_re[r]);
    _mm512_store_si512(im + r * PANEL, sum_im[r]);
  }
}

void astro_correlator_multiply_int8_vnni(const AstroCorrelatorProduct *product)
{
  AstroCorrelatorAhead ahead = astro_correlator_ahead(product, PANEL / ROWS * product->steps);
  for (guint i = 0; i < product->rows; i++)
    for (guint j = 0; j < astro_correlator_columns(product, i); j++) {
      gint32 *re = (gint32 *)(product->tiles + i * product->tiles_stride) + j * 2 * PANEL * PANEL;
      gint32 *im = re + PANEL * PANEL;
      const gint32 *left = (const gint32 *)(product->left + i * product->panel_stride);
      const __m512i *right = (const __m512i *)(product->right + j * product->panel_stride);
      if (product->first)
        memset(re, 0, 2 * PANEL * PANEL * sizeof *re);
      for (guint r = 0; r < PANEL; r += ROWS)
        multiply_block(re + r * PANEL, im + r * PANEL, left + r, right, product->steps, &ahead);
    }
}

void astro_correlator_add_int8_vnni(const AstroCorrelatorPlace *place, const guint8 *tile)
{
  const gint32 *sum = (const gint32 *)tile;
  gint32 part[2 * PANEL * PANEL] __attribute__((aligned(64)));
  for (guint r = 0; r < 2 * PANEL; r++) {
    __m512i bias = _mm512_set1_epi32(place->bias[r]);
    _mm512_store_si512(part + r * PANEL,
                       _mm512_sub_epi32(_mm512_load_si512(sum + r * PANEL), bias));
  }
  add_tile_avx512(place, part, part + PANEL * PANEL);
}
