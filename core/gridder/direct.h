/* The direct transform, which all other algorithms approximate. */
#pragma once

#include "core/gridder/gridder.h"

G_BEGIN_DECLS

/* Adds the image of channels first to first + n of rows to image: products x image_size x
 * image_size complex numbers in the order of a grid (l and m rising), of which the real part is the
 * image. Sums are in double precision whatever rows are. */
void astro_direct_image(const AstroGrid *grid, const AstroGridRows *rows, guint first, guint n,
                        guint threads, double *image);

G_END_DECLS
