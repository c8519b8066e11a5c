/* Halving of points along an axis. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  double x[3];
} AstroVector;

/* Orders items, and their weights with them unless weights is NULL, so that the first k are the
 * smallest along the axis. */
void astro_select(AstroVector *items, double *weights, guint64 n, guint64 k, guint axis);

G_END_DECLS
