/* Walks two trees of points at once, by all threads: a task is a top of the first tree with all of
 * the second. */
#include "core/histogram/walk.h"

#include "core/backend/threads.h"

static void visit(Walk *walk, const Cell *a, const Cell *b)
{
  if (!walk->visits->may_count(walk, a, b))
    return;
  if (!a->left && !b->left) {
    walk->visits->leaves(walk, a, b);
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
    walk->visits->leaf(walk, cell);
    return;
  }
  const Cell *left = &walk->a->cells[cell->left];
  visit_self(walk, left);
  visit_self(walk, left + 1);
  visit(walk, left, left + 1);
}

typedef struct {
  Count *count;
  const Visits *visits;
  gboolean alone;
  gsize n_bins, n_sums; /* n_sums: of all planes of the bins */
  guint n_regions;
  /* [top of a][region of b][plane][bin], always summed in the same order; or NULL */
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
  Walk walk = { .visits = tasks->visits,
                .counter = count->counter,
                .a = as,
                .b = bs,
                .call = count->call,
                .n_bins = tasks->n_bins,
                .counts = counts };
  const guint first = tasks->alone ? (guint)task : 0;
  for (guint t = first; t < bs->n_tops && !count_is_cancelled(count); t++) {
    const Top *top_b = &bs->tops[t];
    const Cell *b = &bs->cells[top_b->cell];
    const gboolean is_self = tasks->alone && t == task;
    if (tasks->sums)
      walk.sums = tasks->sums + (task * tasks->n_regions + top_b->region) * tasks->n_sums;
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

static void add_region(const Tasks *tasks, const double *sums, double *to)
{
  const gsize values = astro_histogram_values(&tasks->count->counter->config);
  for (gsize k = 0; k < tasks->n_sums; k++)
    to[k / tasks->n_bins * values + k % tasks->n_bins] += sums[k];
}

static void add_sums(const Tasks *tasks)
{
  const double *sums = tasks->sums;
  for (guint t = 0; t < tasks->count->a->n_tops; t++)
    for (guint b = 0; b < tasks->n_regions; b++, sums += tasks->n_sums) {
      const gsize a = tasks->count->a->tops[t].region;
      add_region(tasks, sums, tasks->count->sums + (a * tasks->n_regions + b) * tasks->n_bins);
    }
}

gboolean walk_count(Count *count, gboolean alone, const Visits *visits, GError **error)
{
  const AstroHistogramConfig *config = &count->counter->config;
  Tasks tasks = { .count = count,
                  .visits = visits,
                  .alone = alone,
                  .n_bins = astro_histogram_bins(config),
                  .n_regions = astro_histogram_regions(config) };
  tasks.n_sums = tasks.n_bins * astro_pair_fields_planes(config->fields);
  const gsize sums = count->a->n_tops * tasks.n_regions * tasks.n_sums;
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
