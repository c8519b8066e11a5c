/* The inner loops of every delay: samples are split into components, interpolated and rotated. */
#pragma once

#include "core/backend/cpu.h"
#include "core/lib/interpolate/fraction.h"
#include "core/stream/stream.h"

#define ASTRO_DELAY_GRAIN 64 /* samples: n must be a multiple */

/* Splits n contiguous samples into components; real ones into re only. */
typedef void (*AstroDelayLoad)(gconstpointer in, guint n, float *restrict re, float *restrict im);

typedef struct {
  AstroVariant variant;
  AstroDelayLoad load[ASTRO_N_FORMATS]; /* CI4, CI8, CI16LE, CF32LE, I8, I16LE, F32LE */
  /* out[i] += exp(2 pi i (phase + i rate)) * sum of taps[k] in[i + k], for i < n; phase and rate in
   * cycles. Reads n + ASTRO_FRACTION_TAPS - 1 samples. */
  void (*interpolate)(const float *re, const float *im, const float taps[ASTRO_FRACTION_TAPS],
                      double phase, double rate, guint n, float *out_re, float *out_im);
  /* The same for real samples, with taps from astro_fraction_real_taps: adds the real part of that
   * sum. Reads n + ASTRO_FRACTION_REAL_TAPS - 1 samples. */
  void (*interpolate_real)(const float *in, const float taps[2 * ASTRO_FRACTION_REAL_TAPS],
                           double phase, double rate, guint n, float *out);
  /* Multiplies sample i by exp(2 pi i (phase + i rate)). */
  void (*rotate)(float *re, float *im, double phase, double rate, guint n);
} AstroDelayKernels;

const AstroDelayKernels *astro_delay_kernels(void);

extern const AstroDelayKernels astro_delay_kernels_c, astro_delay_kernels_avx2,
    astro_delay_kernels_avx512;
