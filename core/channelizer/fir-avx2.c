/* The filter with AVX2. */
#include "config.h"
#include "core/channelizer/fir.h"

#include <immintrin.h>

#define LANES 8
#define ROWS 4 /* rows that share a load of weights */

/* A mask of the first lanes, as many as the width has. */
static inline __m256i first_lanes(gsize width)
{
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)MIN(width, LANES)), lane);
}

/* Sums n_rows rows of n_vectors whole vectors. The loops are unrolled at all optimization levels,
 * as the sums would not stay in registers otherwise. */
static inline __attribute__((always_inline)) void
add_block(float *out, gsize out_stride, const float *in, gsize in_stride, const float *weights,
          gsize weights_stride, guint taps, const guint n_rows, const guint n_vectors)
{
  __m256 sums[ROWS][2];
#pragma GCC unroll 4
  for (guint row = 0; row < n_rows; row++)
#pragma GCC unroll 4
    for (guint v = 0; v < n_vectors; v++)
      sums[row][v] = _mm256_setzero_ps();
  for (guint t = 0; t < taps; t++) {
#pragma GCC unroll 4
    for (guint v = 0; v < n_vectors; v++) {
      __m256 weight = _mm256_loadu_ps(weights + v * LANES);
#pragma GCC unroll 4
      for (guint row = 0; row < n_rows; row++)
        sums[row][v] = _mm256_fmadd_ps(weight, _mm256_loadu_ps(in + row * in_stride + v * LANES),
                                       sums[row][v]);
    }
    in += in_stride;
    weights += weights_stride;
  }
#pragma GCC unroll 4
  for (guint row = 0; row < n_rows; row++)
#pragma GCC unroll 4
    for (guint v = 0; v < n_vectors; v++)
      _mm256_storeu_ps(out + row * out_stride + v * LANES, sums[row][v]);
}

static void add_rest(float *out, const float *in, gsize in_stride, const float *weights,
                     gsize weights_stride, guint taps, __m256i lanes)
{
  __m256 sum = _mm256_setzero_ps();
  for (guint t = 0; t < taps; t++) {
    sum = _mm256_fmadd_ps(_mm256_maskload_ps(weights, lanes), _mm256_maskload_ps(in, lanes), sum);
    in += in_stride;
    weights += weights_stride;
  }
  _mm256_maskstore_ps(out, lanes, sum);
}

void astro_fir_avx2(float *out, gsize out_stride, const float *in, gsize in_stride,
                    const float *weights, gsize weights_stride, gsize width, guint taps, guint rows)
{
  gsize i = 0;
  for (; i + 2 * LANES <= width; i += 2 * LANES) {
    guint row = 0;
    for (; row + ROWS <= rows; row += ROWS)
      add_block(out + row * out_stride + i, out_stride, in + row * in_stride + i, in_stride,
                weights + i, weights_stride, taps, ROWS, 2);
    for (; row < rows; row++)
      add_block(out + row * out_stride + i, out_stride, in + row * in_stride + i, in_stride,
                weights + i, weights_stride, taps, 1, 2);
  }
  for (; i < width; i += LANES)
    for (guint row = 0; row < rows; row++)
      add_rest(out + row * out_stride + i, in + row * in_stride + i, in_stride, weights + i,
               weights_stride, taps, first_lanes(width - i));
}
