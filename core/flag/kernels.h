/* The inner loops of flags, one table for each level. */
#pragma once

#include "core/backend/cpu.h"
#include "core/flag/plane.h"

G_BEGIN_DECLS

typedef struct {
  AstroVariant variant;
  guint lanes; /* complex samples at once */
  /* Adds |x|^2 of n samples, a multiple of the lanes, to sums and its square to squares. */
  void (*add_powers)(const float *samples, guint n, double *sums, double *squares);
  AstroFlagPlaneWork plane;
} AstroFlagKernels;

extern const AstroFlagKernels astro_flag_kernels_c, astro_flag_kernels_avx2,
    astro_flag_kernels_avx512;

G_END_DECLS
