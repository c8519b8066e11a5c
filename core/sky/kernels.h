/* The inner loops of the voltage simulator: noise, and its way into integers. */
#pragma once

#include "core/backend/cpu.h"

#define ASTRO_NOISE_TILE 1024 /* samples that one key gives */

typedef struct {
  AstroVariant variant;
  /* Complex Gaussian noise whose power <re^2 + im^2> is power, the same for the same key. */
  void (*noise)(guint64 key, float power, float re[ASTRO_NOISE_TILE], float im[ASTRO_NOISE_TILE]);
  /* pairs[2 i] = re[i] * scale, rounded half to even and kept
   * within -limit - 1 and limit. n is a multiple of 16. */
  void (*quantise)(const float *re, const float *im, guint n, float scale, float limit,
                   gint16 *pairs);
} AstroSkyKernels;

const AstroSkyKernels *astro_sky_kernels(void);

extern const AstroSkyKernels astro_sky_kernels_c, astro_sky_kernels_avx2, astro_sky_kernels_avx512;
