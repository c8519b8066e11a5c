/* The inner loops of prediction. The phasor of a wave at a station costs a sine and a cosine; the
 * visibility of a source is then the product of two phasors, so that many baselines cost little
 * more than the stations do.
 *
 * Stations are processed in groups of `lanes`. Phasors of a group are [source][re, im][lane]. */
#pragma once

#include "core/backend/cpu.h"

#define ASTRO_PREDICT_MAX_LANES 8

typedef struct {
  AstroVariant variant;
  guint lanes;
  /* positions: x y z of a group, [3][lane], in light seconds; directions: n x 3, cycles per second.
   * phasors = amplitude exp(2 pi i position . direction). */
  void (*phasors)(const double *positions, const double *directions, const double *amplitudes,
                  guint n, double *phasors);
  /* Adds the sums over n sources of a conj(b) for every station a of one group and b of another;
   * row a of the sums begins a x stride after the first. */
  void (*products)(const double *a, const double *b, guint n, double *re, double *im, gsize stride);
} AstroPredictKernels;

const AstroPredictKernels *astro_predict_kernels(void);

extern const AstroPredictKernels astro_predict_kernels_c, astro_predict_kernels_avx2,
    astro_predict_kernels_avx512;
