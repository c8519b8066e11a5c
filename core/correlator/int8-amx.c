/* Matrix tiles: 16 inputs by 64 samples as a row operand (a row of bytes an input), 16 quads by 16
 * inputs as a column operand. re re, im im, im re and re im are summed apart, each in its own tile
 * register, so that nothing is ever negated before the sums are complete. */
#include "core/correlator/tile-int32.h"
#include "core/correlator/quads.h"

enum {
  SAMPLES = 64,      /* of a step */
  LINES = 8,         /* of memory asked for in a step */
  OPERAND = 16 * 64, /* bytes of a tile register */
};

/* Turns 16 quads of 16 inputs into 16 rows of 64 samples: lanes of 128 bits by the loads, lanes of
 * 32 bits within them by the shuffles. */
static inline void turn(guint8 *rows, const guint8 *quads)
{
#pragma GCC unroll 4
  for (guint l = 0; l < 4; l++) {
    __m512i q[4];
#pragma GCC unroll 4
    for (guint r = 0; r < 4; r++) {
      const __m128i *from = (const __m128i *)(quads + r * 64 + l * 16);
      __m512i lanes = _mm512_castsi128_si512(_mm_load_si128(from));
      lanes = _mm512_mask_broadcast_i32x4(lanes, 0x00f0, _mm_load_si128(from + 16));
      lanes = _mm512_mask_broadcast_i32x4(lanes, 0x0f00, _mm_load_si128(from + 32));
      q[r] = _mm512_mask_broadcast_i32x4(lanes, 0xf000, _mm_load_si128(from + 48));
    }
    __m512i low_01 = _mm512_unpacklo_epi32(q[0], q[1]), high_01 = _mm512_unpackhi_epi32(q[0], q[1]);
    __m512i low_23 = _mm512_unpacklo_epi32(q[2], q[3]), high_23 = _mm512_unpackhi_epi32(q[2], q[3]);
    _mm512_store_si512(rows + (4 * l + 0) * 64, _mm512_unpacklo_epi64(low_01, low_23));
    _mm512_store_si512(rows + (4 * l + 1) * 64, _mm512_unpackhi_epi64(low_01, low_23));
    _mm512_store_si512(rows + (4 * l + 2) * 64, _mm512_unpacklo_epi64(high_01, high_23));
    _mm512_store_si512(rows + (4 * l + 3) * 64, _mm512_unpackhi_epi64(high_01, high_23));
  }
}

static ALWAYS_INLINE void pack_step(guint8 *left, guint8 *right, const guint8 *in, gsize stride,
                                    guint count, __mmask16 inputs, AstroFormat format)
{
  for (guint q = 0; q < 16; q++, in += 4 * stride)
    quad_pack((__m512i *)(right + q * 64), (__m512i *)(right + OPERAND + q * 64), in, stride,
              count > 4 * q ? count - 4 * q : 0, inputs, format);
  turn(left, right);
  turn(left + OPERAND, right + OPERAND);
}

static ALWAYS_INLINE void pack(guint8 *left, guint8 *right, const AstroCorrelatorRows *rows,
                               AstroFormat format)
{
  __mmask16 inputs = (__mmask16)((1u << rows->inputs) - 1);
  for (guint t = 0; t < rows->count; t += SAMPLES, left += 2 * OPERAND, right += 2 * OPERAND) {
    const guint8 *in = rows->first + t * rows->stride;
    if (rows->count - t >= SAMPLES && inputs == 0xffff)
      pack_step(left, right, in, rows->stride, SAMPLES, 0xffff, format);
    else
      pack_step(left, right, in, rows->stride, rows->count - t, inputs, format);
  }
}

void astro_correlator_pack_ci8_amx(guint8 *left, guint8 *right, gint32 *bias,
                                   const AstroCorrelatorRows *rows)
{
  pack(left, right, rows, ASTRO_FORMAT_CI8);
}

void astro_correlator_pack_ci4_amx(guint8 *left, guint8 *right, gint32 *bias,
                                   const AstroCorrelatorRows *rows)
{
  pack(left, right, rows, ASTRO_FORMAT_CI4);
}

/* A row panel of a pass stays in the first cache; columns and tiles stream past it. */
static void multiply_panels(guint8 *tile, const guint8 *left, const guint8 *right, guint steps,
                            gboolean first, const guint8 *next)
{
  if (first) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  } else {
    _tile_stream_loadd(0, tile, 64);
    _tile_stream_loadd(1, tile + OPERAND, 64);
    _tile_stream_loadd(2, tile + 2 * OPERAND, 64);
    _tile_stream_loadd(3, tile + 3 * OPERAND, 64);
  }
  for (guint s = 0; s < steps; s++, left += 2 * OPERAND, right += 2 * OPERAND) {
    _tile_loadd(4, left, 64);
    _tile_stream_loadd(6, right, 64);
    _tile_dpbssd(0, 4, 6);
    _tile_loadd(5, left + OPERAND, 64);
    _tile_dpbssd(1, 5, 6);
    _tile_stream_loadd(7, right + OPERAND, 64);
    _tile_dpbssd(2, 4, 7);
    _tile_dpbssd(3, 5, 7);
    if (next) {
#pragma GCC unroll 8
      for (guint l = 0; l < LINES; l++)
        _mm_prefetch((const char *)next + l * 64, _MM_HINT_T1);
      next += LINES * 64;
    }
  }
  _tile_stored(0, tile, 64);
  _tile_stored(1, tile + OPERAND, 64);
  _tile_stored(2, tile + 2 * OPERAND, 64);
  _tile_stored(3, tile + 3 * OPERAND, 64);
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

void astro_correlator_multiply_int8_amx(const AstroCorrelatorProduct *product)
{
  _tile_loadconfig(&tile_shape);
  const guint8 *next = product->next;
  gsize left_over = product->next_bytes, pair_bytes = (gsize)product->steps * LINES * 64;
  for (guint i = 0; i < product->rows; i++)
    for (guint j = 0; j < (product->diagonal ? i + 1 : product->columns); j++) {
      guint8 *tile = product->tiles + i * product->tiles_stride + j * 4 * OPERAND;
      const guint8 *left = product->left + i * product->left_stride;
      const guint8 *right = product->right + j * product->right_stride;
      if (left_over >= pair_bytes) {
        multiply_panels(tile, left, right, product->steps, product->first, next);
        next += pair_bytes;
        left_over -= pair_bytes;
      } else {
        multiply_panels(tile, left, right, product->steps, product->first, NULL);
      }
    }
  _tile_release();
}

void astro_correlator_add_int8_amx(const AstroCorrelatorPlace *place, const guint8 *tile)
{
  const __m512i *part = (const __m512i *)tile;
  gint32 re[PANEL * PANEL] __attribute__((aligned(64))),
      im[PANEL * PANEL] __attribute__((aligned(64)));
  for (guint r = 0; r < PANEL; r++) {
    _mm512_store_si512(re + r * PANEL, _mm512_add_epi32(part[r], part[3 * PANEL + r]));
    _mm512_store_si512(im + r * PANEL, _mm512_sub_epi32(part[PANEL + r], part[2 * PANEL + r]));
  }
  add_tile_avx512(place, re, im);
}
