/* Quick select. Only the side on which an item lies matters, so nothing is sorted. */
#include "core/histogram/halve.h"

#include <math.h>

guint astro_widest_axis(const double low[3], const double high[3])
{
  guint widest = 0;
  for (guint axis = 1; axis < 3; axis++)
    if (high[axis] - low[axis] > high[widest] - low[widest])
      widest = axis;
  return widest;
}

guint astro_axis_of(const AstroVector *items, guint64 n)
{
  double low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY, -INFINITY };
  for (guint64 i = 0; i < n; i++)
    for (guint axis = 0; axis < 3; axis++) {
      low[axis] = MIN(low[axis], items[i].x[axis]);
      high[axis] = MAX(high[axis], items[i].x[axis]);
    }
  return astro_widest_axis(low, high);
}

void astro_select(AstroVector *items, double *weights, guint64 n, guint64 k, guint axis)
{
  while (n > 1) {
    guint64 last = n - 1, middle = n / 2;
    if (items[middle].x[axis] < items[0].x[axis])
      astro_swap_items(items, weights, middle, 0);
    if (items[last].x[axis] < items[0].x[axis])
      astro_swap_items(items, weights, last, 0);
    if (items[last].x[axis] < items[middle].x[axis])
      astro_swap_items(items, weights, last, middle);
    double pivot = items[middle].x[axis];
    guint64 i = 0, j = n - 1;
    for (;;) {
      while (items[i].x[axis] < pivot)
        i++;
      while (items[j].x[axis] > pivot)
        j--;
      if (i >= j)
        break;
      astro_swap_items(items, weights, i++, j--);
    }
    /* Items before i are <= pivot, those from i on >= pivot; if i == j, that item is the pivot. */
    guint64 split = MAX(i, 1);
    if (k == split)
      return;
    if (k < split) {
      n = split;
    } else {
      items += split;
      weights = weights ? weights + split : NULL;
      n -= split;
      k -= split;
    }
  }
}
