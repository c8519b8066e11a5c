/* Kernels for float samples with AVX-512. */
#define SCALAR float
#define TILE float
#define BYTES 64
#define ROWS 4
#define VECTORS 2
#define CHUNK 32
#define RUN 32
#define CHAINS 2
#include "core/correlator/outer.h"

#include "core/correlator/x86/tile-float.h"

static inline void store_planes(float *out, __m512 re, __m512 im)
{
  _mm512_store_ps(out, re);
  _mm512_store_ps(out + PART, im);
  _mm512_store_ps(out + 2 * PART, _mm512_add_ps(re, im));
  _mm512_store_ps(out + 3 * PART, _mm512_sub_ps(re, im));
}

static inline void fill_step(guint8 *packed, guint count)
{
  for (guint t = count; t % CHAINS; t++)
    store_planes(packed_lanes(packed, t), _mm512_setzero_ps(), _mm512_setzero_ps());
}

void astro_correlator_pack_cf32_avx512(guint8 *packed, gpointer traits,
                                       const AstroCorrelatorRows *rows)
{
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
  const guint inputs = (1u << rows->inputs) - 1;
  for (guint t = 0; t < rows->count; t++) {
    float *out = packed_lanes(packed, t);
    const guint8 *in = rows->first + t * rows->stride;
    __m512 a = _mm512_castpd_ps(_mm512_maskz_loadu_pd((__mmask8)inputs, in));
    __m512 b = _mm512_castpd_ps(_mm512_maskz_loadu_pd((__mmask8)(inputs >> 8), in + 64));
    store_planes(out, _mm512_permutex2var_ps(a, even, b), _mm512_permutex2var_ps(a, odd, b));
  }
  fill_step(packed, rows->count);
}

void astro_correlator_pack_cf16_avx512(guint8 *packed, gpointer traits,
                                       const AstroCorrelatorRows *rows)
{
  __mmask16 inputs = (__mmask16)((1u << rows->inputs) - 1);
  for (guint t = 0; t < rows->count; t++) {
    float *out = packed_lanes(packed, t);
    __m512i pairs = _mm512_maskz_loadu_epi32(inputs, rows->first + t * rows->stride);
    __m256i re = _mm512_cvtepi32_epi16(pairs);
    __m256i im = _mm512_cvtepi32_epi16(_mm512_srli_epi32(pairs, 16));
    store_planes(out, _mm512_cvtph_ps(re), _mm512_cvtph_ps(im));
  }
  fill_step(packed, rows->count);
}

MULTIPLY_ROWS(float_avx512)
ADD_TILES(float_avx512, add_tile_avx512)
