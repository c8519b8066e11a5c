/* Windows of SumThreshold, and the growth of flags: whole numbers, along one direction. */
#pragma once

#include "gpu/flag/plane.h"

/* Lines lie beside each other: value i of a line is at i * lines + line; `turned` has the same
 * cells with each line together. */
struct FlagLines {
  guint32 lines, length;
  const gint32 *cells;
  gint32 *next;   /* gets the new state */
  gint32 *turned; /* whose cells are flagged too */
};

/* The values in a window, as they enter and leave it. */
struct FlagWindow {
  gint32 sum = 0, counted = 0, usable = 0;

  __device__ void move(gint32 cell, gint32 sign)
  {
    const gint32 counts = sign * flag_counts(cell);
    sum += counts * (cell >> CELL_BITS);
    counted += counts;
    usable += sign * (cell & CELL_USABLE);
  }
  __device__ bool is_beyond(const gint32 *limits) const
  {
    return counted > 0 && abs(sum) > counted * limits[usable];
  }
};

/* Flags windows of n values whose mean is beyond limits[number of usable values]. A thread has a
 * stretch of a line, and looks at all windows that reach into it. */
__device__ inline void flag_windows(const FlagLines &lines, guint32 n, const gint32 *limits)
{
  const guint32 stretch = max(2 * n, 8), stretches = (lines.length + stretch - 1) / stretch;
  const gint32 last = (gint32)(lines.length - n);
  for (guint32 item = threadIdx.x; item < stretches * lines.lines; item += FLAG_THREADS) {
    const guint32 line = item % lines.lines;
    const gint32 from = (gint32)(item / lines.lines * stretch),
                 to = (gint32)min((guint32)from + stretch, lines.length),
                 first = max(from - (gint32)n + 1, 0);
    const gint32 *cells = lines.cells + line;
    FlagWindow window;
    gint32 covered = 0; /* up to before this place windows are flagged */
    for (gint32 i = first; i < first + (gint32)n - 1 && i < (gint32)lines.length; i++)
      window.move(cells[(gsize)i * lines.lines], 1);
    for (gint32 i = first; i < to; i++) {
      const gsize at = (gsize)i * lines.lines;
      const gint32 cell = cells[at];
      if (i <= last) {
        window.move(cells[at + (gsize)(n - 1) * lines.lines], 1);
        if (window.is_beyond(limits))
          covered = i + (gint32)n;
        window.move(cell, -1);
      }
      if (i < from)
        continue;
      const bool is_new = i < covered && !(cell & CELL_BAD);
      lines.next[at + line] = is_new ? cell | CELL_BAD : cell;
      if (is_new)
        lines.turned[(gsize)line * lines.length + i] |= CELL_BAD;
    }
  }
  __syncthreads();
}

/* The scale-invariant rank operator, as core/flag/rank.c; flags `next`, which has the cells. sums:
 * room for as many. */
__device__ inline gint32 flag_rank_weight(gint32 cell)
{
  const gint32 other = -4;
  return cell & CELL_BAD ? 1 : cell & CELL_USABLE ? other : 0;
}

__device__ inline void flag_extend(const FlagLines &lines, gint32 *sums)
{
  for (guint32 line = threadIdx.x; line < lines.lines; line += FLAG_THREADS) {
    gint32 sum = 0, most = G_MININT32, least = 0, any = 0;
    for (guint32 i = 0; i < lines.length; i++) {
      const gsize at = (gsize)i * lines.lines + line;
      const gint32 cell = lines.next[at];
      any |= cell & CELL_BAD;
      sums[at] = sum += flag_rank_weight(cell);
    }
    if (!any)
      continue;
    for (guint32 i = lines.length; i-- > 0;) {
      const gsize at = (gsize)i * lines.lines + line;
      sums[at] = most = max(most, sums[at]);
    }
    sum = 0;
    for (guint32 i = 0; i < lines.length; i++) {
      const gsize at = (gsize)i * lines.lines + line;
      const gint32 cell = lines.next[at];
      least = min(least, sum);
      if ((cell & CELL_STATE) == CELL_USABLE && sums[at] >= least) {
        lines.next[at] = cell | CELL_BAD;
        lines.turned[(gsize)line * lines.length + i] |= CELL_BAD;
      }
      sum += flag_rank_weight(cell);
    }
  }
  __syncthreads();
}
