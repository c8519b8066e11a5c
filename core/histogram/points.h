/* The tree behind AstroPoints. */
#pragma once

#include "core/histogram/histogram.h"
#include "core/histogram/kernels.h"

G_BEGIN_DECLS

/* A cell of the tree: a cap around a unit vector, with all the points in it. */
typedef struct {
  double x, y, z;
  double chord;                  /* from the middle to the furthest point */
  double cos_radius, sin_radius; /* of the cap's angle */
  double weight;
  guint64 n;
  guint32 first_leaf;
  guint32 left; /* index of the left child in cells, the right one follows; 0 for a leaf */
} Cell;

/* A cell where tasks begin, and its region. */
typedef struct {
  guint32 cell;
  guint32 region;
} Top;

/* A catalogue's columns; all but ra and dec may be NULL. */
typedef struct {
  guint64 n;
  const double *ra, *dec, *distance, *weight, *region;
} PointColumns;

struct _AstroPoints {
  guint64 serial; /* unique, so that a device knows the catalogues that it keeps */
  guint64 n;
  guint n_regions;
  guint64 *region_n;          /* points of each region */
  guint32 *region_first_leaf; /* all leaves of a region are full but its last */
  guint32 n_leaves;
  LeafPositions *positions; /* one a leaf */
  LeafOffsets *offsets;     /* NULL in space */
  gboolean in_space;        /* points have distances: a cell is then a ball around a middle */
  double *weights;          /* LEAF_POINTS a leaf; NULL if there are none */
  FieldLeaf *fields;        /* one a leaf; NULL: points carry nothing */
  guint64 *bits;            /* n_bit_words a slot; NULL: points have none */
  guint n_bit_words;
  Cell *cells;
  Top *tops; /* ordered by region; between them they hold all points */
  guint n_tops;
  /* Points that a device orders have these in place of positions, weights and cells. */
  PointColumns held;
  GDestroyNotify free_held; /* NULL: the columns are someone else's */
  gpointer data;
};

/* Whether every point can be counted. first: the number of the first, for errors. */
gboolean points_check(const PointColumns *columns, guint64 first, guint n_regions, GError **error);

/* As astro_points_in_space(). free_columns is called once the columns have been read, before the
 * rest of the memory is asked for. */
AstroPoints *points_new(const PointColumns *columns, guint n_regions, guint threads,
                        const AstroStop *stop, GDestroyNotify free_columns, gpointer data,
                        GError **error);

/* Points that are counted on a device, which orders them: the columns, without distances, stay
 * until the points are freed, and free_columns is called then. If this fails, it is not. */
AstroPoints *points_hold(const PointColumns *columns, guint n_regions, guint threads,
                         GDestroyNotify free_columns, gpointer data, GError **error);

/* Memory of a point in a tree, and what may come to it for every region. */
guint64 points_bytes_each(gboolean weighted, gboolean in_space);
guint64 points_bytes_of_region(void);

G_END_DECLS
