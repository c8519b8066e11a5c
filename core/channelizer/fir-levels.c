/* The filter for AVX2 and AVX-512: a few rows and vectors of columns at a time, whose sums stay in
 * registers. */
#include "config.h"
#include "core/channelizer/fir.h"

#include "core/backend/level.h"
#include "core/kit/vector.h"

#define INLINE static inline __attribute__((always_inline))
/* Whatever the optimization, or sums would not stay in registers. */
#define UNROLL _Pragma("GCC unroll 4")
#define ROWS 4 /* that share the loads of weights */

/* ---- the first lanes of a vector, for what is left of a row; others are 0, and not stored ---- */

#ifdef ASTRO_LEVEL_AVX512
typedef __mmask16 Lanes;
#define FIRST_LANES(n) (__mmask16)(0xffff >> (LEVEL_FLOATS - (n)))
#define LOAD_LANES(from, lanes) (Floats) _mm512_maskz_loadu_ps(lanes, from)
#define STORE_LANES(to, lanes, sum) _mm512_mask_storeu_ps(to, lanes, sum)
#else
typedef __m256i Lanes;
#define FIRST_LANES(n)                                                                             \
  _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))
#define LOAD_LANES(from, lanes) (Floats) _mm256_maskload_ps(from, lanes)
#define STORE_LANES(to, lanes, sum) _mm256_maskstore_ps(to, lanes, sum)
#endif

/* Where there are registers enough, a row is loaded once for all the sums that it goes into: at
 * each tap the rows are those of the tap before, one further on. */
#define KEEPS_ROWS (LEVEL_REGISTERS >= 32)

/* Sums of n_rows rows: of two whole vectors of columns, or of some lanes of one. */
INLINE void add_block(float *out, gsize out_stride, const float *in, gsize in_stride,
                      const float *weights, gsize weights_stride, guint taps, const guint n_rows,
                      const gboolean is_whole, const Lanes lanes)
{
#define LOAD(from) (is_whole ? floats_load(from) : LOAD_LANES(from, lanes))
  const guint n_vectors = is_whole ? 2 : 1, last = n_rows - 1;
  Floats sums[ROWS][2], rows[ROWS][2];
  UNROLL for (guint row = 0; row < n_rows; row++) UNROLL for (guint v = 0; v < n_vectors; v++)
  {
    sums[row][v] = (Floats){ 0 };
    if (KEEPS_ROWS && row < last)
      rows[row][v] = LOAD(in + row * in_stride + v * LEVEL_FLOATS);
  }
  for (guint t = 0; t < taps; t++) {
    UNROLL for (guint v = 0; v < n_vectors; v++)
    {
      const Floats weight = LOAD(weights + v * LEVEL_FLOATS);
      UNROLL for (guint row = 0; row < n_rows; row++)
      {
        if (!KEEPS_ROWS || row == last)
          rows[row][v] = LOAD(in + row * in_stride + v * LEVEL_FLOATS);
        sums[row][v] = floats_multiply_add(weight, rows[row][v], sums[row][v]);
        if (KEEPS_ROWS && row > 0)
          rows[row - 1][v] = rows[row][v];
      }
    }
    in += in_stride;
    weights += weights_stride;
  }
  UNROLL for (guint row = 0; row < n_rows; row++) UNROLL for (guint v = 0; v < n_vectors; v++)
  {
    float *to = out + row * out_stride + v * LEVEL_FLOATS;
    if (is_whole)
      floats_store(to, sums[row][v]);
    else
      STORE_LANES(to, lanes, sums[row][v]);
  }
}

INLINE void add_columns(float *out, gsize out_stride, const float *in, gsize in_stride,
                        const float *weights, gsize weights_stride, guint taps, guint rows,
                        const gboolean is_whole, const Lanes lanes)
{
  guint row = 0;
  for (; row + ROWS <= rows; row += ROWS)
    add_block(out + row * out_stride, out_stride, in + row * in_stride, in_stride, weights,
              weights_stride, taps, ROWS, is_whole, lanes);
  for (; row < rows; row++)
    add_block(out + row * out_stride, out_stride, in + row * in_stride, in_stride, weights,
              weights_stride, taps, 1, is_whole, lanes);
}

void LEVEL_NAMED(astro_fir)(float *out, gsize out_stride, const float *in, gsize in_stride,
                            const float *weights, gsize weights_stride, gsize width, guint taps,
                            guint rows)
{
  const Lanes all = FIRST_LANES(LEVEL_FLOATS);
  gsize i = 0;
  for (; i + 2 * LEVEL_FLOATS <= width; i += 2 * LEVEL_FLOATS)
    add_columns(out + i, out_stride, in + i, in_stride, weights + i, weights_stride, taps, rows,
                TRUE, all);
  for (; i < width; i += LEVEL_FLOATS)
    add_columns(out + i, out_stride, in + i, in_stride, weights + i, weights_stride, taps, rows,
                FALSE, FIRST_LANES((int)MIN(LEVEL_FLOATS, width - i)));
}
