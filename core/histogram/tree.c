/* Makes a tree of points, which are unit vectors in the leaves of their regions.
 *
 * Every leaf but the last of a region is full, so that vectors are full too. Where a cell lies
 * follows from the number of leaves (layout.h), so subtrees are built in parallel and the tree is
 * the same for any number of threads. */
#include "core/histogram/tree.h"

#include "core/histogram/halve.h"
#include "core/histogram/layout.h"

#include <math.h>
#include <string.h>

/* About this many tops give enough tasks (pairs of tops) for many cores and for reports of
 * progress. */
#define TOPS_WANTED 128

/* A point that is still being sorted. The points of a leaf lie where its positions will be, so that
 * the tree is made in place; weights, if there are any, are moved along. */
typedef AstroVector Item;
G_STATIC_ASSERT(sizeof(Item) * LEAF_POINTS == sizeof(LeafPositions));

/* A cell that is, or will be split into, tops. */
typedef struct {
  guint32 cell, region;
  guint32 free; /* where its descendants go in cells */
  guint32 first_leaf;
  guint64 n;
} Branch;

typedef struct {
  AstroPoints *points;
  Branch *branches;
  guint n_branches;
  AstroStoppable work;
} Build;

/* Cells of this many points are made without asking whether the count was cancelled. */
#define UNASKED_POINTS 65536
/* Cells of more points are halved by all threads together. */
#define SHARED_POINTS (1u << 18)

/* ---- where cells lie ---- */

static guint32 leaves_of(guint64 n)
{
  return (guint32)((n + LEAF_POINTS - 1) / LEAF_POINTS);
}

static guint64 left_points(guint64 n)
{
  return (guint64)layout_left_leaves(leaves_of(n)) * LEAF_POINTS;
}

static Branch *roots_of(const AstroPoints *points, guint *n)
{
  guint32 free = points->n_regions;
  Branch *roots = g_new(Branch, points->n_regions);
  *n = 0;
  for (guint32 r = 0; r < points->n_regions; r++) {
    if (points->region_n[r] == 0)
      continue;
    roots[(*n)++] = (Branch){ r, r, free, points->region_first_leaf[r], points->region_n[r] };
    free += layout_descendants(leaves_of(points->region_n[r]));
  }
  return roots;
}

/* Replaces branches by their children; leaves stay. */
static void descend(Branch **branches, guint *n_branches)
{
  Branch *next = g_new(Branch, 2 * (gsize)*n_branches + 1);
  guint n = 0;
  for (guint b = 0; b < *n_branches; b++) {
    const Branch branch = (*branches)[b];
    if (branch.n <= LEAF_POINTS) {
      next[n++] = branch;
      continue;
    }
    const guint64 left = left_points(branch.n);
    const guint32 behind = branch.free + 2;
    next[n++] = (Branch){ branch.free, branch.region, behind, branch.first_leaf, left };
    next[n++] =
        (Branch){ branch.free + 1, branch.region, behind + layout_descendants(leaves_of(left)),
                  branch.first_leaf + leaves_of(left), branch.n - left };
  }
  g_free(*branches);
  *branches = next;
  *n_branches = n;
}

void tree_find_tops(AstroPoints *points)
{
  Branch *branches = roots_of(points, &points->n_tops);
  for (guint64 tops = points->n_regions; tops < TOPS_WANTED; tops *= 2)
    descend(&branches, &points->n_tops);
  points->tops = g_new(Top, MAX(points->n_tops, 1));
  for (guint t = 0; t < points->n_tops; t++)
    points->tops[t] = (Top){ branches[t].cell, branches[t].region };
  g_free(branches);
}

/* ---- a cell ---- */

static Item *items_at(const AstroPoints *points, guint32 leaf)
{
  return (Item *)(gpointer)&points->positions[leaf];
}

/* NULL if there are no weights. */
static double *weights_at(const AstroPoints *points, guint32 leaf)
{
  return points->weights ? points->weights + (gsize)leaf * LEAF_POINTS : NULL;
}

/* How far the furthest point is from the middle, and the rounding errors of finding out. */
static double reach_of(const Cell *cell, const Item *items)
{
  double furthest = 0;
  for (guint64 i = 0; i < cell->n; i++) {
    double dx = items[i].x[0] - cell->x, dy = items[i].x[1] - cell->y, dz = items[i].x[2] - cell->z;
    furthest = MAX(furthest, dx * dx + dy * dy + dz * dz);
  }
  return sqrt(furthest) * (1 + 1e-14);
}

static void measure_cell(Cell *cell, const Item *items, const double *weights, gboolean in_space)
{
  double sum[3] = { 0, 0, 0 }, weight = 0;
  for (guint64 i = 0; i < cell->n; i++)
    for (guint axis = 0; axis < 3; axis++)
      sum[axis] += items[i].x[axis];
  for (guint64 i = 0; i < cell->n && weights; i++)
    weight += weights[i];
  cell->weight = weights ? weight : (double)cell->n;
  if (in_space) {
    cell->x = sum[0] / (double)cell->n;
    cell->y = sum[1] / (double)cell->n;
    cell->z = sum[2] / (double)cell->n;
    cell->chord = reach_of(cell, items);
    return;
  }
  double length = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
  if (length < 1e-6 * cell->n) { /* the points lie all around: any middle will do */
    sum[0] = sum[1] = 0;
    sum[2] = length = 1;
  }
  cell->x = sum[0] / length;
  cell->y = sum[1] / length;
  cell->z = sum[2] / length;
  cell->chord = MIN(reach_of(cell, items) + 1e-15, 2); /* a chord is at most 2 */
  double square = cell->chord * cell->chord;
  cell->cos_radius = 1 - square / 2;
  cell->sin_radius = sqrt(MAX(square * (1 - square / 4), 0));
}

