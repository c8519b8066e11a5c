/* Matrix tiles, for the kernels of AMX: 16 inputs by 64 samples as a row operand (a row of bytes an
 * input), 16 quads by 16 inputs as a column operand. Packed panels are column operands; a row panel
 * is turned from them just before its products. */
#pragma once

#include "core/correlator/quads.h"

enum {
  OPERAND = 16 * 64, /* bytes of a tile register */
  ASKED_LINES = 4,   /* at a time: more take the line buffers that operands come through */
};

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
