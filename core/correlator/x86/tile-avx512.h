/* tile.h's add_tile with AVX-512, for whole tiles off the diagonal with 32-bit parts and 64-bit
 * sums. Included with SUM and TILE, and with
 * WIDEN(parts)           converts 8 parts (__m256i) to doubles
 * WIDEN_ADD(sum, parts)  adds them to the 8 sums there */
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

/* Adds 16 parts to the sums from `at` on, or makes means of them. */
static inline __attribute__((always_inline)) void add_16(const AstroCorrelatorPlace *place,
                                                         guint64 at, __m512i parts, gboolean means)
{
  __m256i low = _mm512_castsi512_si256(parts), high = _mm512_extracti64x4_epi64(parts, 1);
  if (means) {
    __m512d factor = _mm512_set1_pd(place->factor);
    _mm256_storeu_ps(place->means + at, _mm512_cvtpd_ps(_mm512_mul_pd(WIDEN(low), factor)));
    _mm256_storeu_ps(place->means + at + 8, _mm512_cvtpd_ps(_mm512_mul_pd(WIDEN(high), factor)));
    return;
  }
  SUM *sum = (SUM *)place->sums + at;
  WIDEN_ADD(sum, low);
  WIDEN_ADD(sum + 8, high);
}

/* Adds the two rows of a station: XX XY YX YY with four stations of the columns. */
static inline __attribute__((always_inline)) void
add_station(const AstroCorrelatorPlace *place, guint64 at, __m512i x, __m512i y, gboolean means)
{
  const __m512i early = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
  const __m512i late = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
  add_16(place, at, _mm512_permutex2var_epi64(x, early, y), means);
  add_16(place, at + 16, _mm512_permutex2var_epi64(x, late, y), means);
}

static inline __attribute__((always_inline)) void
add_whole_tile(const AstroCorrelatorPlace *place, const TILE *re, const TILE *im, gboolean means)
{
  guint64 first = (guint64)place->row * PANEL, column = (guint64)place->column * PANEL;
  if (place->pols == 1) {
    for (guint64 i = first; i < first + PANEL; i++, re += PANEL, im += PANEL) {
      Row row = load_row(re, im);
      guint64 at = 2 * (i * (i + 1) / 2 + column);
      add_16(place, at, row.low, means);
      add_16(place, at + 16, row.high, means);
    }
    return;
  }
  for (guint64 i = first / 2; i < (first + PANEL) / 2; i++, re += 2 * PANEL, im += 2 * PANEL) {
    Row x = load_row(re, im), y = load_row(re + PANEL, im + PANEL);
    guint64 at = 8 * (i * (i + 1) / 2 + column / 2);
    add_station(place, at, x.low, y.low, means);
    add_station(place, at + 32, x.high, y.high, means);
  }
}

static inline void add_tile_avx512(const AstroCorrelatorPlace *place, const TILE *re,
                                   const TILE *im)
{
  if (place->row == place->column || (place->row + 1) * PANEL > place->inputs)
    add_tile(place, re, im);
  else if (place->means)
    add_whole_tile(place, re, im, TRUE);
  else
    add_whole_tile(place, re, im, FALSE);
}
