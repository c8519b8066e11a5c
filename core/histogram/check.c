/* Refuses configurations and calls that no backend of the histogram can do. */
#include "core/histogram/check.h"

#include "core/histogram/points.h"

#include <math.h>

gboolean astro_histogram_edges_check(const AstroHistogramConfig *config, GError **error)
{
  if (config->n_edges < 2 || config->n_edges > ASTRO_HISTOGRAM_MAX_EDGES) {
    g_set_error(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_EDGES,
                "the bins have %u edges, expected 2 to %d", config->n_edges,
                ASTRO_HISTOGRAM_MAX_EDGES);
    return FALSE;
  }
  for (guint k = 0; k < config->n_edges; k++) {
    double edge = config->edges[k];
    if (!isfinite(edge) || edge < 0) {
      g_set_error(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_EDGES,
                  "edge %u is %g, expected a finite number of 0 or more%s", k, edge,
                  config->kind == ASTRO_BINNING_ANGULAR ? " arcminutes" : "");
      return FALSE;
    }
    if (k > 0 && !(edge > config->edges[k - 1])) {
      g_set_error(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_EDGES,
                  "edge %u is %.17g, no more than the one before it, %.17g: edges rise", k, edge,
                  config->edges[k - 1]);
      return FALSE;
    }
  }
  return TRUE;
}

/* Squares of edges and distances, and products of two, are within the range of doubles. */
#define LEAST_EDGE 1e-50
#define MOST_EDGE 1e50

static gboolean check_columns(const AstroHistogramConfig *config, GError **error)
{
  const gboolean smu = config->kind == ASTRO_BINNING_SMU;
  if (config->n_columns < 1 || config->n_columns > ASTRO_HISTOGRAM_MAX_COLUMNS)
    return astro_backend_refuse(error, "%u bins of %s, expected 1 to %d", config->n_columns,
                                smu ? "mu" : "pi", ASTRO_HISTOGRAM_MAX_COLUMNS);
  if (!(config->most_across > 0 && config->most_across <= (smu ? 1 : MOST_EDGE)))
    return astro_backend_refuse(error, "%s up to %g, expected a number above 0, at most %g",
                                smu ? "mu" : "pi", config->most_across, smu ? 1 : MOST_EDGE);
  for (guint k = 0; k < config->n_edges; k++)
    if (config->edges[k] > MOST_EDGE || (config->edges[k] > 0 && config->edges[k] < LEAST_EDGE))
      return astro_backend_refuse(error, "edge %u is %g, expected 0 or %g to %g", k,
                                  config->edges[k], LEAST_EDGE, MOST_EDGE);
  return TRUE;
}

static gboolean check_pairs(const AstroHistogramConfig *config, GError **error)
{
  const AstroPairBits *bits = &config->bits;
  if (config->fields != ASTRO_PAIR_FIELDS_NONE)
    return astro_backend_refuse(error,
                                "pairs are weighed by bits or a table, and fields=%s are not: "
                                "expected fields=none",
                                astro_pair_fields_name(config->fields));
  if (bits->n_words && bits->offset >= bits->realizations)
    return astro_backend_refuse(error, "noffset is %u, expected less than the %u realisations",
                                bits->offset, bits->realizations);
  return isfinite(bits->default_value) ||
         astro_backend_refuse(error, "default-value is %g, expected a finite weight",
                              bits->default_value);
}

gboolean astro_histogram_shape(gconstpointer config, GError **error)
{
  const AstroHistogramConfig *histogram = config;
  if (!astro_histogram_edges_check(histogram, error))
    return FALSE;
  const gsize regions = astro_histogram_regions(histogram);
  if (regions > G_MAXUINT16)
    return astro_backend_refuse(error, "%" G_GSIZE_FORMAT " regions, expected at most %d", regions,
                                G_MAXUINT16);
  if (histogram->kind != ASTRO_BINNING_ANGULAR && histogram->fields != ASTRO_PAIR_FIELDS_NONE)
    return astro_backend_refuse(
        error, "fields=%s are averaged by angle: expected kind=angular, not %s",
        astro_pair_fields_name(histogram->fields), astro_binning_name(histogram->kind));
  if (histogram->weighs_pairs && !check_pairs(histogram, error))
    return FALSE;
  return histogram->kind == ASTRO_BINNING_ANGULAR || check_columns(histogram, error);
}

static gboolean check_points(const AstroBlock *block, const AstroHistogramConfig *config,
                             GError **error)
{
  const AstroPoints *points = block->data;
  const guint n_regions = astro_histogram_regions(config);
  if (points->in_space != (config->kind != ASTRO_BINNING_ANGULAR))
    return astro_backend_refuse(error, "the points of a catalogue have %s, expected %s for kind=%s",
                                points->in_space ? "distances" : "no distances",
                                points->in_space ? "none" : "some",
                                astro_binning_name(config->kind));
  if ((points->fields != NULL) != (config->fields != ASTRO_PAIR_FIELDS_NONE))
    return astro_backend_refuse(error, "the points of a catalogue carry %s, which fields=%s %s",
                                points->fields ? "fields" : "nothing",
                                astro_pair_fields_name(config->fields),
                                points->fields ? "does not look at" : "cannot do with");
  if (points->bits && (!config->weighs_pairs || 2 * points->n_bit_words < config->bits.n_words ||
                       2 * points->n_bit_words > config->bits.n_words + 1))
    return astro_backend_refuse(error,
                                "the points of a catalogue have %u words of bits, expected %u",
                                2 * points->n_bit_words, config->bits.n_words);
  return points->n_regions == n_regions ||
         astro_backend_refuse(error, "the points of a catalogue are in %u regions, expected %u",
                              points->n_regions, n_regions);
}

gboolean astro_histogram_check(const AstroHistogramConfig *config, const AstroBlock *in, guint n_in,
                               const AstroBlock *out, guint n_out, GError **error)
{
  const gsize bytes[] = { astro_histogram_values(config) * sizeof(guint64),
                          astro_histogram_sums(config) * sizeof(double) };
  const guint expected = config->weighted ? 2 : 1;
  if (config->weighs_pairs && !config->weighted)
    return astro_backend_refuse(error, "weights of pairs without sums of weights");
  if (config->fields != ASTRO_PAIR_FIELDS_NONE && !config->weighted)
    return astro_backend_refuse(error, "a histogram of fields=%s without sums of weights",
                                astro_pair_fields_name(config->fields));
  if (n_in < 1 || n_in > 2 || n_out != expected)
    return astro_backend_refuse(error,
                                "a histogram of %s takes 1 or 2 catalogues and writes %u block%s, "
                                "not %u and %u",
                                config->weighted ? "weighted pairs" : "pairs", expected,
                                expected > 1 ? "s" : "", n_in, n_out);
  for (guint k = 0; k < n_out; k++)
    if (out[k].bytes < bytes[k])
      return astro_backend_refuse(error,
                                  "output block %u of the histogram has %" G_GSIZE_FORMAT
                                  " bytes, expected %" G_GSIZE_FORMAT,
                                  k, out[k].bytes, bytes[k]);
  return check_points(&in[0], config, error) && check_points(&in[n_in - 1], config, error);
}
