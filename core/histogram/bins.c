/* The bin rule, bins and their edges, and how many values a histogram has. */
#include "core/histogram/histogram.h"
#include "core/histogram/vector.h"
#include "core/kit/enum.h"

#include <math.h>

G_DEFINE_QUARK(astro_histogram_error, astro_histogram_error)

ASTRO_ENUM_TYPE(astro_precision_get_type, "AstroPrecision",
                { ASTRO_PRECISION_EXACT, "By the rule in double precision, to the last pair",
                  "exact" },
                { ASTRO_PRECISION_SINGLE,
                  "Pairs very near an edge may be counted on its other side", "single" })

ASTRO_ENUM_TYPE(astro_pair_method_get_type, "AstroPairMethod",
                { ASTRO_PAIR_METHOD_AUTO, "The faster one", "auto" },
                { ASTRO_PAIR_METHOD_TREE, "Cells whose pairs fall into one bin are counted whole",
                  "tree" },
                { ASTRO_PAIR_METHOD_BRUTE, "Every pair is computed", "brute" })

static const char *const binnings[] = { "angular", "smu", "rppi" };

ASTRO_ENUM_TYPE(astro_binning_get_type, "AstroBinning",
                { ASTRO_BINNING_ANGULAR, "Angle between two points", "angular" },
                { ASTRO_BINNING_SMU,
                  "Separation in space, and the cosine of its angle to the line of sight", "smu" },
                { ASTRO_BINNING_RPPI, "Separation across the line of sight, and along it", "rppi" })

const char *astro_binning_name(AstroBinning kind)
{
  return binnings[kind];
}

void astro_unit_vector(double ra_degrees, double dec_degrees, double *x, double *y, double *z)
{
  astro_vector_of(ra_degrees, dec_degrees, x, y, z);
}

double astro_chord_square(double arcmin)
{
  if (arcmin > 180 * 60)
    return INFINITY;
  double half = sin(arcmin * (G_PI / (2 * 180 * 60)));
  return 4 * (half * half);
}

static gboolean check_range(const AstroHistogramConfig *config, double min, double max,
                            double lowest, GError **error)
{
  const gboolean angular = config->kind == ASTRO_BINNING_ANGULAR;
  if (isfinite(min) && isfinite(max) && min >= lowest && max > min)
    return TRUE;
  g_set_error(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_EDGES,
              "bins from %g to %g%s: the second %s must be the larger one, and both %s", min, max,
              angular ? " arcmin" : "", angular ? "angle" : "separation",
              lowest > 0 ? "above 0, as the bins are even in the logarithm" : "0 or more");
  return FALSE;
}

gboolean astro_histogram_edges_per_decade(AstroHistogramConfig *config, double min, double max,
                                          double bins_per_decade, GError **error)
{
  if (!check_range(config, min, max, G_MINDOUBLE, error))
    return FALSE;
  /* A little slack: 0.01 to 10000 is six decades, whatever log10 rounds to. */
  double n_bins = ceil(bins_per_decade * log10(max / min) - 1e-9);
  if (!(bins_per_decade > 0) || !(n_bins < ASTRO_HISTOGRAM_MAX_EDGES)) {
    g_set_error(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_EDGES,
                "%g bins a decade from %g to %g%s make %g bins, expected 1 to %d", bins_per_decade,
                min, max, config->kind == ASTRO_BINNING_ANGULAR ? " arcmin" : "", n_bins,
                ASTRO_HISTOGRAM_MAX_EDGES - 1);
    return FALSE;
  }
  config->n_edges = MAX((guint)n_bins, 1) + 1;
  for (guint k = 0; k < config->n_edges; k++)
    config->edges[k] = min * pow(10, k / bins_per_decade);
  double *last = &config->edges[config->n_edges - 1];
  if (fabs(*last / max - 1) < 1e-9)
    *last = max;
  return astro_histogram_edges_check(config, error);
}

gboolean astro_histogram_edges_linear(AstroHistogramConfig *config, double min, double max,
                                      guint n_bins, GError **error)
{
  if (!check_range(config, min, max, 0, error))
    return FALSE;
  config->n_edges = MIN(n_bins, ASTRO_HISTOGRAM_MAX_EDGES) + 1;
  for (guint k = 0; k < MIN(config->n_edges, ASTRO_HISTOGRAM_MAX_EDGES); k++)
    config->edges[k] = min + (max - min) * k / n_bins;
  return astro_histogram_edges_check(config, error);
}

guint astro_histogram_bins(const AstroHistogramConfig *config)
{
  const guint columns = config->kind == ASTRO_BINNING_ANGULAR ? 1 : config->n_columns;
  return (config->n_edges - 1) * columns;
}

guint astro_histogram_regions(const AstroHistogramConfig *config)
{
  return MAX(config->n_regions, 1);
}

gsize astro_histogram_values(const AstroHistogramConfig *config)
{
  gsize regions = astro_histogram_regions(config);
  return regions * regions * astro_histogram_bins(config);
}

gsize astro_histogram_sums(const AstroHistogramConfig *config)
{
  return astro_histogram_values(config) * astro_pair_fields_planes(config->fields);
}
