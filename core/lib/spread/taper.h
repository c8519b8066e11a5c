/* Tapers: what W-projection multiplies images by, so that convolution functions are narrow. */
#pragma once

#include "core/stream/grid.h"

G_BEGIN_DECLS

/* The taper that images are multiplied by, at x from -1/2 to 1/2 of the padded field: 1 in the
 * middle, 0 beyond. beta is pi/2 times the cells that its transform is spread over. */
double astro_taper(AstroSpreadKind kind, double beta, double x);
/* In place of n such x, none of them beyond. */
void astro_tapers(AstroSpreadKind kind, double beta, double *x, guint n);

G_END_DECLS
