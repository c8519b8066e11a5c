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

typedef struct {
  AstroPoints *points;
  Item *items;
  guint64 *region_first; /* item */
  GArray *tops;
  GArray *top_items; /* where the items of each top begin */
} Build;

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

static void find_tops(Build *build, guint32 region, guint32 index, guint32 free, guint64 item,
                      guint levels)
{
  AstroPoints *points = build->points;
  Cell *cell = &points->cells[index];
  if (levels == 0 || cell->n <= LEAF_POINTS) {
    Top top = { .cell = index, .region = region };
    g_array_append_val(build->tops, top);
    g_array_append_val(build->top_items, item);
    /* cells above a top need no more than left: its descendants start at free */
    cell->left = free;
    return;
  }
  split_cell(points, index, free, build->items + item);
  guint64 n_left = points->cells[free].n;
  guint32 behind = free + 2;
  find_tops(build, region, free, behind, item, levels - 1);
  find_tops(build, region, free + 1, behind + descendants(&points->cells[free]), item + n_left,
            levels - 1);
}

static void build_top(gpointer data, guint64 task)
{
  Build *build = data;
  guint32 index = g_array_index(build->tops, Top, task).cell;
  guint32 free = build->points->cells[index].left;
  build->points->cells[index].left = 0;
  build_cell(build->points, index, free,
             build->items + g_array_index(build->top_items, guint64, task));
}

static void build_tree(Build *build, guint threads)
{
  AstroPoints *points = build->points;
  guint levels = 0;
  while (((guint64)points->n_regions << levels) < TOPS_WANTED)
    levels++;
  guint32 free = points->n_regions;
  for (guint32 r = 0; r < points->n_regions; r++) {
    if (points->region_n[r] == 0)
      continue;
    points->cells[r] =
        (Cell){ .n = points->region_n[r], .first_leaf = points->region_first_leaf[r] };
    find_tops(build, r, r, free, build->region_first[r], levels);
    free += descendants(&points->cells[r]);
  }
  points->n_tops = build->tops->len;
  astro_parallel(points->n_tops, threads, build_top, build);
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
    astro_unit_vector(ra[i], dec[i], &item->x[0], &item->x[1], &item->x[2]);
    item->weight = weight ? weight[i] : 1;
  }
  g_free(next);
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

  Build build = { .points = points,
                  .items = g_new(Item, MAX(n, 1)),
                  .tops = g_array_new(FALSE, FALSE, sizeof(Top)),
                  .top_items = g_array_new(FALSE, FALSE, sizeof(guint64)) };
  place_items(&build, ra_degrees, dec_degrees, weight, region);
  build_tree(&build, threads);
  points->tops = (Top *)(gpointer)g_array_free(build.tops, FALSE);
  g_array_free(build.top_items, TRUE);
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
