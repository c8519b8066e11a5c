/* Compares numbers within a tolerance. */
#pragma once

#include <complex.h>
#include <glib.h>
#include <math.h>

static inline void test_near(double found, double expected, double tolerance)
{
  if (!(fabs(found - expected) <= tolerance))
    g_error("found %.17g, expected %.17g to %g", found, expected, tolerance);
}

static inline void test_near_complex(complex double found, complex double expected,
                                     double tolerance)
{
  if (!(cabs(found - expected) <= tolerance))
    g_error("found %.17g%+.17gi, expected %.17g%+.17gi to %g", creal(found), cimag(found),
            creal(expected), cimag(expected), tolerance);
}
