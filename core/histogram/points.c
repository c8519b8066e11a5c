/* Points into unit vectors, regions and a tree.
 *
 * Every leaf but the last of a region is full, which keeps vectors full too. A cell's children lie
 * side by side, its other descendants behind them: how many there are follows from the leaves
 * alone, so subtrees are built in parallel and the tree is the same for any number of threads. */
#include "core/histogram/points.h"
#include "core/backend/threads.h"

#include <math.h>

/* About this many tops: enough tasks (pairs of tops) for many cores and for progress. */
#define TOPS_WANTED 128

typedef struct {
  double x[3];
  double weight;
} Item;

/* A cell on the way to becoming a top. */
typedef struct {
  guint32 cell, region;
  guint32 free; /* where its descendants go */
  guint64 item; /* where its items begin */
} Branch;

typedef struct {
  AstroPoints *points;
  Item *items;
  guint64 *region_first; /* item */
  Branch *branches;
  guint n_branches;
} Build;

#define ITEMS_AT_ONCE 8192

static gsize leaves_of(guint64 n)
{
  return (n + LEAF_POINTS - 1) / LEAF_POINTS;
}

static void swap_items(Item *a, Item *b)
{
  Item t = *a;
  *a = *b;
  *b = t;
}

/* Orders items so that the first k are those smallest along the axis. */
static void select_items(Item *items, guint64 n, guint64 k, guint axis)
{
  while (n > 1) {
    Item *last = items + n - 1, *middle = items + n / 2;
    if (middle->x[axis] < items->x[axis])
      swap_items(middle, items);
    if (last->x[axis] < items->x[axis])
      swap_items(last, items);
    if (last->x[axis] < middle->x[axis])
      swap_items(last, middle);
    double pivot = middle->x[axis];
    guint64 i = 0, j = n - 1;
    for (;;) {
      while (items[i].x[axis] < pivot)
        i++;
      while (items[j].x[axis] > pivot)
        j--;
      if (i >= j)
        break;
      swap_items(items + i++, items + j--);
    }
    /* items before i are <= pivot, those from i on >= pivot (an i == j holds the pivot itself) */
    guint64 split = MAX(i, 1);
    if (k == split)
      return;
    if (k < split) {
      n = split;
    } else {
      items += split;
      n -= split;
      k -= split;
    }
  }
}

static guint widest_axis(const Item *items, guint64 n)
{
  double low[3] = { 2, 2, 2 }, high[3] = { -2, -2, -2 };
  for (guint64 i = 0; i < n; i++)
    for (guint axis = 0; axis < 3; axis++) {
      low[axis] = MIN(low[axis], items[i].x[axis]);
      high[axis] = MAX(high[axis], items[i].x[axis]);
    }
  guint widest = 0;
  for (guint axis = 1; axis < 3; axis++)
    if (high[axis] - low[axis] > high[widest] - low[widest])
      widest = axis;
  return widest;
}

static void measure_cell(Cell *cell, const Item *items)
{
  double sum[3] = { 0, 0, 0 }, weight = 0;
  for (guint64 i = 0; i < cell->n; i++) {
    for (guint axis = 0; axis < 3; axis++)
      sum[axis] += items[i].x[axis];
    weight += items[i].weight;
  }
  double length = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
  if (length < 1e-6 * cell->n) { /* points all around: any middle will do */
    sum[0] = sum[1] = 0;
    sum[2] = length = 1;
  }
  cell->x = sum[0] / length;
  cell->y = sum[1] / length;
  cell->z = sum[2] / length;
  double furthest = 0;
  for (guint64 i = 0; i < cell->n; i++) {
    double dx = items[i].x[0] - cell->x, dy = items[i].x[1] - cell->y, dz = items[i].x[2] - cell->z;
    furthest = MAX(furthest, dx * dx + dy * dy + dz * dz);
  }
  /* more than the rounding of the lines above; a chord is at most 2 */
  cell->chord = MIN(sqrt(furthest) * (1 + 1e-14) + 1e-15, 2);
  double square = cell->chord * cell->chord;
  cell->cos_radius = 1 - square / 2;
  cell->sin_radius = sqrt(MAX(square * (1 - square / 4), 0));
  cell->weight = weight;
}

