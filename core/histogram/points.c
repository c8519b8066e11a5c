/* Makes unit vectors, regions and a tree of the points of a catalogue.
 *
 * Every leaf but the last of a region is full, so that vectors are full too. A cell's children lie
 * side by side, with its other descendants behind them. How many there are follows from the number
 * of leaves, so subtrees are built in parallel and the tree is the same for any number of threads.
 */
#include "core/histogram/points.h"
#include "core/backend/threads.h"
#include "core/histogram/halve.h"
#include "core/kit/pages.h"

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
} Branch;

typedef struct {
  AstroPoints *points;
  Branch *branches;
  guint n_branches;
  AstroStoppable work;
} Build;

/* Cells of this many points are made without asking whether the count was cancelled. */
#define UNASKED_POINTS 65536

#define ITEMS_AT_ONCE 8192

static gsize leaves_of(guint64 n)
{
  return (n + LEAF_POINTS - 1) / LEAF_POINTS;
}

static Item *items_of(const AstroPoints *points, const Cell *cell)
{
  return (Item *)(gpointer)&points->positions[cell->first_leaf];
}

/* NULL if there are no weights. */
static double *weights_of(const AstroPoints *points, const Cell *cell)
{
  return points->weights ? points->weights + (gsize)cell->first_leaf * LEAF_POINTS : NULL;
}

static guint widest_axis(const Item *items, guint64 n)
{
  double low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY, -INFINITY };
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
  memcpy(items, items_of(points, cell), sizeof items);
  LeafPositions *positions = &points->positions[cell->first_leaf];
  LeafOffsets *offsets = points->in_space ? NULL : &points->offsets[cell->first_leaf];
  double *weights = weights_of(points, cell);
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
static void split_cell(AstroPoints *points, guint32 index, guint32 free)
{
  Cell *cell = &points->cells[index];
  Item *items = items_of(points, cell);
  gsize n_left = (leaves_of(cell->n) + 1) / 2 * LEAF_POINTS;
  astro_select(items, weights_of(points, cell), cell->n, n_left, widest_axis(items, cell->n));
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

static void build_cell(Build *build, guint32 index, guint32 free)
{
  AstroPoints *points = build->points;
  Cell *cell = &points->cells[index];
  if (cell->n > UNASKED_POINTS && astro_is_stopped(&build->work))
    return;
  measure_cell(cell, items_of(points, cell), weights_of(points, cell), points->in_space);
  if (cell->n <= LEAF_POINTS) {
    fill_leaf(points, cell);
    return;
  }
  split_cell(points, index, free);
  guint32 behind = free + 2;
  build_cell(build, free, behind);
  build_cell(build, free + 1, behind + descendants(&points->cells[free]));
}

static void split_branch(gpointer data, guint64 task)
{
  Build *build = data;
  const Branch *branch = &build->branches[task];
  if (build->points->cells[branch->cell].n > LEAF_POINTS && !astro_is_stopped(&build->work))
    split_cell(build->points, branch->cell, branch->free);
}

/* Replaces branches by their children; leaves stay. */
static void descend(Build *build, guint threads)
{
  const Cell *cells = build->points->cells;
  astro_parallel(build->n_branches, threads, split_branch, build);
  if (build->work.stopped) /* not all have children */
    return;
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
    next[n++] = (Branch){ branch.free, branch.region, behind };
    next[n++] = (Branch){ branch.free + 1, branch.region, behind + descendants(left) };
  }
  g_free(build->branches);
  build->branches = next;
  build->n_branches = n;
}

