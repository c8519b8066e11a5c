/* What a finished image is multiplied by: the inverse of the spread's transform along l (and m),
 * pixel by pixel, and of that in w as a series, which is as good and quicker. */
#pragma once

#include "core/stream/grid.h"

G_BEGIN_DECLS

#define ASTRO_IMAGE_TERMS 128 /* of a series, at most */

/* A function on least ... greatest as a sum of Chebyshev polynomials. */
typedef struct {
  double least, greatest;
  guint n;
  double terms[ASTRO_IMAGE_TERMS];
} AstroImageSeries;

/* Of the correction in w at n - 1, for planes so far apart; without terms where w_step is 0. */
void astro_image_series_set(AstroImageSeries *series, const AstroGrid *grid, double w_step);

/* image_size + 1 numbers: number i is for l = (i - image_size / 2) pixels, which is m's too. */
double *astro_image_inverse(const AstroGrid *grid);

G_END_DECLS
