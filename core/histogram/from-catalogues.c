/* One count for each kind of pairs, added up over random catalogues. */
#include "core/histogram/from-catalogues.h"

#include "core/histogram/budget.h"
#include "core/histogram/count-slices.h"
#include "core/histogram/shares.h"
#include "core/histogram/side.h"
#include "core/histogram/totals.h"
#include "core/kit/fail.h"

#include <string.h>

#define MAX_KINDS 4

typedef struct {
  const char *name;
  AstroSide a, b; /* the same for pairs within one catalogue */
} Kind;

static const Kind kinds_of_one[] = { { "dd", ASTRO_SIDE_DATA, ASTRO_SIDE_DATA },
                                     { "dr", ASTRO_SIDE_DATA, ASTRO_SIDE_RANDOM },
                                     { "rr", ASTRO_SIDE_RANDOM, ASTRO_SIDE_RANDOM } };
static const Kind kinds_of_two[] = { { "dd", ASTRO_SIDE_DATA, ASTRO_SIDE_DATA2 },
                                     { "dr", ASTRO_SIDE_DATA, ASTRO_SIDE_RANDOM2 },
                                     { "rd", ASTRO_SIDE_RANDOM, ASTRO_SIDE_DATA2 },
                                     { "rr", ASTRO_SIDE_RANDOM, ASTRO_SIDE_RANDOM2 } };

/* Which catalogues the products of fields are of: random points carry nothing, so that they stand
 * for points around which there is a field, and for nothing else. */
static gboolean check_fields(AstroPairFields fields, const gboolean is_there[ASTRO_N_SIDES],
                             GError **error)
{
  const gboolean around = fields == ASTRO_PAIR_FIELDS_NK || fields == ASTRO_PAIR_FIELDS_NG;
  if (fields == ASTRO_PAIR_FIELDS_NONE)
    return TRUE;
  if (around && !(is_there[ASTRO_SIDE_DATA] && is_there[ASTRO_SIDE_DATA2]))
    return astro_fail(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_POINTS,
                      "fields=%s is of the field of data2 around the points of data, but pads data "
                      "and data2 are not both there",
                      astro_pair_fields_name(fields));
  if (is_there[ASTRO_SIDE_RANDOM2] || (is_there[ASTRO_SIDE_RANDOM] && !around))
    return astro_fail(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_POINTS,
                      "fields=%s takes %s, and there is a pad %s: expected it to be left out",
                      astro_pair_fields_name(fields),
                      around ? "random points in place of data alone" : "no random points",
                      is_there[ASTRO_SIDE_RANDOM2] ? "random2" : "random");
  return TRUE;
}

struct _AstroCollector {
  AstroHistogramConfig config;
  const AstroBackend *backend;
  AstroPlace places[ASTRO_MOST_DEVICES]; /* that share the counts */
  guint n_places;
  guint rank, ranks;       /* which share of the counts is made here; ranks 0: none */
  gboolean is_told;        /* this process tells of what was submitted, which others share */
  gboolean has_passed;     /* over random catalogues that others count */
  HistogramShares *shares; /* made with the first catalogue */
  const char *variant;
  const Kind *kinds[MAX_KINDS];
  guint n_kinds;
  const Kind *now;
  SideRules rules;
  AstroHeldLimit limit; /* of a catalogue in memory */
  Side sides[ASTRO_N_SIDES];
  guint n_planes;                  /* of sums; counts are in the first, and the others are 0 */
  gsize values;                    /* of all planes of one kind */
  guint64 *counts, *latest_counts; /* latest: of one catalogue, which the backend writes */
  double *sums, *latest_sums;      /* if there are weights */
  double *pairs, *latest_pairs;    /* [kind][plane][region][region], 0 behind the first plane */
  guint64 n_random;                /* in values */
  guint64 n_points[ASTRO_N_SIDES], latest_n_points[ASTRO_N_SIDES]; /* in values */
  double *means;              /* weights of pairs by how many bits are set; NULL: there are none */
  const PairTable *tables[2]; /* of pairs of data, and with random points; or NULL */
  gboolean submitted[MAX_KINDS]; /* until the backend is drained it may still write latest */
};

static gboolean orders_points(const AstroBackend *backend)
{
  const AstroHistogramParts *parts = backend->parts;
  return parts && parts->orders_points;
}

