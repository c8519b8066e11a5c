/* A random point within a footprint, for C and CUDA: the same bits from both. */
#pragma once

#include "core/kit/degrees.h"
#include "core/lib/catalogue/random-step.h"

/* A cell of a mask: sines of declination, cycles of right ascension. */
typedef struct {
  double low, high, west, east;
} AstroMaskBounds;

/* These values do not change from point to point. */
typedef struct {
  AstroFootprintShape shape;
  double ra;                     /* of a cap's middle, or where a band begins */
  double width, low, high;       /* a band: in right ascension; sines of declination */
  double sin_dec, cos_dec, half; /* a cap: of its middle; half the chord to its rim */
  gsize n_cells;                 /* a mask */
  const double *area;            /* of each cell and all before it */
  const AstroMaskBounds *cells;
} AstroPlacing;

/* The mask of the footprint has to stay. */
AstroPlacing astro_placing_of(const AstroFootprint *footprint);

/* Random numbers for a point. For a band the second is the fourth drawn: an earlier version dropped
 * two, and a seed must keep giving the same points. */
static inline guint astro_placing_draws(AstroFootprintShape shape)
{
  static const guint draws[] = {
    [ASTRO_FOOTPRINT_BAND] = 4, [ASTRO_FOOTPRINT_CAP] = 2, [ASTRO_FOOTPRINT_MASK] = 3
  };
  return draws[shape];
}

ON_BOTH static inline double astro_wrapped(double degrees)
{
  return fmod(fmod(degrees, 360) + 360, 360);
}

ON_BOTH static inline double astro_between(double from, double to, double share)
{
  return from + astro_product(to - from, share);
}

ON_BOTH static inline double astro_declination(double sine)
{
  return astro_angle_of_sine(CLAMP(sine, -1, 1));
}

/* half: of the chord to the rim of the cap. u: share of its area within the point's circle; v:
 * direction, from north through east. */
ON_BOTH static inline void astro_place_in_cap(double ra, double sin_dec, double cos_dec,
                                              double half, double u, double v, double *to_ra,
                                              double *to_dec)
{
  const double sine = astro_product(half, sqrt(u)); /* of half the distance */
  const double square = astro_product(sine, sine), out = 1 - 2 * square,
               away = 2 * astro_product(sine, sqrt(1 - square));
  double to_north, to_east;
  astro_sin_cos(astro_product(360, v), &to_east, &to_north);
  const double north = astro_product(away, to_north), east = astro_product(away, to_east);
  const double x = astro_product(out, cos_dec) - astro_product(north, sin_dec),
               z = astro_product(out, sin_dec) + astro_product(north, cos_dec);
  *to_ra = astro_wrapped(ra + astro_angle(east, x));
  *to_dec = astro_angle(z, sqrt(astro_product(x, x) + astro_product(east, east)));
}

/* The first cell whose summed area is larger. */
ON_BOTH static inline gsize astro_cell_at(const AstroPlacing *placing, double area)
{
  gsize first = 0, last = placing->n_cells - 1;
  while (first < last) {
    const gsize middle = (first + last) / 2;
    if (placing->area[middle] > area)
      last = middle;
    else
      first = middle + 1;
  }
  return first;
}

ON_BOTH static inline void astro_place(const AstroPlacing *placing, AstroRandom *random, double *ra,
                                       double *dec)
{
  const double u = astro_random_step(random);
  if (placing->shape == ASTRO_FOOTPRINT_CAP) {
    astro_place_in_cap(placing->ra, placing->sin_dec, placing->cos_dec, placing->half, u,
                       astro_random_step(random), ra, dec);
  } else if (placing->shape == ASTRO_FOOTPRINT_BAND) {
    astro_random_step(random);
    astro_random_step(random);
    *ra = astro_wrapped(placing->ra + astro_product(placing->width, u));
    *dec = astro_declination(astro_between(placing->low, placing->high, astro_random_step(random)));
  } else {
    const double all = placing->area[placing->n_cells - 1];
    const AstroMaskBounds *cell = &placing->cells[astro_cell_at(placing, astro_product(all, u))];
    *ra = astro_product(360, astro_between(cell->west, cell->east, astro_random_step(random)));
    *dec = astro_declination(astro_between(cell->low, cell->high, astro_random_step(random)));
  }
}
