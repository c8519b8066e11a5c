/* Factors for a finished image: the inverse of the spreading function's transform along l (and m),
 * per pixel; and that of its transform along w as a series, which is as accurate and faster. */
#pragma once

#include "core/stream/grid.h"

G_BEGIN_DECLS

#define ASTRO_IMAGE_TERMS 128 /* upper limit for a series */

/* A function on the interval from least to greatest, as a sum of Chebyshev polynomials. */
typedef struct {
  double least, greatest;
  guint n;
  double terms[ASTRO_IMAGE_TERMS];
} AstroImageSeries;

/* Makes the series of the correction in w as a function of n - 1, for planes at a distance of
 * w_step; without terms if w_step is 0. */
void astro_image_series_set(AstroImageSeries *series, const AstroGrid *grid, double w_step);

/* Makes image_size + 1 numbers; number i is for l = (i - image_size / 2) pixels, and also for m. */
double *astro_image_inverse(const AstroGrid *grid);

G_END_DECLS