AstroCollector *astro_collector_new(const AstroHistogramConfig *config,
                                    const gboolean is_there[ASTRO_N_SIDES],
                                    const AstroBackend *backend, const AstroPlace *place,
                                    GError **error)
{
  if (!backend->shape(config, error) || !check_fields(config->fields, is_there, error))
    return NULL;
  AstroCollector *collector = g_new0(AstroCollector, 1);
  collector->config = *config;
  collector->config.weighted |= config->fields != ASTRO_PAIR_FIELDS_NONE;
  collector->config.weighted |= config->weighs_pairs;
  if (config->bits.n_words)
    collector->means = pair_bits_means(&config->bits);
  collector->n_planes = astro_pair_fields_planes(config->fields);
  collector->backend = backend;
  collector->places[collector->n_places++] = *place;
  collector->ranks = 1;
  collector->rules = (SideRules){ .config = &collector->config,
                                  .by_device = orders_points(backend),
                                  .threads = place->threads };
  gboolean two = is_there[ASTRO_SIDE_DATA2] || is_there[ASTRO_SIDE_RANDOM2];
  const Kind *kinds = two ? kinds_of_two : kinds_of_one;
  guint n = two ? G_N_ELEMENTS(kinds_of_two) : G_N_ELEMENTS(kinds_of_one);
  for (guint k = 0; k < n; k++)
    if (is_there[kinds[k].a] && is_there[kinds[k].b])
      collector->kinds[collector->n_kinds++] = &kinds[k];
  if (collector->n_kinds > 0 && g_str_equal(collector->kinds[0]->name, "dd"))
    return collector;
  g_set_error(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_POINTS,
              two ? "two catalogues are crossed, but data and data2 are not both there"
                  : "there is no data catalogue");
  astro_collector_free(collector);
  return NULL;
}

void astro_collector_free(AstroCollector *collector)
{
  if (!collector)
    return;
  histogram_shares_free(collector->shares);
  for (guint s = 0; s < ASTRO_N_SIDES; s++)
    side_clear(&collector->sides[s]);
  astro_regions_free(collector->rules.regions);
  g_free(collector->means);
  g_free(collector->counts);
  g_free(collector->latest_counts);
  g_free(collector->sums);
  g_free(collector->latest_sums);
  g_free(collector->pairs);
  g_free(collector->latest_pairs);
  g_free(collector);
}

void astro_collector_share(AstroCollector *collector, const AstroPlace *places, guint n)
{
  g_assert(!collector->shares && n >= 1 && n <= G_N_ELEMENTS(collector->places));
  memcpy(collector->places, places, n * sizeof *places);
  collector->n_places = n;
}

void astro_collector_set_tables(AstroCollector *collector, const PairTable *dd, const PairTable *dr)
{
  collector->tables[0] = dd;
  collector->tables[1] = dr;
}

void astro_collector_deal(AstroCollector *collector, guint rank, guint ranks)
{
  collector->rank = rank;
  collector->ranks = ranks;
  /* Processes that share a count by parts of the sky need the same parts, also where only some of
   * them have a device. */
  collector->rules.by_device = ranks <= 1 && orders_points(collector->backend);
}

const char *astro_collector_variant(const AstroCollector *collector)
{
  return collector->variant;
}

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

guint64 astro_collector_n_pairs(const AstroCollector *collector)
{
  return collector->shares ? histogram_shares_pairs(collector->shares) : 0;
}

guint64 astro_collector_n_random(const AstroCollector *collector)
{
  return collector->n_random;
}

char *astro_collector_kinds(const AstroCollector *collector)
{
  GString *names = g_string_new(NULL);
  for (guint k = 0; k < collector->n_kinds; k++)
    for (guint p = 0; p < collector->n_planes; p++) {
      const char *plane = astro_pair_fields_plane(collector->config.fields, p);
      g_string_append_printf(names, "%s%s%s%s", k || p ? ":" : "", collector->kinds[k]->name,
                             plane ? "_" : "", plane ? plane : "");
    }
  return g_string_free(names, FALSE);
}

const char *astro_collector_kind(const AstroCollector *collector)
{
  return collector->now->name;
}

guint64 astro_collector_n_negative(const AstroCollector *collector, AstroSide side)
{
  return collector->sides[side].n_negative;
}

gboolean astro_collector_is_weighted(const AstroCollector *collector)
{
  return collector->sums != NULL;
}

gconstpointer astro_collector_values(const AstroCollector *collector, gsize *bytes)
{
  *bytes = collector->values * collector->n_kinds * sizeof(guint64);
  return collector->sums ? (gconstpointer)collector->sums : collector->counts;
}

void astro_collector_summary(const AstroCollector *collector, AstroSummary *summary)
{
  const AstroHistogramConfig *config = &collector->config;
  gsize regions = astro_histogram_regions(config), bytes;
  const guint n_kinds = collector->n_kinds * collector->n_planes;
  astro_summary_init(summary, n_kinds, (guint)regions, config->n_edges);
  memcpy(summary->edges, config->edges, config->n_edges * sizeof(double));
  memcpy(summary->pairs, collector->pairs, n_kinds * regions * regions * sizeof(double));
  memcpy(summary->points, collector->n_points, sizeof summary->points);
  summary->catalogues = collector->n_random;
  if (config->kind != ASTRO_BINNING_ANGULAR)
    summary->most_across = config->most_across;
  astro_collector_values(collector, &bytes);
  if (collector->sums)
    summary->counts = g_bytes_new(collector->counts, bytes);
}
