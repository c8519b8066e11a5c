/* Where the cells of a tree lie, which follows from the number of leaves alone: a cell's children
 * lie side by side, with the other descendants of the left one behind them, and then those of the
 * right one. For C and CUDA. */
#pragma once

#include "core/kit/on-both.h"

/* How many leaves the left child of a cell of so many has. */
ON_BOTH static inline guint32 layout_left_leaves(guint32 leaves)
{
  return (leaves + 1) / 2;
}

ON_BOTH static inline guint32 layout_descendants(guint32 leaves)
{
  return leaves > 1 ? 2 * leaves - 2 : 0;
}
