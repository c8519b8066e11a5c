/* Shared by gridding and imaging: the functions with which visibilities are spread over a grid, and
 * the corrections by which images are divided for that reason. */
#pragma once

#include "core/stream/grid.h"

G_BEGIN_DECLS

/* The least and greatest n - 1 in the image; an error if part of the image is on or beyond the
 * horizon of the phase centre. */
gboolean astro_grid_n_range(const AstroGrid *grid, double *least, double *greatest, GError **error);

/* n - 1 at l, m from the phase centre, computed without cancellation. */
double astro_grid_n_minus_1(double l, double m);

/* The Fourier transform of the function with which visibilities were spread, at l in an image
 * (radians from its centre): images are divided by its value at l times that at m. The second one
 * is for w, at n - 1. */
double astro_spread_correction(const AstroGrid *grid, double l);
double astro_spread_correction_w(const AstroGrid *grid, double w_step, double n_minus_1);

G_END_DECLS
