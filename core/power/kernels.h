/* The inner loops of power.
 *
 * In general samples are split into planes of single precision, which holds every format exactly:
 * re and im of x, re and im of y, a row of lanes for each time step. Then sums of the rows are
 * added for each lane. Where samples follow each other in memory, none is lost and no squares are
 * asked for, other kernels add up what lies there, several times as fast. */
#pragma once

#include "core/backend/cpu.h"
#include "core/power/products.h"

#define ASTRO_POWER_ROWS 4
#define ASTRO_POWER_PLANE 256  /* lanes in a plane */
#define ASTRO_POWER_LANES 1024 /* in an array of sums */
#define ASTRO_POWER_LINE 64    /* bytes of a line of the caches */

typedef float AstroPowerPlane[ASTRO_POWER_ROWS][ASTRO_POWER_PLANE];
typedef double AstroPowerSums[ASTRO_POWER_SUMS][ASTRO_POWER_LANES];

/* Splits n samples (paired: n of each polarisation, which alternate) into a row of each plane; n is
 * a multiple of the kernels' lanes. */
typedef void (*AstroPowerLoad)(gconstpointer in, guint n, AstroPowerPlane *planes, guint row);

/* Adds rows of n lanes, a multiple of the kernels' lanes, to the sums of a kind. */
typedef void (*AstroPowerAdd)(AstroPowerSums sums, const AstroPowerPlane *planes, guint rows,
                              guint n);

/* Straight from memory: `rows` rows, `row` bytes apart, of n samples, which fill whole lines. power
 * adds |x|^2 of each sample to sums, which may be of both polarisations in turn: n is at most twice
 * ASTRO_POWER_LANES. cross adds XX, YY, RE and IM of samples that are apart. NULL: there is none.
 */
typedef struct {
  void (*power[ASTRO_N_FORMATS])(gconstpointer in, gsize row, guint64 rows, guint n, double *sums);
  void (*cross[ASTRO_N_FORMATS])(gconstpointer x, gconstpointer y, gsize row, guint64 rows, guint n,
                                 double *const sums[4]);
} AstroPowerDirect;

extern const AstroPowerDirect astro_power_direct_c, astro_power_direct_avx2,
    astro_power_direct_avx512;

typedef struct {
  AstroVariant variant;
  const AstroPowerDirect *direct;
  guint lanes;
  AstroPowerLoad apart[ASTRO_N_FORMATS], paired[ASTRO_N_FORMATS];
  /* For samples of at most 8 bits: rows are added in single precision, where they are exact. */
  AstroPowerAdd small[ASTRO_POWER_KINDS];
  AstroPowerAdd wide[ASTRO_POWER_KINDS], squares[ASTRO_POWER_KINDS];
} AstroPowerKernels;

extern const AstroPowerKernels astro_power_kernels_c, astro_power_kernels_avx2,
    astro_power_kernels_avx512;