static void fill_leaf(AstroPoints *points, const Cell *cell, const Item *items)
{
  LeafPositions *positions = &points->positions[cell->first_leaf];
  LeafOffsets *offsets = &points->offsets[cell->first_leaf];
  double *weights =
      points->weights ? points->weights + (gsize)cell->first_leaf * LEAF_POINTS : NULL;
  for (guint i = 0; i < LEAF_POINTS; i++) {
    gboolean is_point = i < cell->n;
    double x = is_point ? items[i].x[0] : NAN, y = is_point ? items[i].x[1] : NAN,
           z = is_point ? items[i].x[2] : NAN;
    double dx = is_point ? x - cell->x : 0, dy = is_point ? y - cell->y : 0,
           dz = is_point ? z - cell->z : 0;
    positions->x[i] = x;
    positions->y[i] = y;
    positions->z[i] = z;
    offsets->x[i] = (float)dx;
    offsets->y[i] = (float)dy;
    offsets->z[i] = (float)dz;
    offsets->square[i] = is_point ? (float)(dx * dx + dy * dy + dz * dz) : INFINITY;
    if (weights)
      weights[i] = is_point ? items[i].weight : 0;
  }
}

/* Splits a cell in two at free and free + 1, which hold whole leaves. */
static void split_cell(AstroPoints *points, guint32 index, guint32 free, Item *items)
{
  Cell *cell = &points->cells[index];
  gsize n_left = (leaves_of(cell->n) + 1) / 2 * LEAF_POINTS;
  select_items(items, cell->n, n_left, widest_axis(items, cell->n));
  cell->left = free;
  points->cells[free] = (Cell){ .n = n_left, .first_leaf = cell->first_leaf };
  points->cells[free + 1] =
      (Cell){ .n = cell->n - n_left,
              .first_leaf = cell->first_leaf + (guint32)(n_left / LEAF_POINTS) };
}

static guint32 descendants(const Cell *cell)
{
  return 2 * (guint32)leaves_of(cell->n) - 2;
}

static void build_cell(AstroPoints *points, guint32 index, guint32 free, Item *items)
{
  Cell *cell = &points->cells[index];
  measure_cell(cell, items);
  if (cell->n <= LEAF_POINTS) {
    fill_leaf(points, cell, items);
    return;
  }
  split_cell(points, index, free, items);
  guint64 n_left = points->cells[free].n;
  guint32 behind = free + 2;
  build_cell(points, free, behind, items);
  build_cell(points, free + 1, behind + descendants(&points->cells[free]), items + n_left);
}

static void split_branch(gpointer data, guint64 task)
{
  Build *build = data;
  const Branch *branch = &build->branches[task];
  if (build->points->cells[branch->cell].n > LEAF_POINTS)
    split_cell(build->points, branch->cell, branch->free, build->items + branch->item);
}

/* The branches of the next level: children, and leaves as they are. */
static void descend(Build *build, guint threads)
{
  const Cell *cells = build->points->cells;
  astro_parallel(build->n_branches, threads, split_branch, build);
  Branch *next = g_new(Branch, 2 * (gsize)build->n_branches + 1);
  guint n = 0;
  for (guint b = 0; b < build->n_branches; b++) {
    Branch branch = build->branches[b];
    if (cells[branch.cell].n <= LEAF_POINTS) {
      next[n++] = branch;
      continue;
    }
    const Cell *left = &cells[branch.free];
    guint32 behind = branch.free + 2;
    next[n++] = (Branch){ branch.free, branch.region, behind, branch.item };
    next[n++] = (Branch){ branch.free + 1, branch.region, behind + descendants(left),
                          branch.item + left->n };
  }
  g_free(build->branches);
  build->branches = next;
  build->n_branches = n;
}

static void build_branch(gpointer data, guint64 task)
{
  Build *build = data;
  const Branch *branch = &build->branches[task];
  build_cell(build->points, branch->cell, branch->free, build->items + branch->item);
}

static void begin_branches(Build *build)
{
  AstroPoints *points = build->points;
  guint32 free = points->n_regions;
  build->branches = g_new(Branch, points->n_regions);
  for (guint32 r = 0; r < points->n_regions; r++) {
    if (points->region_n[r] == 0)
      continue;
    points->cells[r] =
        (Cell){ .n = points->region_n[r], .first_leaf = points->region_first_leaf[r] };
    build->branches[build->n_branches++] = (Branch){ r, r, free, build->region_first[r] };
    free += descendants(&points->cells[r]);
  }
}

static void build_tree(Build *build, guint threads)
{
  AstroPoints *points = build->points;
  begin_branches(build);
  for (guint64 tops = points->n_regions; tops < TOPS_WANTED; tops *= 2)
    descend(build, threads);
  points->n_tops = build->n_branches;
  points->tops = g_new(Top, MAX(points->n_tops, 1));
  for (guint t = 0; t < points->n_tops; t++)
    points->tops[t] = (Top){ build->branches[t].cell, build->branches[t].region };
  astro_parallel(points->n_tops, threads, build_branch, build);
  g_free(build->branches);
}

static gboolean refuse(GError **error, guint64 i, const char *what, double value,
                       const char *expected)
{
  g_set_error(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_POINTS,
              "point %" G_GUINT64_FORMAT ": %s is %g, expected %s", i, what, value, expected);
  return FALSE;
}

