/* The unit vector of a place on the sky, for C and CUDA: the same bits from both. */
#pragma once

#include "core/kit/degrees.h"

ON_BOTH static inline void astro_vector_of(double ra_degrees, double dec_degrees, double *x,
                                           double *y, double *z)
{
  double sin_ra, cos_ra, cos_dec;
  astro_sin_cos(ra_degrees, &sin_ra, &cos_ra);
  astro_sin_cos(dec_degrees, z, &cos_dec);
  *x = astro_product(cos_dec, cos_ra);
  *y = astro_product(cos_dec, sin_ra);
}
