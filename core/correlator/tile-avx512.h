/* tile.h's add_tile with AVX-512, for whole tiles off the diagonal, of 32-bit parts and 64-bit
 * sums. Included with SUM and TILE, and with WIDEN_ADD(sum, parts)  adds 8 parts (__m256i) to the 8
 * sums there */
#include "core/correlator/tile.h"
#include <immintrin.h>

typedef struct {
  __m512i low, high; /* (re, im) of 8 columns each */
} Row;

static inline Row load_row(const TILE *re, const TILE *im)
{
  const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
  __m512i a = _mm512_load_si512(re), b = _mm512_load_si512(im);
  return (Row){ _mm512_permutex2var_epi32(a, low, b), _mm512_permutex2var_epi32(a, high, b) };
}

static inline void add_16(SUM *sum, __m512i parts)
{
  WIDEN_ADD(sum, _mm512_castsi512_si256(parts));
  WIDEN_ADD(sum + 8, _mm512_extracti64x4_epi64(parts, 1));
}

/* The two rows of a station: XX XY YX YY of four stations of the columns. */
static inline void add_station(SUM *sum, __m512i x, __m512i y)
{
  const __m512i early = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
  const __m512i late = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
  add_16(sum, _mm512_permutex2var_epi64(x, early, y));
  add_16(sum + 16, _mm512_permutex2var_epi64(x, late, y));
}

static inline void add_tile_avx512(const AstroCorrelatorPlace *place, const TILE *re,
                                   const TILE *im)
{
  guint64 first = (guint64)place->row * PANEL, column = (guint64)place->column * PANEL;
  if (place->row == place->column || first + PANEL > place->inputs) {
    add_tile(place, re, im);
    return;
  }
  SUM *sums = place->sums;
  if (place->pols == 1) {
    for (guint64 i = first; i < first + PANEL; i++, re += PANEL, im += PANEL) {
      Row row = load_row(re, im);
      SUM *sum = sums + 2 * (i * (i + 1) / 2 + column);
      add_16(sum, row.low);
      add_16(sum + 16, row.high);
    }
    return;
  }
  for (guint64 i = first / 2; i < (first + PANEL) / 2; i++, re += 2 * PANEL, im += 2 * PANEL) {
    Row x = load_row(re, im), y = load_row(re + PANEL, im + PANEL);
    SUM *sum = sums + 8 * (i * (i + 1) / 2 + column / 2);
    add_station(sum, x.low, y.low);
    add_station(sum + 32, x.high, y.high);
  }
}
