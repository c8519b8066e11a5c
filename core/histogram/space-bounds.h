/* Which cells of points in space may hold pairs within the bins. */
#pragma once

#include "core/histogram/points.h"
#include "core/histogram/space.h"

G_BEGIN_DECLS

/* More than the rounding errors of a separation, relative to the numbers that it comes from. */
#define SPACE_MARGIN 1e-12

ON_BOTH static inline double space_length_of(const Cell *cell)
{
  return sqrt(cell->x * cell->x + cell->y * cell->y + cell->z * cell->z);
}

/* Whether a pair of the two balls may lie within the bins. Two points are never further apart along
 * the line of sight than they are apart, nor less than their distances differ. */
ON_BOTH static inline gboolean space_may_count(const SpaceReach *bins, const Cell *a, const Cell *b)
{
  const double dx = a->x - b->x, dy = a->y - b->y, dz = a->z - b->z;
  const double between = sqrt(dx * dx + dy * dy + dz * dz), reach = a->chord + b->chord;
  const double doubt = SPACE_MARGIN * (between + reach);
  if (between - reach > bins->most + doubt || between + reach < bins->least - doubt)
    return FALSE;
  if (isinf(bins->depth))
    return TRUE;
  const double far_a = space_length_of(a), far_b = space_length_of(b);
  return fabs(far_a - far_b) - reach <= bins->depth + SPACE_MARGIN * (far_a + far_b + reach);
}

G_END_DECLS
