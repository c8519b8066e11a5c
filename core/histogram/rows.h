/* Points of a leaf as kernels without compressing stores look at them. */
#pragma once

#include "core/histogram/kernels.h"

/* The terms of (square of the chord - lowest edge) that depend on a's point alone. */
typedef struct {
  float x[LEAF_POINTS], y[LEAF_POINTS], z[LEAF_POINTS], square[LEAF_POINTS];
} Rows;

/* Moves rows together that the lowest edge cuts through b for, and returns how many; *n_below:
 * those that lie below it with all of b. */
static inline guint keep_rows(Rows *rows, const LeafShift *shift, guint *n_below)
{
  guint n = 0, below = 0;
  for (guint i = 0; i < LEAF_POINTS; i++) {
    float square = rows->square[i];
    rows->x[n] = rows->x[i];
    rows->y[n] = rows->y[i];
    rows->z[n] = rows->z[i];
    rows->square[n] = square;
    n += square >= shift->below && square <= shift->above;
    below += square < shift->below;
  }
  *n_below = below;
  return n;
}