static void fill_leaf(AstroPoints *points, const Cell *cell)
{
  Item items[LEAF_POINTS];
  memcpy(items, items_at(points, cell->first_leaf), sizeof items);
  LeafPositions *positions = &points->positions[cell->first_leaf];
  LeafOffsets *offsets = points->in_space ? NULL : &points->offsets[cell->first_leaf];
  double *weights = weights_at(points, cell->first_leaf);
  for (guint i = 0; i < LEAF_POINTS; i++) {
    gboolean is_point = i < cell->n;
    double x = is_point ? items[i].x[0] : NAN, y = is_point ? items[i].x[1] : NAN,
           z = is_point ? items[i].x[2] : NAN;
    double dx = is_point ? x - cell->x : 0, dy = is_point ? y - cell->y : 0,
           dz = is_point ? z - cell->z : 0;
    positions->x[i] = x;
    positions->y[i] = y;
    positions->z[i] = z;
    if (weights && !is_point)
      weights[i] = 0;
    if (!offsets)
      continue;
    offsets->x[i] = (float)dx;
    offsets->y[i] = (float)dy;
    offsets->z[i] = (float)dz;
    offsets->square[i] = is_point ? (float)(dx * dx + dy * dy + dz * dz) : INFINITY;
  }
}

/* Splits a cell into whole leaves on either side: its children are the cells free and free + 1. */
static void note_children(AstroPoints *points, guint32 index, guint32 free)
{
  Cell *cell = &points->cells[index];
  const guint64 left = left_points(cell->n);
  cell->left = free;
  points->cells[free] = (Cell){ .n = left, .first_leaf = cell->first_leaf };
  points->cells[free + 1] =
      (Cell){ .n = cell->n - left, .first_leaf = cell->first_leaf + leaves_of(left) };
}

static void build_cell(Build *build, guint32 index, guint32 free)
{
  AstroPoints *points = build->points;
  Cell *cell = &points->cells[index];
  Item *items = items_at(points, cell->first_leaf);
  double *weights = weights_at(points, cell->first_leaf);
  if (cell->n > UNASKED_POINTS && astro_is_stopped(&build->work))
    return;
  measure_cell(cell, items, weights, points->in_space);
  if (cell->n <= LEAF_POINTS) {
    fill_leaf(points, cell);
    return;
  }
  astro_select(items, weights, cell->n, left_points(cell->n), astro_axis_of(items, cell->n));
  note_children(points, index, free);
  const guint32 behind = free + 2;
  build_cell(build, free, behind);
  build_cell(build, free + 1, behind + layout_descendants(leaves_of(points->cells[free].n)));
}

/* ---- all of them ---- */

static void halve_branch(const Build *build, const Branch *branch, guint threads)
{
  astro_halve(items_at(build->points, branch->first_leaf),
              weights_at(build->points, branch->first_leaf), branch->n, left_points(branch->n),
              threads);
}

static void split_branch(gpointer data, guint64 task)
{
  Build *build = data;
  const Branch *branch = &build->branches[task];
  Item *items = items_at(build->points, branch->first_leaf);
  if (branch->n > LEAF_POINTS && branch->n <= SHARED_POINTS && !astro_is_stopped(&build->work))
    astro_select(items, weights_at(build->points, branch->first_leaf), branch->n,
                 left_points(branch->n), astro_axis_of(items, branch->n));
}

/* A few large branches would leave most threads idle, so that these halve each of them together. */
static void split_branches(Build *build, guint threads)
{
  for (guint b = 0; b < build->n_branches; b++)
    if (build->branches[b].n > SHARED_POINTS && !astro_is_stopped(&build->work))
      halve_branch(build, &build->branches[b], threads);
  astro_parallel(build->n_branches, threads, split_branch, build);
  for (guint b = 0; b < build->n_branches; b++)
    if (build->branches[b].n > LEAF_POINTS)
      note_children(build->points, build->branches[b].cell, build->branches[b].free);
}

static void build_branch(gpointer data, guint64 task)
{
  Build *build = data;
  const Branch *branch = &build->branches[task];
  build_cell(build, branch->cell, branch->free);
}

gboolean tree_build(AstroPoints *points, guint threads, const AstroStop *stop)
{
  Build build = { .points = points, .work = { .stop = stop } };
  build.branches = roots_of(points, &build.n_branches);
  for (guint b = 0; b < build.n_branches; b++)
    points->cells[build.branches[b].cell] =
        (Cell){ .n = build.branches[b].n, .first_leaf = build.branches[b].first_leaf };
  for (guint64 tops = points->n_regions; tops < TOPS_WANTED && !build.work.stopped; tops *= 2) {
    split_branches(&build, threads);
    descend(&build.branches, &build.n_branches);
  }
  if (!build.work.stopped)
    astro_parallel(build.n_branches, threads, build_branch, &build);
  g_free(build.branches);
  return !build.work.stopped;
}
