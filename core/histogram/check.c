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
                  "edge %u is %g, expected a finite number of 0 or more arcminutes", k, edge);
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

gboolean astro_histogram_shape(gconstpointer config, GError **error)
{
  const AstroHistogramConfig *histogram = config;
  if (!astro_histogram_edges_check(histogram, error))
    return FALSE;
  const gsize regions = astro_histogram_regions(histogram);
  return regions <= G_MAXUINT16 ||
         astro_backend_refuse(error, "%" G_GSIZE_FORMAT " regions, expected at most %d", regions,
                              G_MAXUINT16);
}

static gboolean check_regions(const AstroBlock *block, guint n_regions, GError **error)
{
  const AstroPoints *points = block->data;
  return points->n_regions == n_regions ||
         astro_backend_refuse(error, "the points of a catalogue are in %u regions, expected %u",
                              points->n_regions, n_regions);
}

gboolean astro_histogram_check(const AstroHistogramConfig *config, const AstroBlock *in, guint n_in,
                               const AstroBlock *out, guint n_out, GError **error)
{
  const gsize bytes = astro_histogram_values(config) * sizeof(guint64);
  const guint regions = astro_histogram_regions(config), expected = config->weighted ? 2 : 1;
  if (n_in < 1 || n_in > 2 || n_out != expected)
    return astro_backend_refuse(error,
                                "a histogram of %s takes 1 or 2 catalogues and writes %u block%s, "
                                "not %u and %u",
                                config->weighted ? "weighted pairs" : "pairs", expected,
                                expected > 1 ? "s" : "", n_in, n_out);
  for (guint k = 0; k < n_out; k++)
    if (out[k].bytes < bytes)
      return astro_backend_refuse(error,
                                  "output block %u of the histogram has %" G_GSIZE_FORMAT
                                  " bytes, expected %" G_GSIZE_FORMAT,
                                  k, out[k].bytes, bytes);
  return check_regions(&in[0], regions, error) && check_regions(&in[n_in - 1], regions, error);
}
