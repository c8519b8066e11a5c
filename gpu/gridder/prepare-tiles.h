/* The kernel that makes a dump of visibilities ready. */
#pragma once

#include "gpu/gridder/prepare.h"

/* A dump and its rows; all pointers are device pointers. */
struct PrepareRun {
  const void *dump;
  AstroDumpCounts counts; /* on the device */
  guint channels, baselines, pairs, correlations, n_products;
  AstroProduct products[ASTRO_MAX_PRODUCTS];
  gboolean used[4]; /* by any product */
  double axes[3][3];
  const double *positions, *wavenumbers;
  const double *
      given; /* (u,v,w) of the dump's baselines, in place of those of axes and positions; or NULL */
  double reach, centre_l, centre_m, centre_n_minus_1;
  double *uvw;
  void *values;
  float *weights, *factors; /* NULL: not kept, or not set to 1 here */
  AstroCudaTotals *totals;
};

/* Reads and writes single or double precision. */
gboolean astro_prepare_tiles(const PrepareRun *run, gboolean from_double, gboolean to_double,
                             cudaStream_t stream, GError **error);

/* Rows of all channels, and those where each group of neighbouring channels is added up to one. */
struct PrepareSums {
  guint rows, channels, group, groups, products;
  const void *values;
  void *to;
  const float *weights; /* NULL: they are not kept */
  float *to_weights, *to_factors;
};

gboolean astro_prepare_sums(const PrepareSums *sums, gboolean is_double, cudaStream_t stream,
                            GError **error);
