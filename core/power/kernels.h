/* The inner loops of power. Samples are split into planes of single precision, which holds every
 * format exactly: re and im of x, re and im of y, a row of lanes for each time step. Then sums of
 * the rows are added for each lane. */
#pragma once

#include "core/backend/cpu.h"
#include "core/power/products.h"

#define ASTRO_POWER_ROWS 4
#define ASTRO_POWER_LANES 256

typedef float AstroPowerPlane[ASTRO_POWER_ROWS][ASTRO_POWER_LANES];
typedef double AstroPowerSums[ASTRO_POWER_SUMS][ASTRO_POWER_LANES];

/* Splits n samples (paired: n of each polarisation, which alternate) into a row of each plane; n is
 * a multiple of the kernels' lanes. */
typedef void (*AstroPowerLoad)(gconstpointer in, guint n, AstroPowerPlane *planes, guint row);

/* Adds rows of n lanes, a multiple of the kernels' lanes, to the sums of a kind. */
typedef void (*AstroPowerAdd)(AstroPowerSums sums, const AstroPowerPlane *planes, guint rows,
                              guint n);

typedef struct {
  AstroVariant variant;
  guint lanes;
  AstroPowerLoad apart[ASTRO_N_FORMATS], paired[ASTRO_N_FORMATS];
  /* For samples of at most 8 bits: rows are added in single precision, where they are exact. */
  AstroPowerAdd small[ASTRO_POWER_KINDS];
  AstroPowerAdd wide[ASTRO_POWER_KINDS], squares[ASTRO_POWER_KINDS];
} AstroPowerKernels;

extern const AstroPowerKernels astro_power_kernels_c, astro_power_kernels_avx2,
    astro_power_kernels_avx512;
