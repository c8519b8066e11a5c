/* Numbers that are near each other. */
#pragma once

#include <glib.h>
#include <math.h>

static inline void test_near(double found, double expected, double tolerance)
{
  if (!(fabs(found - expected) <= tolerance))
    g_error("found %.17g, expected %.17g to %g", found, expected, tolerance);
}
