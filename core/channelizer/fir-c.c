/* The filter in portable C. */
#include "config.h"
#include "core/backend/count.h"
#include "core/channelizer/fir.h"

/* Columns per round: their sums stay in registers or in the L1 cache. */
#define COLUMNS 64

static void add_columns(float *restrict out, const float *in, gsize in_stride, const float *weights,
                        gsize weights_stride, gsize width, guint taps)
{
  ASTRO_COUNT(width * (2. * taps - 1));
  for (gsize i = 0; i < width; i++)
    out[i] = weights[i] * in[i];
  for (guint t = 1; t < taps; t++) {
    in += in_stride;
    weights += weights_stride;
    for (gsize i = 0; i < width; i++)
      out[i] += weights[i] * in[i];
  }
}

void astro_fir_c(float *out, gsize out_stride, const float *in, gsize in_stride,
                 const float *weights, gsize weights_stride, gsize width, guint taps, guint rows)
{
  for (gsize i = 0; i < width; i += COLUMNS)
    for (guint row = 0; row < rows; row++)
      add_columns(out + row * out_stride + i, in + row * in_stride + i, in_stride, weights + i,
                  weights_stride, MIN(COLUMNS, width - i), taps);
}
