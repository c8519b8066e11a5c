/* What gridding and imaging have to know alike: the functions that visibilities are spread over a
 * grid with, and what images are divided by therefore. */
#pragma once

#include "core/stream/grid.h"

G_BEGIN_DECLS

/* Whether part of the image lies on or beyond the horizon of the phase centre (an error then), and
 * the least and greatest n - 1 in it. */
gboolean astro_grid_n_range(const AstroGrid *grid, double *least, double *greatest, GError **error);

/* The transform of what visibilities were spread with, at l of an image (radians from its centre):
 * images are divided by it at l times that at m. In w: at n - 1. */
double astro_spread_correction(const AstroGrid *grid, double l);
double astro_spread_correction_w(const AstroGrid *grid, double w_step, double n_minus_1);

G_END_DECLS
