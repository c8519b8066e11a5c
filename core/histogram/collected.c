/* Tells of what a collector has counted. */
#include "core/histogram/collector.h"

#include <string.h>

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
