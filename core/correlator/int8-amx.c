/* Matrix tiles: 16 inputs by 64 samples as a row operand (a row of bytes an input), 16 quads by 16
 * inputs as a column operand. re re + im im, im re and re im are summed apart, each in its own tile
 * register, so that nothing is ever negated before the sums are complete. Packed panels are column
 * operands; a row panel is turned from them just before its products. */
#include "core/correlator/tile-int32.h"
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

/* Turns 16 quads of 16 inputs into 16 rows of 64 samples. */
static ALWAYS_INLINE void turn(guint8 *rows, const guint8 *quads)
{
  __m512i part[16]; /* four quads of an input a lane of 128 bits: inputs c, 4 + c, 8 + c, 12 + c */
#pragma GCC unroll 4
  for (guint q = 0; q < 16; q += 4) {
    const __m512i *from = (const __m512i *)(quads + q * 64);
    __m512i low_01 = _mm512_unpacklo_epi32(from[0], from[1]);
    __m512i high_01 = _mm512_unpackhi_epi32(from[0], from[1]);
    __m512i low_23 = _mm512_unpacklo_epi32(from[2], from[3]);
    __m512i high_23 = _mm512_unpackhi_epi32(from[2], from[3]);
    part[q] = _mm512_unpacklo_epi64(low_01, low_23);
    part[q + 1] = _mm512_unpackhi_epi64(low_01, low_23);
    part[q + 2] = _mm512_unpacklo_epi64(high_01, high_23);
    part[q + 3] = _mm512_unpackhi_epi64(high_01, high_23);
  }
#pragma GCC unroll 4
  for (guint c = 0; c < 4; c++) {
    __m512i *to = (__m512i *)(rows + c * 64);
    __m512i early_low = _mm512_shuffle_i32x4(part[c], part[4 + c], 0x44);
    __m512i early_high = _mm512_shuffle_i32x4(part[c], part[4 + c], 0xee);
    __m512i late_low = _mm512_shuffle_i32x4(part[8 + c], part[12 + c], 0x44);
    __m512i late_high = _mm512_shuffle_i32x4(part[8 + c], part[12 + c], 0xee);
    to[0] = _mm512_shuffle_i32x4(early_low, late_low, 0x88);
    to[4] = _mm512_shuffle_i32x4(early_low, late_low, 0xdd);
    to[8] = _mm512_shuffle_i32x4(early_high, late_high, 0x88);
    to[12] = _mm512_shuffle_i32x4(early_high, late_high, 0xdd);
  }
}

static ALWAYS_INLINE void pack(guint8 *out, const AstroCorrelatorRows *rows, AstroFormat format)
{
  __mmask16 inputs = (__mmask16)((1u << rows->inputs) - 1);
  guint whole = inputs == 0xffff ? rows->count / 4 : 0, quads = (rows->count + 63) / 64 * 16;
  for (guint q = 0; q < quads; q++) {
    guint8 *to = out + q / 16 * 2 * OPERAND + q % 16 * 64;
    const guint8 *in = rows->first + 4 * q * rows->stride;
    if (q < whole)
      quad_pack((__m512i *)to, (__m512i *)(to + OPERAND), in, rows->stride, 4, 0xffff, format);
    else
      quad_pack((__m512i *)to, (__m512i *)(to + OPERAND), in, rows->stride,
                rows->count > 4 * q ? rows->count - 4 * q : 0, inputs, format);
  }
}

void astro_correlator_pack_ci8_amx(guint8 *packed, gint32 *bias, const AstroCorrelatorRows *rows)
{
  pack(packed, rows, ASTRO_FORMAT_CI8);
}

void astro_correlator_pack_ci4_amx(guint8 *packed, gint32 *bias, const AstroCorrelatorRows *rows)
{
  pack(packed, rows, ASTRO_FORMAT_CI4);
}

/* What the processor does beside the products, a little at each step. */
typedef struct {
  guint8 *rows; /* operands of the next row panel: where they go, and what is turned into them */
  const guint8 *quads;
  guint operands;      /* to turn */
  const guint8 *fetch; /* memory that will be wanted */
  guint lines;         /* of it in a step */
} Chores;

static ALWAYS_INLINE void turn_one(Chores *chores)
{
  turn(chores->rows, chores->quads);
  chores->rows += OPERAND;
  chores->quads += OPERAND;
  chores->operands--;
}

/* A row panel of a pass stays in the first cache; columns and tiles stream past it. */
static void multiply_panels(guint8 *tile, guint8 *next_tile, const guint8 *left,
                            const guint8 *right, guint steps, gboolean first, gboolean diagonal,
                            Chores *chores)
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
    if (chores->operands)
      turn_one(chores);
    for (guint l = 0; l < chores->lines; l++, chores->fetch += 64)
      _mm_prefetch((const char *)chores->fetch, _MM_HINT_T1);
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

/* So many that the whole of what will be wanted is asked for, evenly. */
static guint lines_in_step(const AstroCorrelatorProduct *product)
{
  gsize steps = 0;
  for (guint i = 0; i < product->rows; i++)
    steps += (gsize)astro_correlator_columns(product, i) * product->steps;
  return (guint)((product->next_bytes / 64 + steps - 1) / steps);
}

/* From the last row up: the longest rows first, so that there is time to turn the next one. */
void astro_correlator_multiply_int8_amx(const AstroCorrelatorProduct *product)
{
  guint8 rows[2][MOST_STEPS * 2 * OPERAND] __attribute__((aligned(64)));
  Chores chores = { .rows = rows[(product->rows - 1) & 1],
                    .quads = product->left + (product->rows - 1) * product->panel_stride,
                    .operands = 2 * product->steps,
                    .fetch = product->next,
                    .lines = lines_in_step(product) };
  _tile_loadconfig(&tile_shape);
  for (guint i = product->rows; i-- > 0;) {
    guint8 *tile = product->tiles + i * product->tiles_stride;
    guint8 *next_row = i > 0 ? tile - product->tiles_stride : tile;
    guint columns = astro_correlator_columns(product, i);
    while (chores.operands)
      turn_one(&chores);
    if (i > 0) {
      chores.rows = rows[(i - 1) & 1];
      chores.quads = product->left + (i - 1) * product->panel_stride;
      chores.operands = 2 * product->steps;
    }
    for (guint j = 0; j < columns; j++, tile += PARTS * OPERAND)
      multiply_panels(tile, j + 1 < columns ? tile + PARTS * OPERAND : next_row, rows[i & 1],
                      product->right + j * product->panel_stride, product->steps, product->first,
                      j == product->below + i, &chores);
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
