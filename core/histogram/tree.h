/* The tree of points, made on the host. */
#pragma once

#include "core/histogram/points.h"

G_BEGIN_DECLS

/* Finds the tops, which follow from the number of points in each region. */
void tree_find_tops(AstroPoints *points);
/* Makes the cells, once the points lie in the leaves of their regions. FALSE: it was stopped. */
gboolean tree_build(AstroPoints *points, guint threads, const AstroStop *stop);

G_END_DECLS
