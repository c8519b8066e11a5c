/* Half precision, as the reference backends read it. */
#pragma once

#include <glib.h>
#include <math.h>

/* A half has a sign, 5 bits of exponent and 10 of fraction. */
static inline double astro_half_value(guint16 half)
{
  gint exponent = half >> 10 & 31, fraction = half & 1023;
  double sign = half >> 15 ? -1 : 1;
  if (exponent == 31)
    return fraction ? NAN : sign * INFINITY;
  if (exponent == 0)
    return sign * ldexp(fraction, -24);
  return sign * ldexp(1024 + fraction, exponent - 25);
}
