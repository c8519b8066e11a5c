/* Gridding: visibilities made ready once (core/gridder/prepare.c), then spread by an algorithm of
 * its own file: wprojection, wstacking, direct. */
#pragma once

#include "core/backend/backend.h"
#include "core/stream/grid.h"

G_BEGIN_DECLS

/* Visibilities as every algorithm takes them: products formed (Stokes or as measured, the PSF's
 * ones where it is asked for), multiplied by their weights, phases turned to the image's centre,
 * and rows of negative w conjugated (with XY and YX exchanged), so that w >= 0. What must not be
 * used is 0. A row is one baseline at one time; its channels stand on a line from the origin of
 * (u,v,w). */
typedef struct {
  guint64 rows;
  guint channels, products;
  gboolean is_double;
  const double *uvw;         /* rows x 3, metres */
  const double *wavenumbers; /* of each channel, 1/m: frequency over the speed of light */
  gconstpointer values;      /* rows x channels x products, complex, single or double */
} AstroGridRows;

/* The transform of what visibilities were spread with, at l of an image (radians from its centre):
 * images are divided by it at l times that at m. In w: at n - 1. */
double astro_spread_correction(const AstroGrid *grid, double l);
double astro_spread_correction_w(const AstroGrid *grid, double w_step, double n_minus_1);

G_END_DECLS
