#define SCALAR float
#define BYTES 32
#define ROWS 4
#define VECTORS 1
#define PARTIAL 32
#define MULTIPLY astro_correlator_multiply_float_avx2
#include "core/correlator/outer.h"

#define TILE float
#define SUM double
#include "core/correlator/tile.h"
#include <immintrin.h>

/* 8 samples: real parts to out, imaginary parts behind the panel's real ones. */
static inline void part_8(float *out, __m256 a, __m256 b)
{
  __m256d re = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0x88));
  __m256d im = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0xdd));
  _mm256_store_pd((double *)out, _mm256_permute4x64_pd(re, 0xd8));
  _mm256_store_pd((double *)(out + PANEL), _mm256_permute4x64_pd(im, 0xd8));
}

void astro_correlator_pack_cf32_avx2(guint8 *packed, gint32 *bias, const AstroCorrelatorRows *rows)
{
  float part[2 * PANEL] = { 0 }, *out = (float *)packed;
  for (guint t = 0; t < rows->count; t++, out += 2 * PANEL) {
    const float *in = (const float *)(rows->first + t * rows->stride);
    if (rows->inputs < PANEL)
      in = memcpy(part, in, rows->inputs * 8);
    part_8(out, _mm256_loadu_ps(in), _mm256_loadu_ps(in + 8));
    part_8(out + 8, _mm256_loadu_ps(in + 16), _mm256_loadu_ps(in + 24));
  }
}

void astro_correlator_pack_cf16_avx2(guint8 *packed, gint32 *bias, const AstroCorrelatorRows *rows)
{
  guint16 part[2 * PANEL] = { 0 };
  float *out = (float *)packed;
  for (guint t = 0; t < rows->count; t++, out += 2 * PANEL) {
    const guint8 *bytes = rows->first + t * rows->stride;
    if (rows->inputs < PANEL)
      bytes = memcpy(part, bytes, rows->inputs * 4);
    const __m128i *in = (const __m128i *)bytes;
    part_8(out, _mm256_cvtph_ps(_mm_loadu_si128(in)), _mm256_cvtph_ps(_mm_loadu_si128(in + 1)));
    part_8(out + 8, _mm256_cvtph_ps(_mm_loadu_si128(in + 2)),
           _mm256_cvtph_ps(_mm_loadu_si128(in + 3)));
  }
}

ADD_TILES(float_avx2, add_tile)
