/* The correction in w of images (core/lib/spread/series.h), on the device. */
#pragma once

#include "gpu/runtime/cuda.h"

extern "C" {
#include "core/lib/spread/series.h"
}

/* Clenshaw's recurrence for N values at once, because each step has to wait for the one before. */
template <int N>
__device__ __forceinline__ void series_at(const AstroImageSeries &series, const double (&x)[N],
                                          double (&values)[N])
{
  const double scale = 4 / (series.greatest - series.least),
               middle = (series.least + series.greatest) / 2;
  double twice[N], next[N] = {}, after[N] = {};
#pragma unroll
  for (int i = 0; i < N; i++)
    twice[i] = (x[i] - middle) * scale;
  for (guint k = series.n; k-- > 1;) {
    const double term = series.terms[k];
#pragma unroll
    for (int i = 0; i < N; i++) {
      const double now = term - after[i] + twice[i] * next[i];
      after[i] = next[i];
      next[i] = now;
    }
  }
#pragma unroll
  for (int i = 0; i < N; i++)
    values[i] = series.terms[0] + 0.5 * twice[i] * next[i] - after[i];
}
