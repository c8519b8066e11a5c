/* Every slice of one catalogue with every slice of the other that it may have pairs with. Counts
 * are integers, so that their sum does not depend on how a catalogue was cut. */
#include "core/histogram/count-slices.h"

#include "core/histogram/fields.h"
#include "core/kit/fail.h"

#include <math.h>
#include <string.h>

typedef struct {
  const SliceCount *count;
  double reach;
  guint64 done, total; /* pairs */
  AstroHistogramCall call;
  guint64 *counts; /* of two slices */
  double *sums;
} Walk;

/* The largest separation of pairs that fall into bins. */
static double reach_of(const AstroHistogramConfig *config)
{
  const double last = config->edges[config->n_edges - 1];
  if (config->kind == ASTRO_BINNING_ANGULAR)
    return sqrt(astro_chord_square(last));
  return config->kind == ASTRO_BINNING_SMU ? last : hypot(last, config->most_across);
}

static gboolean report(guint64 done, guint64 total, gpointer data)
{
  const Walk *walk = data;
  const AstroHistogramCall *call = walk->count->call;
  return call->progress(walk->done + done, walk->total, call->data);
}

static guint n_slices(const Side *side)
{
  return side->slices ? side->slices->n_slices : 1;
}

static guint64 points_in(const Side *side, guint slice)
{
  return side->slices ? side->slices->slices[slice].n : side->n;
}

/* A catalogue in memory has no box. */
static gboolean may_meet(const Walk *walk, guint i, guint j)
{
  const Slices *a = walk->count->a->slices, *b = walk->count->b->slices;
  return !a || !b || slices_may_meet(&a->slices[i], &b->slices[j], walk->reach);
}

/* Pairs within a catalogue count for the lower region first, in whichever slice it lies. */
static void add_counts(const Walk *walk, gboolean alone)
{
  const AstroHistogramConfig *config = walk->count->config;
  const guint regions = astro_histogram_regions(config), bins = astro_histogram_bins(config);
  const gsize values = astro_histogram_values(config);
  for (guint a = 0; a < regions; a++)
    for (guint b = 0; b < regions; b++) {
      const gsize from = ((gsize)a * regions + b) * bins,
                  to = alone && b < a ? ((gsize)b * regions + a) * bins : from;
      for (guint k = 0; k < bins; k++)
        walk->count->counts[to + k] += walk->counts[from + k];
      for (gsize p = 0; walk->sums && p < astro_histogram_sums(config); p += values)
        for (guint k = 0; k < bins; k++)
          walk->count->sums[p + to + k] += walk->sums[p + from + k];
    }
}

static gboolean count_two(Walk *walk, AstroPoints *a, AstroPoints *b, GError **error)
{
  const SliceCount *count = walk->count;
  const AstroBlock in[2] = { { a, 0 }, { b, 0 } }, out[2] = {
    { walk->counts, astro_histogram_values(count->config) * sizeof(guint64) },
    { walk->sums, astro_histogram_sums(count->config) * sizeof(double) }
  };
  if (!histogram_shares_submit(count->shares, in, a == b ? 1 : 2, out, walk->sums ? 2 : 1,
                               count->call ? &walk->call : NULL, error) ||
      !histogram_shares_drain(count->shares, error))
    return FALSE;
  add_counts(walk, count->a == count->b);
  return TRUE;
}

static void free_points(const Side *side, AstroPoints *points)
{
  if (side->slices)
    astro_points_free(points);
}

/* Slice i of a with slice j of b; points_a: those of slice i. */
static gboolean count_pair(Walk *walk, guint i, AstroPoints *points_a, guint j, GError **error)
{
  const SliceCount *count = walk->count;
  const gboolean is_self = count->a == count->b && i == j;
  const guint64 n = points_in(count->a, i);
  const guint64 pairs = is_self ? n * (n - 1) / 2 : n * points_in(count->b, j);
  gboolean good = TRUE;
  if (may_meet(walk, i, j)) {
    AstroPoints *points_b = is_self ? points_a : side_read_slice(count->b, count->rules, j, error);
    good = points_b && count_two(walk, points_a, points_b, error);
    if (!is_self)
      free_points(count->b, points_b);
  }
  walk->done += pairs;
  return good;
}

static gboolean walk_slices(Walk *walk, GError **error)
{
  const SliceCount *count = walk->count;
  gboolean good = TRUE;
  for (guint i = 0; good && i < n_slices(count->a); i++) {
    AstroPoints *points = side_read_slice(count->a, count->rules, i, error);
    good = points != NULL;
    for (guint j = count->a == count->b ? i : 0; good && j < n_slices(count->b); j++)
      good = count_pair(walk, i, points, j, error);
    free_points(count->a, points);
  }
  return good;
}

gboolean count_slices(const SliceCount *count, GError **error)
{
  const gsize values = astro_histogram_values(count->config), bytes = values * sizeof(guint64),
              sum_bytes = astro_histogram_sums(count->config) * sizeof(double);
  const guint64 n = count->a->n;
  Walk walk = { .count = count,
                .reach = reach_of(count->config),
                .total = count->a == count->b ? n * (n - 1) / 2 : n * count->b->n,
                .counts = g_try_malloc(bytes),
                .sums = count->sums ? g_try_malloc(sum_bytes) : NULL };
  if (count->call)
    walk.call = (AstroHistogramCall){ count->call->progress ? report : NULL, &walk,
                                      count->call->stop, .table = count->call->table };
  memset(count->counts, 0, bytes);
  if (count->sums)
    memset(count->sums, 0, sum_bytes);
  const gboolean has_room = walk.counts && (walk.sums || !count->sums);
  const gboolean good =
      has_room ? walk_slices(&walk, error)
               : astro_backend_no_memory(error, "no memory for %" G_GSIZE_FORMAT " counts", values);
  if (good && count->sums && count->a == count->b)
    fields_forget_order(count->config, count->sums);
  g_free(walk.counts);
  g_free(walk.sums);
  return good;
}
