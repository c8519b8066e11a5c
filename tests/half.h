/* Converts to half precision, for tests that are also built by compilers without it. */
#pragma once

#include <glib.h>
#include <math.h>

/* The nearest half, ties to even. A half is a whole number below 2048 of steps that double with its
 * exponent. */
static inline guint16 test_half_bits(double value)
{
  const guint sign = signbit(value) ? 0x8000 : 0;
  gint exponent;
  if (isnan(value))
    return (guint16)(sign | 0x7e00);
  if (fabs(value) >= 65520)
    return (guint16)(sign | 0x7c00);
  frexp(value, &exponent);
  const gint step = fabs(value) < 0x1p-14 ? -24 : exponent - 11;
  return (guint16)(sign | ((guint)(step + 24) * 1024 + (guint)rint(ldexp(fabs(value), -step))));
}
