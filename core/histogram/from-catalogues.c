/* One count for each kind of pairs, added up over random catalogues. */
#include "core/histogram/collector.h"

#include "core/histogram/budget.h"
#include "core/histogram/count-slices.h"
#include "core/histogram/totals.h"

static gboolean refuse_counts(const AstroCollector *collector, gsize all, double bytes,
                              GError **error)
{
  const AstroHistogramConfig *config = &collector->config;
  return astro_backend_no_memory(error,
                                 "%u regions with each other in %u bins are %" G_GSIZE_FORMAT
                                 " counts, which need %.1f GB: more than memory holds (this "
                                 "machine has %.1f GB); expected fewer regions or bins",
                                 astro_histogram_regions(config), astro_histogram_bins(config), all,
                                 bytes * 1e-9, (double)astro_host_memory() * 1e-9);
}

/* Every region is counted with every other, so many regions may need more memory than there is. All
 * blocks are added up, with the copy that is sent on: the system grants each block by itself, and
 * kills the program when they fill up. */
static gboolean alloc_counts(AstroCollector *collector, GError **error)
{
  AstroHistogramConfig *config = &collector->config;
  gsize regions = astro_histogram_regions(config);
  collector->values = astro_histogram_sums(config);
  gsize all = collector->values * collector->n_kinds,
        copies =
            (config->weighted ? 5 : 3) + (collector->n_places - 1) * (config->weighted ? 2 : 1);
  gsize matrices = collector->n_kinds * collector->n_planes * regions * regions;
  double bytes = (double)sizeof(guint64) * ((double)copies * (double)all + 2 * (double)matrices);
  if (bytes > (double)astro_host_memory())
    return refuse_counts(collector, all, bytes, error);
  gboolean has_room = (collector->counts = g_try_new0(guint64, all)) &&
                      (collector->latest_counts = g_try_new0(guint64, all)) &&
                      (collector->pairs = g_try_new0(double, matrices)) &&
                      (collector->latest_pairs = g_try_new0(double, matrices));
  if (config->weighted)
    has_room = has_room && (collector->sums = g_try_new0(double, all)) &&
               (collector->latest_sums = g_try_new(double, all));
  return has_room || refuse_counts(collector, all, bytes, error);
}

static gboolean start(AstroCollector *collector, GError **error)
{
  AstroHistogramConfig *config = &collector->config;
  if (!alloc_counts(collector, error))
    return FALSE;
  collector->shares = histogram_shares_new(collector->backend, config, collector->places,
                                           collector->n_places, &collector->variant, error);
  return collector->shares != NULL;
}

/* The weight of all pairs of that kind, at any separation. */
static void set_pairs(AstroCollector *collector, guint kind)
{
  guint regions = astro_histogram_regions(&collector->config);
  const Side *a = &collector->sides[collector->kinds[kind]->a],
             *b = &collector->sides[collector->kinds[kind]->b];
  totals_of(&collector->config, collector->means, a, b,
            collector->latest_pairs + (gsize)kind * collector->n_planes * regions * regions);
}

static gboolean has_random(const Kind *kind)
{
  return side_is_random(kind->a) || side_is_random(kind->b);
}

static void add_latest(AstroCollector *collector, guint kind)
{
  gsize regions = astro_histogram_regions(&collector->config),
        cells = collector->n_planes * regions * regions;
  for (gsize k = cells * kind; k < cells * (kind + 1) && collector->is_told; k++)
    collector->pairs[k] += collector->latest_pairs[k];
  gsize n = collector->values, first = n * kind;
  for (gsize k = first; k < first + n; k++)
    collector->counts[k] += collector->latest_counts[k];
  for (gsize k = first; k < first + n && collector->sums; k++)
    collector->sums[k] += collector->latest_sums[k];
}

gboolean astro_collector_finish(AstroCollector *collector, GError **error)
{
  if (collector->shares && !histogram_shares_drain(collector->shares, error))
    return FALSE;
  gboolean has_counted[2] = { FALSE }; /* pairs of data alone, and pairs with random points */
  for (guint k = 0; k < collector->n_kinds; k++) {
    if (!collector->submitted[k])
      continue;
    add_latest(collector, k);
    has_counted[has_random(collector->kinds[k])] = TRUE;
    collector->submitted[k] = FALSE;
  }
  collector->n_random += has_counted[TRUE] && collector->is_told;
  for (AstroSide side = 0; side < ASTRO_N_SIDES && collector->is_told; side++)
    if (has_counted[side_is_random(side)])
      collector->n_points[side] += collector->latest_n_points[side];
  return TRUE;
}

static gboolean submit(AstroCollector *collector, const Side *a, const Side *b, guint64 *counts,
                       double *sums, AstroHistogramCall *call, GError **error)
{
  const gsize bytes = collector->values * sizeof(guint64);
  if (a->slices || b->slices)
    return count_slices(&(SliceCount){ .config = &collector->config,
                                       .shares = collector->shares,
                                       .rules = &collector->rules,
                                       .a = a,
                                       .b = b,
                                       .counts = counts,
                                       .sums = sums,
                                       .call = call },
                        error);
  const AstroBlock in[2] = { { a->points, 0 }, { b->points, 0 } },
                   out[2] = { { counts, bytes }, { sums, bytes } };
  return histogram_shares_submit(collector->shares, in, a == b ? 1 : 2, out, sums ? 2 : 1, call,
                                 error);
}

