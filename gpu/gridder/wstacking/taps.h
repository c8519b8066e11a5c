/* The taps of a visibility, as kernels compute them from its place (WstackingPlace). */
#pragma once

#include "gpu/gridder/wstacking/wstacking.h"

struct SingleTaps {
  float step, rate; /* between taps, in the function's argument; beta in powers of two */
  gint support;

  __device__ SingleTaps(guint support, double beta)
      : step(2.0f / support), rate((float)(beta * 1.4426950408889634)), support((gint)support)
  {
  }

  __device__ __forceinline__ float at(float first, gint tap) const
  {
    /* The tap as a float, without a conversion. */
    const float z = fmaf(__int_as_float(0x4b000000 | tap) - 8388608.0f, step, first);
    float root, value;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(fmaxf(fmaf(-z, z, 1.0f), 0.0f)));
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(fmaf(rate, root, -rate)));
    return tap < support ? value : 0.0f;
  }

  template <bool WIDE>
  __device__ __forceinline__ void at(const float (&first)[2], const gint (&tap)[2],
                                     float (&near)[2], float (&far)[2]) const
  {
#pragma unroll
    for (int i = 0; i < 2; i++) {
      near[i] = at(first[i], tap[i]);
      far[i] = WIDE ? at(first[i], tap[i] + 8) : 0.0f;
    }
  }
};

struct DoubleTaps {
  const double *powers; /* in shared memory */
  gint degree;

  __device__ __forceinline__ double at(double x, gint tap) const
  {
    double value = 0;
    for (gint term = degree; term >= 0; term--)
      value = fma(value, x, powers[term * ASTRO_SEMICIRCLE_MAX + tap]);
    return value;
  }

  /* Terms that the support does not need are 0: loops of known length are worth more. */
  template <bool WIDE>
  __device__ __forceinline__ void at(const double (&x)[2], const gint (&tap)[2], double (&near)[2],
                                     double (&far)[2]) const
  {
    constexpr int DEGREE = WIDE ? (ASTRO_SEMICIRCLE_MAX + 1) / 2 + 4 : (8 + 1) / 2 + 4;
    near[0] = near[1] = far[0] = far[1] = 0;
#pragma unroll
    for (int term = DEGREE; term >= 0; term--) {
      const double *row = powers + term * ASTRO_SEMICIRCLE_MAX;
#pragma unroll
      for (int i = 0; i < 2; i++) {
        near[i] = fma(near[i], x[i], row[tap[i]]);
        if (WIDE)
          far[i] = fma(far[i], x[i], row[tap[i] + 8]);
      }
    }
  }
};
