/* Makes collectors: which kinds of pairs they count, and who counts them. */
#include "core/histogram/collector.h"

#include "core/histogram/pair-weights.h"
#include "core/kit/fail.h"

#include <string.h>

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

/* A device orders points by angle, without what else they may carry. */
static gboolean orders_points(const AstroBackend *backend, const AstroHistogramConfig *config)
{
  const AstroHistogramParts *parts = backend->parts;
  return parts && parts->orders_points && config->kind == ASTRO_BINNING_ANGULAR &&
         config->fields == ASTRO_PAIR_FIELDS_NONE && config->bits.n_words == 0;
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
                                  .by_device = orders_points(backend, config),
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
  collector->rules.by_device = ranks <= 1 && orders_points(collector->backend, &collector->config);
}

const char *astro_collector_variant(const AstroCollector *collector)
{
  return collector->variant;
}
