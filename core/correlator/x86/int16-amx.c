/* Products of 16-bit samples by matrix tiles of bytes: a signed high digit and an unsigned low one;
 * everything is exact. */
#define TILE double
#define SUM gint64
#include "core/correlator/tile.h"

#define DIGITS 2
#define RANKS 3
#define MOST_STEPS 4
#include "core/correlator/x86/bytewise.h"

static ALWAYS_INLINE void pack_quads(guint8 *to, gconstpointer traits, const guint8 *in,
                                     gsize stride, guint count, guint inputs)
{
  const __mmask16 mask = (__mmask16)((1u << inputs) - 1);
  __m512i steps[4], quads[4];
#pragma GCC unroll 4
  for (guint t = 0; t < 4; t++)
    steps[t] = t >= count        ? _mm512_setzero_si512()
               : inputs == PANEL ? _mm512_loadu_si512(in + t * stride)
                                 : _mm512_maskz_loadu_epi32(mask, in + t * stride);
  quads_of_bytes(quads, steps);
  _mm512_store_si512(to, quads[1]);
  _mm512_store_si512(to + OPERAND, quads[0]);
  _mm512_store_si512(to + PART, quads[3]);
  _mm512_store_si512(to + PART + OPERAND, quads[2]);
}

void astro_correlator_pack_ci16_amx(guint8 *packed, gpointer traits,
                                    const AstroCorrelatorRows *rows)
{
  pack_rows(packed, traits, rows, 4, 2 * DIGITS, pack_quads);
}

static ALWAYS_INLINE void multiply_digits(const guint8 *left, const guint8 *right)
{
  _tile_loadd(6, right, 64);
  _tile_loadd(4, left, 64);
  _tile_dpbssd(0, 4, 6);
  _tile_loadd(7, right + OPERAND, 64);
  _tile_dpbsud(1, 4, 7);
  _tile_loadd(5, left + OPERAND, 64);
  _tile_dpbusd(1, 5, 6);
  _tile_dpbuud(2, 5, 7);
}

static ALWAYS_INLINE void add_values(const Target *to, const Sums sums)
{
  const __m512d digit = _mm512_set1_pd(256);
#pragma GCC unroll 4
  for (guint i = 0; i < PAIRS; i += 8) {
    __m512d value = _mm512_setzero_pd();
#pragma GCC unroll 3
    for (guint rank = 0; rank < RANKS; rank++) {
      __m512d sum = _mm512_cvtepi32_pd(_mm256_load_si256((const __m256i *)(sums[rank] + i)));
      value = rank ? _mm512_fmadd_pd(value, digit, sum) : sum;
    }
    __m512d before = to->first ? _mm512_setzero_pd() : _mm512_load_pd(to->part + i);
    _mm512_store_pd(to->part + i,
                    to->minus ? _mm512_sub_pd(before, value) : _mm512_add_pd(before, value));
  }
}

DIGITS_KERNEL(int16_amx, add_tile)
