/* A point of a pair, and the sums of what its points carry. */
#pragma once

#include "core/kit/on-both.h"

#include <math.h>

struct Point {
  double x, y, z, weight;
  double first, second, cos_ra, sin_ra; /* as in a FieldLeaf */
};

#include "core/histogram/carried.cl"
