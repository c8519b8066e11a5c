/* The bin rule in space: squares of edges, and where to look for them. */
#include "core/histogram/space.h"

static void find_rows(SpaceRule *rule)
{
  guint first = 0;
  while (rule->rows[first] <= 0)
    first++;
  rule->first = space_bits(rule->rows[first]);
  const guint64 entries = space_bits(rule->rows[rule->n_rows]) - rule->first + 1;
  rule->row_of = g_new0(guint16, entries);
  guint row = 0;
  for (guint64 entry = 1; entry < entries; entry++) {
    const guint64 bits = (rule->first + entry) << 44;
    double least;
    memcpy(&least, &bits, sizeof least);
    while (row + 1 < rule->n_rows && rule->rows[row + 1] <= least)
      row++;
    rule->row_of[entry] = (guint16)row;
  }
}

SpaceRule *space_rule_new(const AstroHistogramConfig *config)
{
  SpaceRule *rule = g_new0(SpaceRule, 1);
  const gboolean angular = config->kind == ASTRO_BINNING_ANGULAR,
                 smu = angular || config->kind == ASTRO_BINNING_SMU;
  const double most = angular ? 1 : config->most_across;
  const guint n_columns = angular ? 1 : config->n_columns;
  rule->kind = smu ? ASTRO_BINNING_SMU : config->kind;
  rule->n_rows = config->n_edges - 1;
  rule->n_columns = n_columns;
  for (guint k = 0; k < config->n_edges; k++)
    rule->rows[k] =
        angular ? astro_chord_square(config->edges[k]) : config->edges[k] * config->edges[k];
  for (guint m = 0; m <= n_columns; m++) {
    const double edge = most * m / n_columns;
    rule->columns[m] = edge * edge;
  }
  const double first = angular ? sqrt(rule->rows[0]) : config->edges[0],
               last = angular ? sqrt(rule->rows[rule->n_rows]) : config->edges[rule->n_rows];
  rule->limit = smu && most == 1 ? INFINITY : rule->columns[n_columns];
  rule->per_unit = n_columns / most;
  rule->reach = (SpaceReach){ .most = smu ? last : sqrt(last * last + most * most),
                              .least = first,
                              .depth = smu ? INFINITY : most };
  find_rows(rule);
  return rule;
}

void space_rule_free(SpaceRule *rule)
{
  if (!rule)
    return;
  g_free(rule->row_of);
  g_free(rule);
}
