/* The filter before the transform: for every spectrum, the sum over taps of weighted samples. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* out[row][i] = sum over t < taps of weights[t][i] x in[row + t][i], for i < width; strides are in
 * floats. Each sum is made separately in the order of t, so that it does not depend on its
 * neighbours. out must not overlap any input. */
typedef void (*AstroFir)(float *out, gsize out_stride, const float *in, gsize in_stride,
                         const float *weights, gsize weights_stride, gsize width, guint taps,
                         guint rows);

void astro_fir_c(float *out, gsize out_stride, const float *in, gsize in_stride,
                 const float *weights, gsize weights_stride, gsize width, guint taps, guint rows);
void astro_fir_avx2(float *out, gsize out_stride, const float *in, gsize in_stride,
                    const float *weights, gsize weights_stride, gsize width, guint taps,
                    guint rows);
void astro_fir_avx512(float *out, gsize out_stride, const float *in, gsize in_stride,
                      const float *weights, gsize weights_stride, gsize width, guint taps,
                      guint rows);

G_END_DECLS
