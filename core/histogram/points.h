/* What AstroPoints holds. */
#pragma once

#include "core/histogram/histogram.h"
#include "core/histogram/kernels.h"

G_BEGIN_DECLS

/* A cell of the tree: a cap around a unit vector that holds all its points. */
typedef struct {
  double x, y, z;
  double chord;                  /* from the middle to the furthest point */
  double cos_radius, sin_radius; /* of the cap's angle */
  double weight;
  guint64 n;
  guint32 first_leaf;
  guint32 left; /* its index in cells, the right one follows; 0: this is a leaf */
} Cell;

/* A cell where tasks start, and its region. */
typedef struct {
  guint32 cell;
  guint32 region;
} Top;

struct _AstroPoints {
  guint64 serial; /* no two have the same one, so that what is kept of one is known again */
  guint64 n;
  guint n_regions;
  guint64 *region_n;          /* points of each region */
  guint32 *region_first_leaf; /* all leaves of a region but its last are full */
  guint32 n_leaves;
  LeafPositions *positions; /* one each leaf */
  LeafOffsets *offsets;
  double *weights; /* LEAF_POINTS each leaf; NULL where there are none */
  Cell *cells;
  Top *tops; /* ordered by region; together they hold all points */
  guint n_tops;
};

G_END_DECLS
