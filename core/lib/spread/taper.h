/* Tapers: the functions by which W-projection multiplies images so that its convolution functions
 * are narrow. */
#pragma once

#include "core/stream/grid.h"

G_BEGIN_DECLS

/* The taper at x from -1/2 to 1/2 of the padded field: 1 in the middle, 0 outside. beta is pi/2
 * times the number of cells over which its transform is spread. */
double astro_taper(AstroSpreadKind kind, double beta, double x);
/* Replaces n such x by their tapers; none of them is outside. */
void astro_tapers(AstroSpreadKind kind, double beta, double *x, guint n);

G_END_DECLS