static gboolean check_point(const double *ra, const double *dec, const double *weight,
                            const double *region, guint64 i, guint n_regions, GError **error)
{
  if (!isfinite(ra[i]))
    return refuse(error, i, "right ascension", ra[i], "degrees");
  if (!(fabs(dec[i]) <= 90))
    return refuse(error, i, "declination", dec[i], "-90 to 90 degrees");
  if (weight && !isfinite(weight[i]))
    return refuse(error, i, "weight", weight[i], "a number");
  if (region && !(region[i] >= 0 && region[i] < n_regions && region[i] == floor(region[i])))
    return refuse(error, i, "region", region[i],
                  "a whole number from 0, below the number of regions");
  return TRUE;
}

static gboolean count_regions(AstroPoints *points, const double *ra, const double *dec,
                              const double *weight, const double *region, GError **error)
{
  for (guint64 i = 0; i < points->n; i++) {
    if (!check_point(ra, dec, weight, region, i, points->n_regions, error))
      return FALSE;
    points->region_n[region ? (guint)region[i] : 0]++;
  }
  guint64 leaves = 0;
  for (guint r = 0; r < points->n_regions; r++) {
    points->region_first_leaf[r] = (guint32)leaves;
    leaves += leaves_of(points->region_n[r]);
  }
  points->n_leaves = (guint32)leaves;
  return TRUE;
}

/* Right ascensions and declinations by region, to be converted in place. */
static void place_items(Build *build, const double *ra, const double *dec, const double *weight,
                        const double *region)
{
  AstroPoints *points = build->points;
  guint64 *next = g_new0(guint64, points->n_regions);
  for (guint r = 1; r < points->n_regions; r++)
    next[r] = next[r - 1] + points->region_n[r - 1];
  build->region_first = g_memdup2(next, points->n_regions * sizeof *next);
  for (guint64 i = 0; i < points->n; i++) {
    Item *item = &build->items[next[region ? (guint)region[i] : 0]++];
    item->x[0] = ra[i];
    item->x[1] = dec[i];
    item->weight = weight ? weight[i] : 1;
  }
  g_free(next);
}

static void convert_items(gpointer data, guint64 task)
{
  Build *build = data;
  guint64 first = task * ITEMS_AT_ONCE, last = MIN(first + ITEMS_AT_ONCE, build->points->n);
  for (guint64 i = first; i < last; i++) {
    Item *item = &build->items[i];
    astro_unit_vector(item->x[0], item->x[1], &item->x[0], &item->x[1], &item->x[2]);
  }
}

AstroPoints *astro_points_new(const double *ra_degrees, const double *dec_degrees,
                              const double *weight, const double *region, guint64 n,
                              guint n_regions, guint threads, GError **error)
{
  AstroPoints *points = g_new0(AstroPoints, 1);
  points->n = n;
  points->n_regions = MAX(n_regions, 1);
  points->region_n = g_new0(guint64, points->n_regions);
  points->region_first_leaf = g_new0(guint32, points->n_regions);
  if (!count_regions(points, ra_degrees, dec_degrees, weight, region, error)) {
    astro_points_free(points);
    return NULL;
  }
  gsize leaves = MAX(points->n_leaves, 1);
  points->positions = g_aligned_alloc(leaves, sizeof(LeafPositions), 64);
  points->offsets = g_aligned_alloc(leaves, sizeof(LeafOffsets), 64);
  points->weights = weight ? g_aligned_alloc(leaves, LEAF_POINTS * sizeof(double), 64) : NULL;
  points->cells = g_new0(Cell, points->n_regions + 2 * leaves);

  Build build = { .points = points, .items = g_new(Item, MAX(n, 1)) };
  place_items(&build, ra_degrees, dec_degrees, weight, region);
  astro_parallel((n + ITEMS_AT_ONCE - 1) / ITEMS_AT_ONCE, threads, convert_items, &build);
  build_tree(&build, threads);
  g_free(build.region_first);
  g_free(build.items);
  return points;
}

void astro_points_free(AstroPoints *points)
{
  if (!points)
    return;
  g_free(points->region_n);
  g_free(points->region_first_leaf);
  g_aligned_free(points->positions);
  g_aligned_free(points->offsets);
  g_aligned_free(points->weights);
  g_free(points->cells);
  g_free(points->tops);
  g_free(points);
}

guint64 astro_points_count(const AstroPoints *points)
{
  return points->n;
}

double astro_points_weight(const AstroPoints *points)
{
  double sum = 0;
  for (guint t = 0; t < points->n_tops; t++)
    sum += points->cells[points->tops[t].cell].weight;
  return sum;
}
