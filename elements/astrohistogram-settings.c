/* astrohistogram's properties, and the bins that follow from them. */
#include "config.h"
#include "elements/astrohistogram-settings.h"

#include "core/kit/fail.h"
#include "elements/base/astrowork.h"

#include <string.h>

/* ---- bins ---- */

/* Reads angles in arcminutes, separated by commas or blanks. */
static gboolean parse_edges(AstroHistogramConfig *config, const char *text, GError **error)
{
  const char *at = text;
  config->n_edges = 0;
  while (*(at += strspn(at, ", \t"))) {
    char *end;
    double edge = g_ascii_strtod(at, &end);
    if (end == at || config->n_edges == ASTRO_HISTOGRAM_MAX_EDGES) {
      g_set_error(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_EDGES,
                  "edges \"%.80s\": expected 2 to %d angles in arcminutes, found \"%.20s\"", text,
                  ASTRO_HISTOGRAM_MAX_EDGES, at);
      return FALSE;
    }
    config->edges[config->n_edges++] = edge;
    at = end;
  }
  return astro_histogram_edges_check(config, error);
}

gboolean astro_histogram_settings_config(const AstroHistogramSettings *s,
                                         AstroHistogramConfig *config, GError **error)
{
  *config = (AstroHistogramConfig){ .n_regions = s->regions,
                                    .precision = s->precision,
                                    .method = s->method };
  const gboolean listed = s->edges && *s->edges;
  if (listed && s->linear_bins)
    return astro_fail(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_EDGES,
                      "properties edges and linear-bins are both set, expected one of them");
  if (listed)
    return parse_edges(config, s->edges, error);
  if (s->linear_bins)
    return astro_histogram_edges_linear(config, s->min_angle, s->max_angle, s->linear_bins, error);
  return astro_histogram_edges_per_decade(config, s->min_angle, s->max_angle, s->bins_per_decade,
                                          error);
}

/* ---- properties ---- */

const AstroField astro_histogram_settings_fields[] = {
  ASTRO_DOUBLE(AstroHistogramSettings, bins_per_decade, "bins-per-decade", "Bins per decade",
               "Bins per decade of angle, evenly spaced in its logarithm", 0.1, 1000, 5),
  ASTRO_DOUBLE(AstroHistogramSettings, min_angle, "min-angle", "Smallest angle",
               "Lower edge of the first bin, arcmin; 0 for linear bins only", 0, 10800, 0.01),
  ASTRO_DOUBLE(AstroHistogramSettings, max_angle, "max-angle", "Largest angle",
               "Upper limit of the last bin, arcmin", 1e-9, 10801, 10000),
  ASTRO_TEXT(AstroHistogramSettings, edges, "edges", "Edges",
             "Edges of the bins, rising, in arcmin, separated by commas; replaces bins-per-decade",
             NULL),
  ASTRO_UINT(AstroHistogramSettings, linear_bins, "linear-bins", "Linear bins",
             "This many bins of equal width from the smallest to the largest angle, instead of "
             "bins-per-decade; 0: none",
             0, ASTRO_HISTOGRAM_MAX_EDGES - 1, 0),
  ASTRO_UINT(AstroHistogramSettings, regions, "regions", "Regions",
             "Regions for the jackknife: those of the catalogues' column region, or else compact "
             "cells that hold equally many points of the data; 0: none",
             0, 65535, 0),
  ASTRO_UINT(
      AstroHistogramSettings, interval, "interval", "Interval",
      "Also sends the counts so far after every so many random catalogues; 0: at the end only", 0,
      G_MAXUINT, 0),
  ASTRO_ENUM(AstroHistogramSettings, precision, "precision", "Precision",
             "Exactness for pairs next to the edge of a bin", astro_precision_get_type,
             ASTRO_PRECISION_EXACT),
  ASTRO_ENUM(AstroHistogramSettings, method, "method", "Method", "How pairs are counted",
             astro_pair_method_get_type, ASTRO_PAIR_METHOD_AUTO),
  ASTRO_WORK_BACKEND(AstroHistogramSettings, backend, "Backend that computes the counts"),
  ASTRO_WORK_DEVICE(AstroHistogramSettings, device, 63),
  ASTRO_WORK_THREADS(AstroHistogramSettings, threads,
                     "Most CPU threads; 0: as many as the machine has", 1024),
  { 0 },
};

void astro_histogram_settings_copy(gconstpointer element, AstroHistogramSettings *to,
                                   const AstroHistogramSettings *from)
{
  astro_fields_copy(astro_histogram_settings_fields, element, to, from, sizeof *to);
}

void astro_histogram_settings_clear(AstroHistogramSettings *s)
{
  astro_fields_clear(astro_histogram_settings_fields, s);
}
