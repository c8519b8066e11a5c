/* astrohistogram's properties, and the bins that follow from them. */
#include "config.h"
#include "elements/astrohistogram-settings.h"

#include "core/backend/budget.h"
#include "core/kit/fail.h"
#include "core/kit/share.h"
#include "elements/base/astrowork.h"

#include <string.h>

/* ---- bins ---- */

/* Reads angles in arcminutes, or separations, separated by commas or blanks. */
static gboolean parse_edges(AstroHistogramConfig *config, const char *text, GError **error)
{
  const char *at = text;
  config->n_edges = 0;
  while (*(at += strspn(at, ", \t"))) {
    char *end;
    double edge = g_ascii_strtod(at, &end);
    if (end == at || config->n_edges == ASTRO_HISTOGRAM_MAX_EDGES) {
      g_set_error(
          error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_EDGES,
          "edges \"%.80s\": expected 2 to %d %s, found \"%.20s\"", text, ASTRO_HISTOGRAM_MAX_EDGES,
          config->kind == ASTRO_BINNING_ANGULAR ? "angles in arcminutes" : "separations", at);
      return FALSE;
    }
    config->edges[config->n_edges++] = edge;
    at = end;
  }
  return astro_histogram_edges_check(config, error);
}

#define MIN_ANGLE 0.01
#define MAX_ANGLE 10000.0
#define MIN_SEPARATION 1.0
#define MAX_SEPARATION 200.0

/* A limit of another kind of bins would be ignored. */
static gboolean check_limits(const AstroHistogramSettings *s, GError **error)
{
  const gboolean angular = s->kind == ASTRO_BINNING_ANGULAR;
  const gboolean has_angles = s->min_angle != MIN_ANGLE || s->max_angle != MAX_ANGLE,
                 has_separations =
                     s->min_separation != MIN_SEPARATION || s->max_separation != MAX_SEPARATION;
  if (angular ? !has_separations : !has_angles)
    return TRUE;
  return astro_fail(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_EDGES,
                    angular ? "min-separation or max-separation is set, and kind=%s has bins of "
                              "angle: expected min-angle and max-angle"
                            : "min-angle or max-angle is set, and kind=%s has bins of separation: "
                              "expected min-separation and max-separation",
                    astro_binning_name(s->kind));
}

gboolean astro_histogram_settings_config(const AstroHistogramSettings *s,
                                         AstroHistogramConfig *config, GError **error)
{
  *config = (AstroHistogramConfig){ .n_regions = s->regions,
                                    .precision = s->precision,
                                    .method = s->method,
                                    .kind = s->kind,
                                    .fields = s->fields,
                                    .weighted = s->fields != ASTRO_PAIR_FIELDS_NONE };
  const gboolean angular = s->kind == ASTRO_BINNING_ANGULAR, smu = s->kind == ASTRO_BINNING_SMU;
  const double min = angular ? s->min_angle : s->min_separation,
               max = angular ? s->max_angle : s->max_separation;
  if (!check_limits(s, error))
    return FALSE;
  if (!angular) {
    config->n_columns = smu ? s->mu_bins : s->pi_bins;
    config->most_across = smu ? s->mu_max : s->pi_max;
  }
  const gboolean listed = s->edges && *s->edges;
  if (listed && s->linear_bins)
    return astro_fail(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_EDGES,
                      "properties edges and linear-bins are both set, expected one of them");
  if (listed)
    return parse_edges(config, s->edges, error);
  if (s->linear_bins)
    return astro_histogram_edges_linear(config, min, max, s->linear_bins, error);
  return astro_histogram_edges_per_decade(config, min, max, s->bins_per_decade, error);
}

gboolean astro_histogram_settings_have_tables(const AstroHistogramSettings *s)
{
  return astro_field_given(s->dd_twopoint_weights) || astro_field_given(s->dr_twopoint_weights);
}

void astro_histogram_settings_weigh(const AstroHistogramSettings *s, guint n_words,
                                    AstroHistogramConfig *config)
{
  config->bits =
      (AstroPairBits){ .n_words = n_words,
                       .realizations = s->nrealizations ? s->nrealizations : 32 * n_words + 1,
                       .offset = s->noffset,
                       .default_value = s->default_value };
  config->weighs_pairs = n_words > 0 || astro_histogram_settings_have_tables(s);
  config->weighted |= config->weighs_pairs;
}

/* ---- properties ---- */

