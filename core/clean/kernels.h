/* The kernels of the minor cycles for each instruction set. */
#pragma once

#include "core/backend/cpu.h"

G_BEGIN_DECLS

typedef struct {
  AstroVariant variant;
  /* rest -= flux x psf; returns the largest absolute value of rest. */
  float (*subtract_single)(float *rest, const float *psf, gsize n, float flux);
  double (*subtract_double)(double *rest, const double *psf, gsize n, double flux);
} AstroCleanKernels;

extern const AstroCleanKernels astro_clean_kernels_c, astro_clean_kernels_avx2,
    astro_clean_kernels_avx512;

G_END_DECLS
