/* Matrix tiles: 16 inputs by 64 samples as a row operand (a row of bytes an input), 16 quads by 16
 * inputs as a column operand. re re + im im, im re and re im are summed apart, each in its own tile
 * register, so that nothing is ever negated before the sums are complete. Packed panels are column
 * operands; a row panel is turned from them just before its products. */
#include "core/correlator/tile-int32.h"
#include "core/correlator/ahead.h"
#include "core/correlator/quads.h"

enum {
  OPERAND = 16 * 64, /* bytes of a tile register */
  MOST_STEPS = 16,
};

/* Tile registers, and the parts of a tile in memory: re re + im im, im re, re im. */
#define RE 0
#define IM_RE 1
#define RE_IM 2
#define PARTS 3

/* Turns 16 quads of 16 inputs into 16 rows of 64 samples, four inputs at a time. Loads put their
 * lanes together, which leaves half the permutations. */
static ALWAYS_INLINE void turn(guint8 *rows, const guint8 *quads)
{
  for (guint lane = 0; lane < 4; lane++) {
    const __m128i *from = (const __m128i *)quads + lane;
    __m512i *to = (__m512i *)rows + 4 * lane;
    __m512i part[4]; /* of four inputs: quads q, 4 + q, 8 + q, 12 + q, a lane each */
#pragma GCC unroll 4
    for (guint q = 0; q < 4; q++) {
      part[q] = _mm512_castsi128_si512(from[4 * q]);
      part[q] = _mm512_mask_broadcast_i32x4(part[q], 0x00f0, from[4 * (4 + q)]);
      part[q] = _mm512_mask_broadcast_i32x4(part[q], 0x0f00, from[4 * (8 + q)]);
      part[q] = _mm512_mask_broadcast_i32x4(part[q], 0xf000, from[4 * (12 + q)]);
    }
    __m512i low_01 = _mm512_unpacklo_epi32(part[0], part[1]);
    __m512i high_01 = _mm512_unpackhi_epi32(part[0], part[1]);
    __m512i low_23 = _mm512_unpacklo_epi32(part[2], part[3]);
    __m512i high_23 = _mm512_unpackhi_epi32(part[2], part[3]);
    to[0] = _mm512_unpacklo_epi64(low_01, low_23);
    to[1] = _mm512_unpackhi_epi64(low_01, low_23);
    to[2] = _mm512_unpacklo_epi64(high_01, high_23);
    to[3] = _mm512_unpackhi_epi64(high_01, high_23);
  }
}

/* Four time steps of all panels, then the next four: as samples lie in memory, so that the
 * processor reads ahead by itself. */
static ALWAYS_INLINE void pack(guint8 *packed, const AstroCorrelatorRows *rows, AstroFormat format)
{
  const gsize panel_bytes = format == ASTRO_FORMAT_CI8 ? 2 * PANEL : PANEL;
  const guint quads = (rows->count + 63) / 64 * 16, whole_quads = rows->count / 4;
  const guint whole_panels = rows->inputs == PANEL ? rows->panels : rows->panels - 1;
  const __mmask16 last_inputs = (__mmask16)((1u << rows->inputs) - 1);
  for (guint q = 0; q < quads; q++) {
    guint8 *to = packed + q / 16 * 2 * OPERAND + q % 16 * 64;
    const guint8 *in = rows->first + 4 * q * rows->stride;
    const guint count = rows->count > 4 * q ? rows->count - 4 * q : 0;
    guint p = 0;
    for (; q < whole_quads && p < whole_panels; p++, to += rows->panel_stride, in += panel_bytes)
      quad_pack((__m512i *)to, (__m512i *)(to + OPERAND), in, rows->stride, 4, 0xffff, format);
    for (; p < rows->panels; p++, to += rows->panel_stride, in += panel_bytes)
      quad_pack((__m512i *)to, (__m512i *)(to + OPERAND), in, rows->stride, count,
                p < whole_panels ? 0xffff : last_inputs, format);
  }
}

void astro_correlator_pack_ci8_amx(guint8 *packed, gpointer notes, const AstroCorrelatorRows *rows)
{
  pack(packed, rows, ASTRO_FORMAT_CI8);
}

void astro_correlator_pack_ci4_amx(guint8 *packed, gpointer notes, const AstroCorrelatorRows *rows)
{
  pack(packed, rows, ASTRO_FORMAT_CI4);
}