const AstroField astro_histogram_settings_fields[] = {
  ASTRO_ENUM(AstroHistogramSettings, kind, "kind", "Kind",
             "Which separations are binned: kinds in space need distances", astro_binning_get_type,
             ASTRO_BINNING_ANGULAR),
  ASTRO_ENUM(
      AstroHistogramSettings, fields, "fields", "Fields",
      "What points carry, so that its products are summed up too: in columns k, or g1 and g2; "
      "for kind=angular",
      astro_pair_fields_get_type, ASTRO_PAIR_FIELDS_NONE),
  ASTRO_DOUBLE(AstroHistogramSettings, bins_per_decade, "bins-per-decade", "Bins per decade",
               "Bins per decade of angle or separation, evenly spaced in its logarithm", 0.1, 1000,
               5),
  ASTRO_DOUBLE(AstroHistogramSettings, min_angle, "min-angle", "Smallest angle",
               "Lower edge of the first bin, arcmin; 0 for linear bins only", 0, 10800, MIN_ANGLE),
  ASTRO_DOUBLE(AstroHistogramSettings, max_angle, "max-angle", "Largest angle",
               "Upper limit of the last bin, arcmin", 1e-9, 10801, MAX_ANGLE),
  ASTRO_DOUBLE(AstroHistogramSettings, min_separation, "min-separation", "Smallest separation",
               "Lower edge of the first bin of s (kind=smu) or rp (kind=rppi), in the unit of the "
               "distances; 0 for linear bins only",
               0, 1e50, MIN_SEPARATION),
  ASTRO_DOUBLE(AstroHistogramSettings, max_separation, "max-separation", "Largest separation",
               "Upper limit of the last bin of s or rp, in the unit of the distances", 1e-50, 1e50,
               MAX_SEPARATION),
  ASTRO_UINT(AstroHistogramSettings, mu_bins, "mu-bins", "Bins of mu",
             "Even bins of mu from 0 to mu-max, for kind=smu", 1, ASTRO_HISTOGRAM_MAX_COLUMNS, 100),
  ASTRO_DOUBLE(AstroHistogramSettings, mu_max, "mu-max", "Largest mu",
               "Upper limit of mu, the cosine of a separation's angle to the line of sight", 1e-9,
               1, 1),
  ASTRO_UINT(AstroHistogramSettings, pi_bins, "pi-bins", "Bins of pi",
             "Even bins of pi from 0 to pi-max, for kind=rppi", 1, ASTRO_HISTOGRAM_MAX_COLUMNS, 40),
  ASTRO_DOUBLE(AstroHistogramSettings, pi_max, "pi-max", "Largest pi",
               "Upper limit of pi, the separation along the line of sight, in the unit of the "
               "distances",
               1e-50, 1e50, 40),
  ASTRO_TEXT(AstroHistogramSettings, edges, "edges", "Edges",
             "Edges of the bins, rising, in arcmin or the unit of the distances, separated by "
             "commas; replaces bins-per-decade",
             NULL),
  ASTRO_UINT(AstroHistogramSettings, linear_bins, "linear-bins", "Linear bins",
             "This many bins of equal width from the smallest to the largest angle or separation, "
             "instead of bins-per-decade; 0: none",
             0, ASTRO_HISTOGRAM_MAX_EDGES - 1, 0),
  ASTRO_UINT(AstroHistogramSettings, regions, "regions", "Regions",
             "Regions for the jackknife: those of the catalogues' column region, or else compact "
             "cells that hold equally many points of the data; 0: none",
             0, 65535, 0),
  ASTRO_UINT(AstroHistogramSettings, split, "split", "Split",
             "Splits every random catalogue at random into so many, of equal size: DR is the same, "
             "and RR, within the parts, takes less time for hardly more noise",
             1, 10000, 1),
  ASTRO_UINT(
      AstroHistogramSettings, interval, "interval", "Interval",
      "Also sends the counts so far after every so many random catalogues; 0: at the end only", 0,
      G_MAXUINT, 0),
  ASTRO_ENUM(AstroHistogramSettings, precision, "precision", "Precision",
             "Exactness for pairs next to the edge of a bin", astro_precision_get_type,
             ASTRO_PRECISION_EXACT),
  ASTRO_ENUM(AstroHistogramSettings, method, "method", "Method", "How pairs are counted",
             astro_pair_method_get_type, ASTRO_PAIR_METHOD_AUTO),
  ASTRO_TEXT(AstroHistogramSettings, max_memory, "max-memory", "Memory",
             ASTRO_BUDGET_HELP "; larger catalogues are counted in slices, from a temporary file",
             ASTRO_BUDGET_DEFAULT),
  ASTRO_UINT(AstroHistogramSettings, nrealizations, "nrealizations", "Realisations",
             "Realisations of the selection, with the actual one, for weights of pairs by bits: "
             "nrealizations / (noffset + common bits); 0: one more than there are bits",
             0, 1000000, 0),
  ASTRO_UINT(AstroHistogramSettings, noffset, "noffset", "Offset",
             "What is added to the number of common bits that weights of pairs are divided by", 0,
             1000000, 1),
  ASTRO_DOUBLE(AstroHistogramSettings, default_value, "default-value", "Default weight",
               "The weight of a pair whose noffset and number of common bits are 0", -1e50, 1e50,
               0),
  ASTRO_TEXT(AstroHistogramSettings, dd_twopoint_weights, "dd-twopoint-weights", "Weights of DD",
             "A text of angles in degrees and weights of pairs of data, which are interpolated in "
             "the cosine, and 1 outside; NULL or empty: none",
             NULL),
  ASTRO_TEXT(AstroHistogramSettings, dr_twopoint_weights, "dr-twopoint-weights", "Weights of DR",
             "The same for pairs of data and random points; NULL or empty: none", NULL),
  ASTRO_TEXT(AstroHistogramSettings, share, "share", "Share",
             ASTRO_SHARE_HELP "; astroreduce or astroadd adds up the histograms of all", NULL),
  ASTRO_WORK_BACKEND(AstroHistogramSettings, backend, "Backend that computes the counts"),
  ASTRO_WORK_DEVICE(AstroHistogramSettings, device, 63),
  ASTRO_WORK_DEVICES(AstroHistogramSettings, devices),
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
