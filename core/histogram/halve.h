/* Halving of points along an axis. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  double x[3];
} AstroVector;

static inline void astro_swap_items(AstroVector *items, double *weights, guint64 a, guint64 b)
{
  const AstroVector item = items[a];
  items[a] = items[b];
  items[b] = item;
  if (weights) {
    const double weight = weights[a];
    weights[a] = weights[b];
    weights[b] = weight;
  }
}

/* The axis along which items reach furthest. */
guint astro_widest_axis(const double low[3], const double high[3]);
guint astro_axis_of(const AstroVector *items, guint64 n);

/* Orders items, and their weights with them unless weights is NULL, so that the first k are the
 * smallest along the axis. */
void astro_select(AstroVector *items, double *weights, guint64 n, guint64 k, guint axis);

/* The same along the axis on which they reach furthest, by several threads where there are many
 * items. Not for tasks of astro_parallel(). */
void astro_halve(AstroVector *items, double *weights, guint64 n, guint64 k, guint threads);

G_END_DECLS
