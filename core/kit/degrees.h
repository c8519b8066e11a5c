/* Sines, cosines and angles in degrees, of additions, products, quotients and square roots alone.
 * Each of these is rounded in one way only, so that the bits are the same with every C library, on
 * every CPU and on a GPU. Sines and cosines are within two units of the last place, angles within
 * six. */
#pragma once

#include "core/kit/on-both.h"
#include "core/kit/units.h"

#include <math.h>

/* Adds one more term of a polynomial, from the highest on. */
#define ASTRO_TERM(sum, x, term) (astro_product(sum, x) + (term))

/* The angle is what is left beside the nearest quarter of a circle. */
ON_BOTH static inline void astro_sin_cos_near(double degrees, double *sine, double *cosine)
{
  const double x = astro_product(degrees, ASTRO_DEGREE), square = astro_product(x, x);
  double s = 1. / 355687428096000., c = 1. / 20922789888000.; /* 1 / 17!, 1 / 16! */
  s = ASTRO_TERM(s, square, -1. / 1307674368000.);
  c = ASTRO_TERM(c, square, -1. / 87178291200.);
  s = ASTRO_TERM(s, square, 1. / 6227020800.);
  c = ASTRO_TERM(c, square, 1. / 479001600.);
  s = ASTRO_TERM(s, square, -1. / 39916800.);
  c = ASTRO_TERM(c, square, -1. / 3628800.);
  s = ASTRO_TERM(s, square, 1. / 362880.);
  c = ASTRO_TERM(c, square, 1. / 40320.);
  s = ASTRO_TERM(s, square, -1. / 5040.);
  c = ASTRO_TERM(c, square, -1. / 720.);
  s = ASTRO_TERM(s, square, 1. / 120.);
  c = ASTRO_TERM(c, square, 1. / 24.);
  s = ASTRO_TERM(s, square, -1. / 6.);
  c = ASTRO_TERM(c, square, -1. / 2.);
  *sine = x + astro_product(astro_product(s, square), x);
  *cosine = 1 + astro_product(c, square);
}

/* Takes any finite angle, and is exact for whole quarters. */
ON_BOTH static inline void astro_sin_cos(double degrees, double *sine, double *cosine)
{
  if (fabs(degrees) > 1e9)
    degrees = fmod(degrees, 360); /* exact */
  const double quarters = rint(degrees / 90);
  const int quarter = (int)((gint64)quarters & 3);
  double s, c;
  astro_sin_cos_near(degrees - 90 * quarters, &s, &c); /* exact too */
  const double swapped_s = quarter & 1 ? c : s, swapped_c = quarter & 1 ? s : c;
  *sine = quarter & 2 ? -swapped_s : swapped_s;
  *cosine = quarter == 1 || quarter == 2 ? -swapped_c : swapped_c;
}

/* The angle from the direction of x towards that of y, of two lengths that are at most about 1:
 * from -180 to 180, and 0 if both are 0. A polynomial gives it within 2e-8 (Abramowitz and Stegun,
 * 4.4.49); what is left is so small that it is its own sine. */
ON_BOTH static inline double astro_angle(double y, double x)
{
  const double across = fabs(y), along = fabs(x);
  const double large = across > along ? across : along, small = across > along ? along : across;
  if (large == 0)
    return 0;
  const double slope = small / large, square = astro_product(slope, slope);
  double sum = 0.0028662257;
  sum = ASTRO_TERM(sum, square, -0.0161657367);
  sum = ASTRO_TERM(sum, square, 0.0429096138);
  sum = ASTRO_TERM(sum, square, -0.0752896400);
  sum = ASTRO_TERM(sum, square, 0.1065626393);
  sum = ASTRO_TERM(sum, square, -0.1420889944);
  sum = ASTRO_TERM(sum, square, 0.1999355085);
  sum = ASTRO_TERM(sum, square, -0.3333314528);
  sum = ASTRO_TERM(sum, square, 1);
  double near = astro_product(astro_product(sum, slope), ASTRO_DEGREES), s, c;
  if (across > along)
    near = 90 - near;
  if (x < 0)
    near = 180 - near;
  if (y < 0)
    near = -near;
  astro_sin_cos(near, &s, &c);
  const double length = sqrt(astro_product(x, x) + astro_product(y, y));
  const double left = (astro_product(y, c) - astro_product(x, s)) / length;
  return near + astro_product(left, ASTRO_DEGREES);
}

/* The angle above a plane whose sine is given, from -90 to 90. */
ON_BOTH static inline double astro_angle_of_sine(double sine)
{
  return astro_angle(sine, sqrt(astro_product(1 - sine, 1 + sine)));
}
