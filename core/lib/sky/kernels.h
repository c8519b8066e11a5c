/* The inner loops of the voltage simulator: noise, and its way into integers. */
#pragma once

#include "core/backend/cpu.h"
#include "core/stream/stream.h"

#define ASTRO_NOISE_TILE 1024 /* samples that one key gives */

/* n samples side by side, of components times scale; integers are rounded half to even and kept
 * within their range. re and im hold n rounded up to 16. Real formats take re alone. */
typedef void (*AstroSkyStore)(const float *re, const float *im, guint n, float scale, gpointer out);

typedef struct {
  AstroVariant variant;
  /* Complex Gaussian noise whose power <re^2 + im^2> is power, the same for the same key. */
  void (*noise)(guint64 key, float power, float re[ASTRO_NOISE_TILE], float im[ASTRO_NOISE_TILE]);
  AstroSkyStore store[ASTRO_N_FORMATS]; /* CI4, CI8, CI16LE, CF32LE, I8, I16LE, F32LE */
} AstroSkyKernels;

const AstroSkyKernels *astro_sky_kernels(void);

extern const AstroSkyKernels astro_sky_kernels_c, astro_sky_kernels_avx2, astro_sky_kernels_avx512;
