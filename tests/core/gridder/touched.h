/* Grids with a map of the tiles that hold anything (core/stream/grid.h). */
#pragma once

#include "core/stream/grid.h"
#include "tests/tests.h"

/* Sets untouched tiles to zero and returns how many cells that are. They must hold 0xff, as before
 * the grid was filled. `share` grids one after another have one map. */
static inline gsize test_blank_untouched(gpointer grids, gsize n, gsize share, const guint8 *map,
                                         gsize rows, gsize columns, gsize cell)
{
  const gsize high = astro_grid_tiles((guint)rows), wide = astro_grid_tiles((guint)columns);
  g_autofree guint8 *poison = g_malloc(cell);
  gsize untouched = 0;
  memset(poison, 0xff, cell);
  for (gsize line = 0; line < n * rows; line++)
    for (gsize column = 0; column < columns; column++) {
      const gsize row = line / rows / share * high + line % rows / ASTRO_GRID_TILE;
      guint8 *at = (guint8 *)grids + (line * columns + column) * cell;
      if (map[row * wide + column / ASTRO_GRID_TILE])
        continue;
      g_assert_cmpmem(at, cell, poison, cell);
      memset(at, 0, cell);
      untouched++;
    }
  return untouched;
}