/* Pairs of random points have none. */
static const PairTable *table_of(const AstroCollector *collector, const Kind *kind)
{
  const gboolean random_a = side_is_random(kind->a), random_b = side_is_random(kind->b);
  return random_a && random_b ? NULL : collector->tables[random_a || random_b];
}

static gboolean count_kind(AstroCollector *collector, guint kind, AstroHistogramCall *call,
                           GError **error)
{
  const Kind *now = collector->now = collector->kinds[kind];
  const gsize first = collector->values * kind;
  const Side *a = &collector->sides[now->a], *b = &collector->sides[now->b];
  AstroHistogramCall with_table = call ? *call : (AstroHistogramCall){ 0 };
  with_table.table = table_of(collector, now);
  if (with_table.table)
    call = &with_table;
  if (!submit(collector, a, b, collector->latest_counts + first,
              collector->sums ? collector->latest_sums + first : NULL, call, error))
    return FALSE;
  collector->submitted[kind] = TRUE;
  collector->latest_n_points[now->a] = a->n;
  collector->latest_n_points[now->b] = b->n;
  set_pairs(collector, kind);
  return TRUE;
}

static gboolean needs(const AstroCollector *collector, AstroSide side)
{
  for (guint k = 0; k < collector->n_kinds; k++)
    if (collector->kinds[k]->a == side || collector->kinds[k]->b == side)
      return TRUE;
  return FALSE;
}

static gboolean set_side(AstroCollector *collector, AstroSide side, AstroHeld *held, GError **error)
{
  AstroHeld none = { 0 };
  if (!needs(collector, side))
    return TRUE;
  if (!held)
    held = &none;
  const guint columns = (guint)__builtin_popcount(held->columns);
  return side_set(&collector->sides[side], &collector->rules, side, held,
                  astro_histogram_slice_points(&collector->limit, columns), error);
}

static gboolean set_sides(AstroCollector *collector, AstroSide first, AstroHeld *one,
                          AstroSide second, AstroHeld *two, GError **error)
{
  return set_side(collector, first, one, error) && set_side(collector, second, two, error);
}

/* A device may still count the catalogues before while these are being prepared. */
static gboolean count_kinds(AstroCollector *collector, gboolean with_random,
                            AstroHistogramCall *call, GError **error)
{
  if (!astro_collector_finish(collector, error))
    return FALSE;
  histogram_shares_deal(collector->shares, collector->rank, collector->ranks);
  collector->is_told = collector->rank == 0;
  for (guint k = 0; k < collector->n_kinds; k++) {
    if (has_random(collector->kinds[k]) == with_random && !count_kind(collector, k, call, error))
      return FALSE;
  }
  return collector->backend->drain || astro_collector_finish(collector, error);
}

void astro_collector_set_limit(AstroCollector *collector, const AstroHeldLimit *limit)
{
  collector->limit = *limit;
}

gboolean astro_collector_take_data(AstroCollector *collector, AstroHeld *data, AstroHeld *data2,
                                   AstroHistogramCall *call, GError **error)
{
  AstroHistogramConfig *config = &collector->config;
  SideRules *rules = &collector->rules;
  collector->rules.stop = call ? call->stop : NULL;
  if (data->n == 0)
    return side_refuse(ASTRO_SIDE_DATA, "is empty", error);
  const gboolean has_regions = data->columns & ASTRO_COLUMN_REGION;
  config->weighted |= ((data->columns | (data2 ? data2->columns : 0)) & ASTRO_COLUMN_WEIGHT) != 0;
  rules->has_region_column = config->n_regions > 0 && has_regions;
  if (config->n_regions > 0 && !has_regions &&
      !side_make_regions(rules, data, collector->limit.bytes, error))
    return FALSE;
  return start(collector, error) &&
         set_sides(collector, ASTRO_SIDE_DATA, data, ASTRO_SIDE_DATA2, data2, error) &&
         count_kinds(collector, FALSE, call, error);
}

gboolean astro_collector_take_random(AstroCollector *collector, AstroHeld *random,
                                     AstroHeld *random2, AstroHistogramCall *call, GError **error)
{
  collector->rules.stop = call ? call->stop : NULL;
  collector->has_passed |= collector->ranks == 0;
  if (collector->ranks == 0)
    return TRUE;
  return set_sides(collector, ASTRO_SIDE_RANDOM, random, ASTRO_SIDE_RANDOM2, random2, error) &&
         count_kinds(collector, TRUE, call, error);
}

gboolean astro_collector_add_data(AstroCollector *collector, const AstroCatalogue *data,
                                  const AstroCatalogue *data2, AstroHistogramCall *call,
                                  GError **error)
{
  AstroHeld held = astro_held_lend(data), held2 = astro_held_lend(data2);
  return astro_collector_take_data(collector, &held, &held2, call, error);
}

gboolean astro_collector_add_random(AstroCollector *collector, const AstroCatalogue *random,
                                    const AstroCatalogue *random2, AstroHistogramCall *call,
                                    GError **error)
{
  AstroHeld held = astro_held_lend(random), held2 = astro_held_lend(random2);
  return astro_collector_take_random(collector, &held, &held2, call, error);
}

gboolean astro_collector_is_complete(const AstroCollector *collector, GError **error)
{
  for (AstroSide side = 0; side < ASTRO_N_SIDES; side++)
    if (needs(collector, side) && !side_is_there(&collector->sides[side]) &&
        !(side_is_random(side) && collector->has_passed))
      return side_refuse(side, "is empty", error);
  return TRUE;
}
