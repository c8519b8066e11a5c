/* Products of samples, and of their sums and differences, in int16: two time steps of an input
 * share a lane of 32 bits, so that one multiply-add instruction handles both. */
#include "core/correlator/kernels.h"
#include <immintrin.h>

typedef gint32 Lanes8 __attribute__((vector_size(32), may_alias));
typedef gint32 Lanes4 __attribute__((vector_size(16), may_alias));

static inline Lanes8 multiply_add_8(Lanes8 sum, Lanes8 a, Lanes8 b)
{
  return (Lanes8)_mm256_add_epi32((__m256i)sum, _mm256_madd_epi16((__m256i)a, (__m256i)b));
}

static inline Lanes4 multiply_add_4(Lanes4 sum, Lanes4 a, Lanes4 b)
{
  return (Lanes4)_mm_add_epi32((__m128i)sum, _mm_madd_epi16((__m128i)a, (__m128i)b));
}

#define SCALAR gint32
#define TILE gint32
#define BYTES 32
#define ROWS 4
#define VECTORS 2
#define MULTIPLY_ADD(sum, a, b)                                                                    \
  _Generic((sum), Lanes8 : multiply_add_8, Lanes4 : multiply_add_4)(sum, a, b)
#define CHUNK 32
#define RUN 128
#include "core/correlator/outer.h"

#define SUM gint64
#include "core/correlator/tile.h"

/* Packs bytes re im of 8 inputs at two time steps. */
static inline void pack_8(gint32 *out, __m128i early, __m128i late)
{
  /* re re' of an input, then im im'. */
  __m256i re_im = _mm256_setr_m128i(_mm_unpacklo_epi8(early, late), _mm_unpackhi_epi8(early, late));
  __m256i low = _mm256_cvtepi8_epi16(_mm256_castsi256_si128(re_im));
  __m256i high = _mm256_cvtepi8_epi16(_mm256_extracti128_si256(re_im, 1));
  __m256 a = _mm256_castsi256_ps(low), b = _mm256_castsi256_ps(high);
  __m256i re = _mm256_permute4x64_epi64(_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88)), 0xd8);
  __m256i im = _mm256_permute4x64_epi64(_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xdd)), 0xd8);
  _mm256_store_si256((__m256i *)out, re);
  _mm256_store_si256((__m256i *)(out + PART), im);
  _mm256_store_si256((__m256i *)(out + 2 * PART), _mm256_add_epi16(re, im));
  _mm256_store_si256((__m256i *)(out + 3 * PART), _mm256_sub_epi16(re, im));
}

/* A row of 16 samples as bytes re im; zeros if there is no such row. */
typedef struct {
  __m128i low, high;
} Row;

static inline Row row_ci8(const AstroCorrelatorRows *rows, guint t)
{
  gint8 part[2 * PANEL] = { 0 };
  const void *in = part;
  if (t < rows->count)
    in = rows->inputs == PANEL ? rows->first + t * rows->stride
                               : memcpy(part, rows->first + t * rows->stride, 2 * rows->inputs);
  return (Row){ _mm_loadu_si128(in), _mm_loadu_si128((const __m128i *)in + 1) };
}

static inline Row row_ci4(const AstroCorrelatorRows *rows, guint t)
{
  const __m128i nibble = _mm_set1_epi8(15);
  const __m128i value = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1);
  gint8 part[PANEL] = { 0 };
  const void *in = part;
  if (t < rows->count)
    in = rows->inputs == PANEL ? rows->first + t * rows->stride
                               : memcpy(part, rows->first + t * rows->stride, rows->inputs);
  __m128i bytes = _mm_loadu_si128(in);
  __m128i re = _mm_shuffle_epi8(value, _mm_and_si128(_mm_srli_epi16(bytes, 4), nibble));
  __m128i im = _mm_shuffle_epi8(value, _mm_and_si128(bytes, nibble));
  return (Row){ _mm_unpacklo_epi8(re, im), _mm_unpackhi_epi8(re, im) };
}

#define PACK(name)                                                                                 \
  void astro_correlator_pack_##name##_avx2(guint8 *packed, gpointer traits,                        \
                                           const AstroCorrelatorRows *rows)                        \
  {                                                                                                \
    for (guint t = 0; t < rows->count; t += 2) {                                                   \
      gint32 *out = packed_lanes(packed, t / 2);                                                   \
      Row early = row_##name(rows, t), late = row_##name(rows, t + 1);                             \
      pack_8(out, early.low, late.low);                                                            \
      pack_8(out + 8, early.high, late.high);                                                      \
    }                                                                                              \
  }

PACK(ci8)
PACK(ci4)
MULTIPLY_ROWS(int8_avx2)
ADD_TILES(int8_avx2, add_tile)