/* A row panel of a pass stays in the first cache; columns and tiles stream past it. */
static void multiply_panels(guint8 *tile, guint8 *next_tile, const guint8 *left,
                            const guint8 *right, guint steps, gboolean first, gboolean diagonal,
                            AstroCorrelatorAhead *ahead)
{
  if (first) {
    _tile_zero(RE);
    _tile_zero(IM_RE);
    _tile_zero(RE_IM);
  } else {
    _tile_loadd(RE, tile, 64);
    _tile_loadd(IM_RE, tile + OPERAND, 64);
    _tile_loadd(RE_IM, tile + 2 * OPERAND, 64);
  }
  for (guint s = 0; s < steps; s++, left += 2 * OPERAND, right += 2 * OPERAND) {
    _tile_loadd(4, left, 64);
    _tile_stream_loadd(6, right, 64);
    _tile_dpbssd(RE, 4, 6);
    _tile_loadd(5, left + OPERAND, 64);
    _tile_dpbssd(IM_RE, 5, 6);
    _tile_stream_loadd(7, right + OPERAND, 64);
    if (!diagonal)
      _tile_dpbssd(RE_IM, 4, 7);
    _tile_dpbssd(RE, 5, 7);
#pragma GCC unroll 3
    for (guint l = 0; l < PARTS; l++, next_tile += 64)
      __builtin_prefetch(next_tile, 1, 3);
    astro_correlator_ask(ahead);
  }
  _tile_stored(RE, tile, 64);
  _tile_stored(IM_RE, tile + OPERAND, 64);
  _tile_stored(RE_IM, tile + 2 * OPERAND, 64);
}

/* Eight tile registers of 16 rows by 64 bytes. Constant, so that the whole of it is in memory: the
 * compiler thinks that only its start is read. */
static const struct {
  guint8 palette, start, reserved[14];
  guint16 row_bytes[16];
  guint8 rows[16];
} tile_shape = {
  .palette = 1,
  .row_bytes = { 64, 64, 64, 64, 64, 64, 64, 64 },
  .rows = { 16, 16, 16, 16, 16, 16, 16, 16 },
};

/* A row panel is turned before its products and not beside those of the row before: two of them,
 * the columns and the tiles that go by do not fit the first cache. */
void astro_correlator_multiply_int8_amx(const AstroCorrelatorProduct *product)
{
  guint8 row[MOST_STEPS * 2 * OPERAND] __attribute__((aligned(64)));
  AstroCorrelatorAhead ahead = astro_correlator_ahead(product, product->steps);
  _tile_loadconfig(&tile_shape);
  for (guint i = product->rows; i-- > 0;) {
    const guint8 *quads = product->left + i * product->panel_stride;
    guint8 *tile = product->tiles + i * product->tiles_stride;
    guint8 *next_row = i > 0 ? tile - product->tiles_stride : tile;
    guint columns = astro_correlator_columns(product, i);
    for (gsize at = 0; at < 2 * product->steps * OPERAND; at += OPERAND)
      turn(row + at, quads + at);
    for (guint j = 0; j < columns; j++, tile += PARTS * OPERAND)
      multiply_panels(tile, j + 1 < columns ? tile + PARTS * OPERAND : next_row, row,
                      product->right + j * product->panel_stride, product->steps, product->first,
                      j == product->below + i, &ahead);
  }
  _tile_release();
}

/* On the diagonal re im is the transpose of im re, and is not summed. */
static void subtract_transpose(gint32 *im, const gint32 *im_re)
{
  for (guint r = 0; r < PANEL; r++)
    for (guint c = 0; c < PANEL; c++)
      im[r * PANEL + c] = im_re[r * PANEL + c] - im_re[c * PANEL + r];
}

void astro_correlator_add_int8_amx(const AstroCorrelatorPlace *place, const guint8 *tile)
{
  const __m512i *part = (const __m512i *)tile;
  gint32 im[PANEL * PANEL] __attribute__((aligned(64)));
  if (place->row == place->column)
    subtract_transpose(im, (const gint32 *)(tile + OPERAND));
  else
    for (guint r = 0; r < PANEL; r++)
      _mm512_store_si512(im + r * PANEL, _mm512_sub_epi32(part[PANEL + r], part[2 * PANEL + r]));
  add_tile_avx512(place, (const gint32 *)tile, im);
}
