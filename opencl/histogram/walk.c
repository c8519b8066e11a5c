/* Walks two trees of points at once, as far down as cells of some hundred points. Where cells need
 * not be looked into they are counted, or left out, as a whole; the others go to the device, a
 * slice of the walk at a time, for which the host waits. */
#include "config.h"
#include "core/histogram/deal.h"
#include "opencl/histogram/counter.h"

#define MOST_POINTS 512 /* of a cell that the device counts */
#define MOST_PAIRS 1e11 /* of a slice: a second of work, more or less */

/* Counts the slice, and waits for it. FALSE: it failed, or the count was cancelled. */
static gboolean run_slice(OpenclWalk *walk)
{
  OpenclCounter *self = walk->self;
  AstroDevice *device = self->place.device;
  if (!device->funcs->queue_copy(device, self->place.queue, ASTRO_COPY_UP, self->seeds, self->slice,
                                 self->n_seeds * sizeof *self->slice, walk->error) ||
      !(walk->rule.is_near ? astro_opencl_near_count : astro_opencl_whole_count)(walk) ||
      !astro_opencl_drain(&self->place, walk->error))
    return FALSE;
  count_report(&walk->count, self->pairs);
  self->n_seeds = 0;
  self->pairs = 0;
  return !count_is_cancelled(&walk->count);
}

static gboolean add_seed(OpenclWalk *walk, const Cell *a, const Cell *b, guint region, Edges edges)
{
  OpenclCounter *self = walk->self;
  const gboolean is_self = walk->is_alone && a == b;
  self->slice[self->n_seeds++] = (OpenclSeed){ .a = a->first_leaf * LEAF_POINTS,
                                               .n_a = (cl_uint)a->n,
                                               .b = b->first_leaf * LEAF_POINTS,
                                               .n_b = (cl_uint)b->n,
                                               .first = edges.first,
                                               .last = edges.last,
                                               .region = region,
                                               .is_self = (cl_uint)is_self };
  self->pairs += is_self ? a->n * (a->n - 1) / 2 : a->n * b->n;
  return (self->n_seeds < OPENCL_SEEDS && (double)self->pairs < MOST_PAIRS) || run_slice(walk);
}

static void add_whole(OpenclWalk *walk, const Cell *a, const Cell *b, guint region, guint place)
{
  const guint n_bins = walk->self->counter->config.n_edges - 1;
  const gsize value = (gsize)region * n_bins + place - 1;
  walk->self->pairs += a->n * b->n;
  if (place < 1 || place > n_bins)
    return;
  walk->count.counts[value] += a->n * b->n;
  if (walk->count.sums)
    walk->count.sums[value] += a->weight * b->weight;
}

/* FALSE: it failed, or the count was cancelled. */
static gboolean visit(OpenclWalk *walk, const Cell *a, const Cell *b, guint region, Edges edges)
{
  const gboolean is_self = walk->is_alone && a == b;
  const Cell *const cells_a = walk->count.a->cells, *const cells_b = walk->count.b->cells;
  if (!is_self && cells_are_whole(&walk->rule, a, b, &edges)) {
    add_whole(walk, a, b, region, edges.first);
    return TRUE;
  }
  if (a->n <= MOST_POINTS && b->n <= MOST_POINTS)
    return add_seed(walk, a, b, region, edges);
  /* Cells of similar size are both split. */
  const gboolean split_a = a->left && (a->n > MOST_POINTS || a->n >= b->n),
                 split_b = b->left && (b->n > MOST_POINTS || b->n >= a->n);
  const Cell *as = split_a ? &cells_a[a->left] : a, *bs = split_b ? &cells_b[b->left] : b;
  for (guint i = 0; i <= (guint)split_a; i++)
    for (guint j = is_self ? i : 0; j <= (guint)split_b; j++)
      if (!visit(walk, as + i, bs + j, region, edges))
        return FALSE;
  return TRUE;
}

static gboolean visit_tops(OpenclWalk *walk, guint64 i, guint64 j)
{
  const AstroPoints *a = walk->count.a, *b = walk->count.b;
  const Top *top_a = &a->tops[i], *top_b = &b->tops[j];
  const guint region = top_a->region * a->n_regions + top_b->region;
  const Edges edges = { 0, walk->self->counter->config.n_edges };
  return visit(walk, &a->cells[top_a->cell], &b->cells[top_b->cell], region, edges);
}

/* All pairs of tops, or those that are dealt to this instance. */
static gboolean visit_all(OpenclWalk *walk)
{
  const AstroHistogramCall *call = walk->count.call;
  guint64 i, j;
  gboolean is_own;
  if (call && call->deal) {
    while (histogram_deal_take(call->deal, call->lane, &i, &j, &is_own))
      if (!visit_tops(walk, i, j))
        return FALSE;
    return TRUE;
  }
  for (i = 0; i < walk->count.a->n_tops; i++)
    for (j = walk->is_alone ? i : 0; j < walk->count.b->n_tops; j++)
      if (!visit_tops(walk, i, j))
        return FALSE;
  return TRUE;
}

gboolean astro_opencl_walk(OpenclWalk *walk)
{
  walk->self->n_seeds = 0;
  walk->self->pairs = 0;
  return visit_all(walk) && run_slice(walk);
}
