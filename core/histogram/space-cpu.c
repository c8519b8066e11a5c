/* Walks two trees of points in space at once. Two balls that cannot hold a pair within the bins are
 * left out; all other leaves are compared pair by pair. */
#include "core/histogram/space-cpu.h"

#include "core/backend/threads.h"
#include "core/histogram/space.h"

typedef struct {
  const Counter *counter;
  const AstroPoints *a, *b;
  guint64 *counts;
  double *sums; /* NULL where there are no weights */
} Walk;

/* More than the rounding errors of a separation, relative to the numbers that it comes from. */
#define MARGIN 1e-12

static double length_of(const Cell *cell)
{
  return sqrt(cell->x * cell->x + cell->y * cell->y + cell->z * cell->z);
}

/* Whether a pair of the two balls may lie within the bins. Two points are never further apart along
 * the line of sight than they are apart, nor less than their distances differ. */
static gboolean may_count(const SpaceRule *rule, const Cell *a, const Cell *b)
{
  const double dx = a->x - b->x, dy = a->y - b->y, dz = a->z - b->z;
  const double between = sqrt(dx * dx + dy * dy + dz * dz), reach = a->chord + b->chord;
  const double doubt = MARGIN * (between + reach);
  if (between - reach > rule->reach + doubt || between + reach < rule->least - doubt)
    return FALSE;
  if (isinf(rule->depth))
    return TRUE;
  const double far_a = length_of(a), far_b = length_of(b);
  return fabs(far_a - far_b) - reach <= rule->depth + MARGIN * (far_a + far_b + reach);
}

static double weight_at(const AstroPoints *points, gsize slot)
{
  return points->weights ? points->weights[slot] : 1;
}

static void add_hits(Walk *walk, gsize slot_a, gsize leaf_b, const SpaceHits *hits)
{
  for (guint k = 0; k < hits->n; k++)
    walk->counts[hits->bin[k]]++;
  if (!walk->sums)
    return;
  const double weight = weight_at(walk->a, slot_a);
  for (guint k = 0; k < hits->n; k++)
    walk->sums[hits->bin[k]] += weight * weight_at(walk->b, leaf_b * LEAF_POINTS + hits->point[k]);
}

static void place_point(Walk *walk, const Cell *a, guint i, const Cell *b,
                        const LeafPositions *positions_b)
{
  const LeafPositions *leaf = &walk->a->positions[a->first_leaf];
  const double at[3] = { leaf->x[i], leaf->y[i], leaf->z[i] };
  SpaceHits hits;
  walk->counter->kernels->space(walk->counter->rule, at, positions_b, &hits);
  add_hits(walk, (gsize)a->first_leaf * LEAF_POINTS + i, b->first_leaf, &hits);
}

/* The square of a distance from b's middle beyond which a point has no pair with b in the bins. */
static double far_from(const Walk *walk, const Cell *b)
{
  if (walk->counter->config.method == ASTRO_PAIR_METHOD_BRUTE)
    return INFINITY;
  const double far = (walk->counter->rule->reach + b->chord) * (1 + MARGIN);
  return far * far;
}

static void visit_leaves(Walk *walk, const Cell *a, const Cell *b)
{
  const LeafPositions *at = &walk->a->positions[a->first_leaf];
  const double far = far_from(walk, b);
  for (guint i = 0; i < a->n; i++) {
    const double dx = at->x[i] - b->x, dy = at->y[i] - b->y, dz = at->z[i] - b->z;
    if (dx * dx + dy * dy + dz * dz <= far)
      place_point(walk, a, i, b, &walk->b->positions[b->first_leaf]);
  }
}

/* Each pair within a leaf once: a point meets those behind it, as the others are NaN by then. */
static void visit_leaf(Walk *walk, const Cell *cell)
{
  LeafPositions behind = walk->a->positions[cell->first_leaf];
  for (guint i = 0; i < cell->n; i++) {
    behind.x[i] = NAN;
    place_point(walk, cell, i, cell, &behind);
  }
}

