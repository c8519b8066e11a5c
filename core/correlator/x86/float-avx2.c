/* Kernels for float samples with AVX2. */
#define SCALAR float
#define TILE float
#define BYTES 32
#define ROWS 4
#define VECTORS 2
#define CHUNK 16
#define RUN 16
#include "core/correlator/outer.h"

#define SUM double
#include "core/correlator/tile.h"
#include <immintrin.h>

/* Packs 8 samples' lanes of all planes. */
static inline void part_8(float *out, __m256 a, __m256 b)
{
  __m256d even = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0x88));
  __m256d odd = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0xdd));
  __m256 re = _mm256_castpd_ps(_mm256_permute4x64_pd(even, 0xd8));
  __m256 im = _mm256_castpd_ps(_mm256_permute4x64_pd(odd, 0xd8));
  _mm256_store_ps(out, re);
  _mm256_store_ps(out + PART, im);
  _mm256_store_ps(out + 2 * PART, _mm256_add_ps(re, im));
  _mm256_store_ps(out + 3 * PART, _mm256_sub_ps(re, im));
}

void astro_correlator_pack_cf32_avx2(guint8 *packed, gpointer traits,
                                     const AstroCorrelatorRows *rows)
{
  float part[2 * PANEL] = { 0 };
  for (guint t = 0; t < rows->count; t++) {
    float *out = packed_lanes(packed, t);
    const float *in = (const float *)(rows->first + t * rows->stride);
    if (rows->inputs < PANEL)
      in = memcpy(part, in, rows->inputs * 8);
    part_8(out, _mm256_loadu_ps(in), _mm256_loadu_ps(in + 8));
    part_8(out + 8, _mm256_loadu_ps(in + 16), _mm256_loadu_ps(in + 24));
  }
}

void astro_correlator_pack_cf16_avx2(guint8 *packed, gpointer traits,
                                     const AstroCorrelatorRows *rows)
{
  guint16 part[2 * PANEL] = { 0 };
  for (guint t = 0; t < rows->count; t++) {
    float *out = packed_lanes(packed, t);
    const guint8 *bytes = rows->first + t * rows->stride;
    if (rows->inputs < PANEL)
      bytes = memcpy(part, bytes, rows->inputs * 4);
    const __m128i *in = (const __m128i *)bytes;
    part_8(out, _mm256_cvtph_ps(_mm_loadu_si128(in)), _mm256_cvtph_ps(_mm_loadu_si128(in + 1)));
    part_8(out + 8, _mm256_cvtph_ps(_mm_loadu_si128(in + 2)),
           _mm256_cvtph_ps(_mm_loadu_si128(in + 3)));
  }
}

MULTIPLY_ROWS(float_avx2)
ADD_TILES(float_avx2, add_tile)
