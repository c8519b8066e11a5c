/* A curve that fills the sky: points that are near each other on it are near each other on the sky.
 * It visits the faces of a cube one after the other, and runs along Hilbert's curve on each. */
#pragma once

#include <glib.h>
#include <math.h>

enum { CURVE_FACE_BITS = 3, CURVE_MOST_LEVELS = 24 };

__device__ inline guint32 curve_step(double along, guint levels)
{
  const guint32 steps = 1u << levels;
  return min((guint32)((along + 1) / 2 * steps), steps - 1);
}

__device__ inline guint64 curve_of(double x, double y, double z, guint levels)
{
  const double along[3] = { fabs(x), fabs(y), fabs(z) };
  const guint axis = along[2] >= along[0] && along[2] >= along[1] ? 2
                     : along[1] >= along[0]                       ? 1
                                                                  : 0;
  const double out = axis == 2   ? z
                     : axis == 1 ? y
                                 : x,
               one = axis == 0 ? y : x, two = axis == 2 ? y : z;
  guint32 i = curve_step(one / fabs(out), levels), j = curve_step(two / fabs(out), levels);
  guint64 at = 2 * axis + (out < 0);
  for (guint level = levels; level-- > 0;) {
    const guint32 right = i >> level & 1, up = j >> level & 1;
    at = at << 2 | ((3 * right) ^ up);
    if (up)
      continue;
    const guint32 turned = right ? ~0u : 0, was = i;
    i = j ^ turned;
    j = was ^ turned;
  }
  return at;
}
