/* Matrix tiles for AMX kernels: 16 inputs by 64 samples as a row operand (a row of bytes per
 * input), and 16 quads by 16 inputs as a column operand. Packed panels are column operands; a row
 * panel is transposed from them just before its products. */
#pragma once

#include "core/correlator/x86/pack-fours.h"
#include "core/kit/tile-registers.h"

enum { OPERAND = 16 * 64 }; /* bytes of a tile register */

/* Transposes 16 quads of 16 inputs to 16 rows of 64 samples, four inputs at a time. Lanes are
 * combined while loading, which saves half of the permutations. */
static ALWAYS_INLINE void transpose(guint8 *rows, const guint8 *quads)
{
  for (guint lane = 0; lane < 4; lane++) {
    const __m128i *from = (const __m128i *)quads + lane;
    __m512i *to = (__m512i *)rows + 4 * lane;
    __m512i part[4]; /* for four inputs: quads q, 4 + q, 8 + q, 12 + q, one per 128-bit lane */
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

/* Packs four time steps, of which count exist, for some inputs of a panel; the rest is zero. */
typedef void (*PackQuads)(guint8 *to, gconstpointer traits, const guint8 *in, gsize stride,
                          guint count, guint inputs);

/* Packs four time steps of all panels, then the next four: this is the order in memory, so that the
 * processor prefetches by itself. operands: per step. For whole panels arguments are constants, so
 * that the compiler can merge loads. */
static ALWAYS_INLINE void pack_rows(guint8 *packed, gconstpointer traits,
                                    const AstroCorrelatorRows *rows, gsize sample_bytes,
                                    guint operands, PackQuads pack_quads)
{
  const guint quads = (rows->count + 63) / 64 * 16, whole_quads = rows->count / 4;
  const guint whole_panels = rows->inputs == PANEL ? rows->panels : rows->panels - 1;
  for (guint q = 0; q < quads; q++) {
    guint8 *to = packed + q / 16 * operands * OPERAND + q % 16 * 64;
    const guint8 *in = rows->first + 4 * q * rows->stride, *of = traits;
    const guint count = rows->count > 4 * q ? rows->count - 4 * q : 0;
    guint p = 0;
    for (; q < whole_quads && p < whole_panels; p++) {
      pack_quads(to, of, in, rows->stride, 4, PANEL);
      to += rows->panel_stride;
      of += rows->panel_stride;
      in += PANEL * sample_bytes;
    }
    for (; p < rows->panels; p++) {
      pack_quads(to, of, in, rows->stride, count, p < whole_panels ? PANEL : rows->inputs);
      to += rows->panel_stride;
      of += rows->panel_stride;
      in += PANEL * sample_bytes;
    }
  }
}
