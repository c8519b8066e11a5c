/* The filter with AVX-512. */
#include "config.h"
#include "core/channelizer/fir.h"

#include <immintrin.h>

#define LANES 16
#define ROWS 4 /* rows that share a load of weights */

/* Sums n_rows rows of n_vectors vectors; mask selects lanes of the last one. The loops are unrolled
 * at all optimization levels, as the sums would not stay in registers otherwise. */
static inline __attribute__((always_inline)) void
add_block(float *out, gsize out_stride, const float *in, gsize in_stride, const float *weights,
          gsize weights_stride, guint taps, const guint n_rows, const guint n_vectors,
          const __mmask16 mask)
{
  __m512 sums[ROWS][4];
#pragma GCC unroll 4
  for (guint row = 0; row < n_rows; row++)
#pragma GCC unroll 4
    for (guint v = 0; v < n_vectors; v++)
      sums[row][v] = _mm512_setzero_ps();
  for (guint t = 0; t < taps; t++) {
#pragma GCC unroll 4
    for (guint v = 0; v < n_vectors; v++) {
      const __mmask16 lanes = v + 1 == n_vectors ? mask : 0xffff;
      __m512 weight = _mm512_maskz_loadu_ps(lanes, weights + v * LANES);
#pragma GCC unroll 4
      for (guint row = 0; row < n_rows; row++)
        sums[row][v] = _mm512_fmadd_ps(
            weight, _mm512_maskz_loadu_ps(lanes, in + row * in_stride + v * LANES), sums[row][v]);
    }
    in += in_stride;
    weights += weights_stride;
  }
#pragma GCC unroll 4
  for (guint row = 0; row < n_rows; row++)
#pragma GCC unroll 4
    for (guint v = 0; v < n_vectors; v++)
      _mm512_mask_storeu_ps(out + row * out_stride + v * LANES, v + 1 == n_vectors ? mask : 0xffff,
                            sums[row][v]);
}

static inline __attribute__((always_inline)) void
add_columns(float *out, gsize out_stride, const float *in, gsize in_stride, const float *weights,
            gsize weights_stride, guint taps, guint rows, const guint n_vectors,
            const __mmask16 mask)
{
  guint row = 0;
  for (; row + ROWS <= rows; row += ROWS)
    add_block(out + row * out_stride, out_stride, in + row * in_stride, in_stride, weights,
              weights_stride, taps, ROWS, n_vectors, mask);
  for (; row < rows; row++)
    add_block(out + row * out_stride, out_stride, in + row * in_stride, in_stride, weights,
              weights_stride, taps, 1, n_vectors, mask);
}

void astro_fir_avx512(float *out, gsize out_stride, const float *in, gsize in_stride,
                      const float *weights, gsize weights_stride, gsize width, guint taps,
                      guint rows)
{
  gsize i = 0;
  for (; i + 2 * LANES <= width; i += 2 * LANES)
    add_columns(out + i, out_stride, in + i, in_stride, weights + i, weights_stride, taps, rows, 2,
                0xffff);
  for (; i < width; i += LANES)
    add_columns(out + i, out_stride, in + i, in_stride, weights + i, weights_stride, taps, rows, 1,
                (__mmask16)(0xffff >> (LANES - MIN(LANES, width - i))));
}
