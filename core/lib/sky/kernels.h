/* The inner loops of the voltage simulator: noise, and rounding to integers. */
#pragma once

#include "core/backend/cpu.h"
#include "core/stream/stream.h"

#define ASTRO_NOISE_TILE 1024 /* samples for one key */

/* n contiguous samples, whose components are those of re and im times scale; integers are rounded
 * half to even and limited to their range. re and im hold n rounded up to 16. Real formats use only
 * re. */
typedef void (*AstroSkyStore)(const float *re, const float *im, guint n, float scale, gpointer out);

typedef struct {
  AstroVariant variant;
  /* Complex Gaussian noise with mean power <re^2 + im^2> = power, the same for the same key. */
  void (*noise)(guint64 key, float power, float re[ASTRO_NOISE_TILE], float im[ASTRO_NOISE_TILE]);
  AstroSkyStore store[ASTRO_N_FORMATS]; /* CI4, CI8, CI16LE, CF32LE, I8, I16LE, F32LE */
} AstroSkyKernels;

const AstroSkyKernels *astro_sky_kernels(void);

extern const AstroSkyKernels astro_sky_kernels_c, astro_sky_kernels_avx2, astro_sky_kernels_avx512;