static void build_branch(gpointer data, guint64 task)
{
  Build *build = data;
  const Branch *branch = &build->branches[task];
  build_cell(build, branch->cell, branch->free);
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
    build->branches[build->n_branches++] = (Branch){ r, r, free };
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

static gboolean refuse_region(GError **error, guint64 at, double value, guint n_regions)
{
  g_autofree char *expected =
      g_strdup_printf("a whole number from 0 to %u, of %u regions", n_regions - 1, n_regions);
  return refuse(error, at, "region", value, expected);
}

/* Distances whose fourth powers are within the range of double precision. */
#define LEAST_DISTANCE 1e-50
#define MOST_DISTANCE 1e50

/* at: the point's number, which errors name. */
static gboolean check_point(const PointColumns *c, guint64 i, guint64 at, guint n_regions,
                            GError **error)
{
  if (!isfinite(c->ra[i]))
    return refuse(error, at, "right ascension", c->ra[i], "a finite number of degrees");
  if (!(fabs(c->dec[i]) <= 90))
    return refuse(error, at, "declination", c->dec[i], "-90 to 90 degrees");
  if (c->distance && !(c->distance[i] >= LEAST_DISTANCE && c->distance[i] <= MOST_DISTANCE))
    return refuse(error, at, "distance", c->distance[i], "a distance above 0, 1e50 at most");
  if (c->weight && !isfinite(c->weight[i]))
    return refuse(error, at, "weight", c->weight[i], "a finite number");
  if (c->region &&
      !(c->region[i] >= 0 && c->region[i] < n_regions && c->region[i] == floor(c->region[i])))
    return refuse_region(error, at, c->region[i], n_regions);
  return TRUE;
}

gboolean points_check(const PointColumns *columns, guint64 first, guint n_regions, GError **error)
{
  for (guint64 i = 0; i < columns->n; i++)
    if (!check_point(columns, i, first + i, MAX(n_regions, 1), error))
      return FALSE;
  return TRUE;
}

static gboolean count_regions(AstroPoints *points, const PointColumns *columns, GError **error)
{
  for (guint64 i = 0; i < points->n; i++) {
    if (!check_point(columns, i, i, points->n_regions, error))
      return FALSE;
    points->region_n[columns->region ? (guint)columns->region[i] : 0]++;
  }
  guint64 leaves = 0;
  for (guint r = 0; r < points->n_regions; r++) {
    points->region_first_leaf[r] = (guint32)leaves;
    leaves += leaves_of(points->region_n[r]);
  }
  points->n_leaves = (guint32)leaves;
  return TRUE;
}

/* Sorts right ascensions, declinations and distances by region; they become vectors in place. */
static void place_items(AstroPoints *points, const PointColumns *columns)
{
  const double *region = columns->region;
  Item *items = (Item *)(gpointer)points->positions;
  guint64 *next = g_new(guint64, points->n_regions);
  for (guint r = 0; r < points->n_regions; r++)
    next[r] = (guint64)points->region_first_leaf[r] * LEAF_POINTS;
  for (guint64 i = 0; i < points->n; i++) {
    guint64 place = next[region ? (guint)region[i] : 0]++;
    items[place].x[0] = columns->ra[i];
    items[place].x[1] = columns->dec[i];
    items[place].x[2] = columns->distance ? columns->distance[i] : 1;
    if (columns->weight)
      points->weights[place] = columns->weight[i];
  }
  /* places that no point takes are converted too */
  for (guint r = 0; r < points->n_regions; r++)
    for (; next[r] % LEAF_POINTS; next[r]++)
      items[next[r]] = (Item){ { 0 } };
  g_free(next);
}

static void convert_items(gpointer data, guint64 task)
{
  Build *build = data;
  const AstroPoints *points = build->points;
  if (astro_is_stopped(&build->work))
    return;
  Item *items = (Item *)(gpointer)points->positions;
  guint64 all = (guint64)points->n_leaves * LEAF_POINTS;
  guint64 first = task * ITEMS_AT_ONCE, last = MIN(first + ITEMS_AT_ONCE, all);
  for (guint64 i = first; i < last; i++) {
    double *x = items[i].x, distance = x[2];
    astro_unit_vector(x[0], x[1], &x[0], &x[1], &x[2]);
    for (guint axis = 0; axis < 3 && points->in_space; axis++)
      x[axis] *= distance;
  }
}

/* The large blocks of a tree, which the system has to itself: what the C library's heap keeps of
 * freed ones would come on top of the memory that a user allows. */
typedef struct {
  gpointer *memory;
  gsize bytes;
} Block;
enum { POSITIONS, WEIGHTS, CELLS, OFFSETS, N_BLOCKS };

static void list_blocks(AstroPoints *points, Block blocks[N_BLOCKS])
{
  const gsize leaves = MAX(points->n_leaves, 1);
  blocks[POSITIONS] = (Block){ (gpointer *)&points->positions, leaves * sizeof(LeafPositions) };
  blocks[WEIGHTS] = (Block){ (gpointer *)&points->weights, leaves * LEAF_POINTS * sizeof(double) };
  blocks[CELLS] =
      (Block){ (gpointer *)&points->cells, (points->n_regions + 2 * leaves) * sizeof(Cell) };
  blocks[OFFSETS] = (Block){ (gpointer *)&points->offsets, leaves * sizeof(LeafOffsets) };
}

static gboolean alloc_block(AstroPoints *points, guint block)
{
  Block blocks[N_BLOCKS];
  list_blocks(points, blocks);
  return (*blocks[block].memory = astro_pages_zeros(blocks[block].bytes)) != NULL;
}

static gboolean alloc_places(AstroPoints *points, gboolean weighted)
{
  return alloc_block(points, POSITIONS) && (!weighted || alloc_block(points, WEIGHTS));
}

static gboolean alloc_tree(AstroPoints *points)
{
  return alloc_block(points, CELLS) && (points->in_space || alloc_block(points, OFFSETS));
}

static AstroPoints *give_up(AstroPoints *points, GError **error)
{
  astro_backend_no_memory(
      error, "not enough memory to count the pairs of %" G_GUINT64_FORMAT " points", points->n);
  astro_points_free(points);
  return NULL;
}

guint64 points_bytes_each(gboolean weighted, gboolean in_space)
{
  const gsize leaf = sizeof(LeafPositions) + (in_space ? 0 : sizeof(LeafOffsets)) +
                     (weighted ? LEAF_POINTS * sizeof(double) : 0) + 2 * sizeof(Cell);
  return (leaf + LEAF_POINTS - 1) / LEAF_POINTS;
}

guint64 points_bytes_of_region(void)
{
  return sizeof(LeafPositions) + sizeof(LeafOffsets) + LEAF_POINTS * sizeof(double) +
         3 * sizeof(Cell) + sizeof(guint64) + sizeof(guint32) + sizeof(Top) + 2 * sizeof(Branch);
}

AstroPoints *points_new(const PointColumns *columns, guint n_regions, guint threads,
                        const AstroStop *stop, GDestroyNotify free_columns, gpointer data,
                        GError **error)
{
  static guint64 serial;
  AstroPoints *points = g_new0(AstroPoints, 1);
  points->serial = __atomic_add_fetch(&serial, 1, __ATOMIC_RELAXED);
  points->n = columns->n;
  points->n_regions = MAX(n_regions, 1);
  points->in_space = columns->distance != NULL;
  points->region_n = g_new0(guint64, points->n_regions);
  points->region_first_leaf = g_new0(guint32, points->n_regions);
  if (!count_regions(points, columns, error)) {
    astro_points_free(points);
    return NULL;
  }
  const gsize leaves = MAX(points->n_leaves, 1);
  if (!alloc_places(points, columns->weight != NULL))
    return give_up(points, error);
  place_items(points, columns);
  if (free_columns)
    free_columns(data);
  if (!alloc_tree(points))
    return give_up(points, error);
  Build build = { .points = points, .work = { .stop = stop } };
  astro_parallel((leaves * LEAF_POINTS + ITEMS_AT_ONCE - 1) / ITEMS_AT_ONCE, threads, convert_items,
                 &build);
  build_tree(&build, threads);
  if (!build.work.stopped)
    return points;
  g_set_error(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_CANCELLED,
              "stopped while %" G_GUINT64_FORMAT " points were being prepared", points->n);
  astro_points_free(points);
  return NULL;
}

AstroPoints *astro_points_in_space(const double *ra_degrees, const double *dec_degrees,
                                   const double *distance, const double *weight,
                                   const double *region, guint64 n, guint n_regions, guint threads,
                                   const AstroStop *stop, GError **error)
{
  const PointColumns columns = { n, ra_degrees, dec_degrees, distance, weight, region };
  return points_new(&columns, n_regions, threads, stop, NULL, NULL, error);
}

AstroPoints *astro_points_new(const double *ra_degrees, const double *dec_degrees,
                              const double *weight, const double *region, guint64 n,
                              guint n_regions, guint threads, const AstroStop *stop, GError **error)
{
  return astro_points_in_space(ra_degrees, dec_degrees, NULL, weight, region, n, n_regions, threads,
                               stop, error);
}

void astro_points_free(AstroPoints *points)
{
  if (!points)
    return;
  Block blocks[N_BLOCKS];
  list_blocks(points, blocks);
  for (guint b = 0; b < N_BLOCKS; b++)
    if (*blocks[b].memory)
      astro_pages_zeros_free(*blocks[b].memory, blocks[b].bytes);
  g_free(points->fields);
  g_free(points->region_n);
  g_free(points->region_first_leaf);
  g_free(points->tops);
  g_free(points);
}

guint64 astro_points_count(const AstroPoints *points)
{
  return points->n;
}