static void visit(Walk *walk, const Cell *a, const Cell *b)
{
  if (walk->counter->config.method != ASTRO_PAIR_METHOD_BRUTE &&
      !may_count(walk->counter->rule, a, b))
    return;
  if (!a->left && !b->left) {
    visit_leaves(walk, a, b);
    return;
  }
  /* Cells of similar size are both split. */
  const gboolean split_a = a->left && (!b->left || 2 * a->chord > b->chord),
                 split_b = b->left && (!a->left || 2 * b->chord > a->chord);
  const Cell *as = split_a ? &walk->a->cells[a->left] : a,
             *bs = split_b ? &walk->b->cells[b->left] : b;
  for (guint i = 0; i <= (guint)split_a; i++)
    for (guint j = 0; j <= (guint)split_b; j++)
      visit(walk, as + i, bs + j);
}

static void visit_self(Walk *walk, const Cell *cell)
{
  if (!cell->left) {
    visit_leaf(walk, cell);
    return;
  }
  const Cell *left = &walk->a->cells[cell->left];
  visit_self(walk, left);
  visit_self(walk, left + 1);
  visit(walk, left, left + 1);
}

typedef struct {
  Count *count;
  gboolean alone;
  gsize n_bins;
  guint n_regions;
  /* [top of a][region of b][bin], so that they are always summed in the same order; or NULL */
  double *sums;
} Tasks;

/* Adds the counts of a top with those of one region, and clears them. */
static void give_counts(const Tasks *tasks, guint region_a, guint region_b, guint64 *counts)
{
  guint64 *to =
      tasks->count->counts + ((gsize)region_a * tasks->n_regions + region_b) * tasks->n_bins;
  for (gsize k = 0; k < tasks->n_bins; k++)
    if (counts[k])
      __atomic_fetch_add(&to[k], counts[k], __ATOMIC_RELAXED);
  memset(counts, 0, tasks->n_bins * sizeof *counts);
}

/* Counts a top of a with all of b. */
static void count_top(gpointer data, guint64 task)
{
  const Tasks *tasks = data;
  Count *count = tasks->count;
  const AstroPoints *as = count->a, *bs = count->b;
  const Top *top_a = &as->tops[task];
  const Cell *a = &as->cells[top_a->cell];
  g_autofree guint64 *counts = g_new0(guint64, tasks->n_bins);
  Walk walk = { .counter = count->counter, .a = as, .b = bs, .counts = counts };
  const guint first = tasks->alone ? (guint)task : 0;
  for (guint t = first; t < bs->n_tops && !count_is_cancelled(count); t++) {
    const Top *top_b = &bs->tops[t];
    const Cell *b = &bs->cells[top_b->cell];
    const gboolean is_self = tasks->alone && t == task;
    if (tasks->sums)
      walk.sums = tasks->sums + (task * tasks->n_regions + top_b->region) * tasks->n_bins;
    const gboolean is_mine = count_has(count, t);
    if (is_mine && is_self)
      visit_self(&walk, a);
    else if (is_mine)
      visit(&walk, a, b);
    if (t + 1 == bs->n_tops || bs->tops[t + 1].region != top_b->region)
      give_counts(tasks, top_a->region, top_b->region, counts);
    if (is_mine)
      count_report(count, is_self ? a->n * (a->n - 1) / 2 : a->n * b->n);
  }
}

static void add_sums(const Tasks *tasks)
{
  const gsize of_top = tasks->n_regions * tasks->n_bins;
  for (guint t = 0; t < tasks->count->a->n_tops; t++) {
    double *to = tasks->count->sums + tasks->count->a->tops[t].region * of_top;
    for (gsize k = 0; k < of_top; k++)
      to[k] += tasks->sums[t * of_top + k];
  }
}

gboolean space_count(Count *count, gboolean alone, GError **error)
{
  const AstroHistogramConfig *config = &count->counter->config;
  Tasks tasks = { .count = count,
                  .alone = alone,
                  .n_bins = astro_histogram_bins(config),
                  .n_regions = astro_histogram_regions(config) };
  const gsize sums = count->a->n_tops * tasks.n_regions * tasks.n_bins;
  if (config->weighted && sums > 0 && !(tasks.sums = g_try_new0(double, sums)))
    return astro_backend_no_memory(error,
                                   "not enough memory to add up weights in %" G_GSIZE_FORMAT
                                   " bins of %u regions: expected fewer of them",
                                   tasks.n_bins, tasks.n_regions);
  astro_parallel(count->a->n_tops, count->counter->threads, count_top, &tasks);
  if (tasks.sums)
    add_sums(&tasks);
  g_free(tasks.sums);
  return TRUE;
}
