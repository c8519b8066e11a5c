/* Quick select. Only the side on which an item lies matters, so nothing is sorted. */
#include "core/histogram/halve.h"

static inline void swap_items(AstroVector *items, double *weights, guint64 a, guint64 b)
{
  AstroVector item = items[a];
  items[a] = items[b];
  items[b] = item;
  if (weights) {
    double weight = weights[a];
    weights[a] = weights[b];
    weights[b] = weight;
  }
}

void astro_select(AstroVector *items, double *weights, guint64 n, guint64 k, guint axis)
{
  while (n > 1) {
    guint64 last = n - 1, middle = n / 2;
    if (items[middle].x[axis] < items[0].x[axis])
      swap_items(items, weights, middle, 0);
    if (items[last].x[axis] < items[0].x[axis])
      swap_items(items, weights, last, 0);
    if (items[last].x[axis] < items[middle].x[axis])
      swap_items(items, weights, last, middle);
    double pivot = items[middle].x[axis];
    guint64 i = 0, j = n - 1;
    for (;;) {
      while (items[i].x[axis] < pivot)
        i++;
      while (items[j].x[axis] > pivot)
        j--;
      if (i >= j)
        break;
      swap_items(items, weights, i++, j--);
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
