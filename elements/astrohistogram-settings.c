#include "config.h"
#include "elements/astrohistogram-settings.h"

#include "core/kit/fail.h"
#include "elements/base/astrofields.h"

#include <string.h>

/* ---- bins ---- */

/* Angles in arcminutes between commas or blanks. */
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

enum {
  BINS_PER_DECADE = ASTRO_HISTOGRAM_FIRST_SETTING,
  MIN_ANGLE,
  MAX_ANGLE,
  EDGES,
  LINEAR_BINS,
  REGIONS,
  INTERVAL,
  PRECISION,
  METHOD,
  BACKEND,
  DEVICE,
  THREADS
};

static const AstroField fields[] = {
  ASTRO_FIELD(BINS_PER_DECADE, AstroHistogramSettings, bins_per_decade),
  ASTRO_FIELD(MIN_ANGLE, AstroHistogramSettings, min_angle),
  ASTRO_FIELD(MAX_ANGLE, AstroHistogramSettings, max_angle),
  ASTRO_FIELD(EDGES, AstroHistogramSettings, edges),
  ASTRO_FIELD(LINEAR_BINS, AstroHistogramSettings, linear_bins),
  ASTRO_FIELD(REGIONS, AstroHistogramSettings, regions),
  ASTRO_FIELD(INTERVAL, AstroHistogramSettings, interval),
  ASTRO_FIELD(PRECISION, AstroHistogramSettings, precision),
  ASTRO_FIELD(METHOD, AstroHistogramSettings, method),
  ASTRO_FIELD(BACKEND, AstroHistogramSettings, backend),
  ASTRO_FIELD(DEVICE, AstroHistogramSettings, device),
  ASTRO_FIELD(THREADS, AstroHistogramSettings, threads),
  { 0 },
};

gboolean astro_histogram_settings_set(AstroHistogramSettings *s, guint property,
                                      const GValue *value)
{
  return astro_fields_set(fields, s, property, value);
}

gboolean astro_histogram_settings_get(const AstroHistogramSettings *s, guint property,
                                      GValue *value)
{
  return astro_fields_get(fields, s, property, value);
}

void astro_histogram_settings_copy(AstroHistogramSettings *to, const AstroHistogramSettings *from)
{
  astro_fields_copy(fields, to, from, sizeof *to);
}

void astro_histogram_settings_clear(AstroHistogramSettings *s)
{
  astro_fields_clear(fields, s);
}

#define FLAGS                                                                                      \
  (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | G_PARAM_CONSTRUCT | GST_PARAM_MUTABLE_READY)

void astro_histogram_settings_install(GObjectClass *object)
{
  g_object_class_install_property(object, BINS_PER_DECADE,
                                  g_param_spec_double("bins-per-decade", "Bins per decade",
                                                      "Of the angle, evenly in its logarithm", 0.1,
                                                      1000, 5, FLAGS));
  g_object_class_install_property(object, MIN_ANGLE,
                                  g_param_spec_double("min-angle", "Smallest angle",
                                                      "Where the first bin begins, arcmin; 0 for "
                                                      "linear bins only",
                                                      0, 10800, 0.01, FLAGS));
  g_object_class_install_property(object, MAX_ANGLE,
                                  g_param_spec_double("max-angle", "Largest angle",
                                                      "That the last bin reaches, arcmin", 1e-9,
                                                      10801, 10000, FLAGS));
  g_object_class_install_property(
      object, EDGES,
      g_param_spec_string("edges", "Edges",
                          "Of the bins, rising, in arcmin, between commas; takes the place of the "
                          "bins per decade",
                          NULL, FLAGS));
  g_object_class_install_property(
      object, LINEAR_BINS,
      g_param_spec_uint("linear-bins", "Linear bins",
                        "So many bins of equal width from the smallest to the largest angle, in "
                        "place of the bins per decade; 0 is none",
                        0, ASTRO_HISTOGRAM_MAX_EDGES - 1, 0, FLAGS));
  g_object_class_install_property(
      object, REGIONS,
      g_param_spec_uint(
          "regions", "Regions",
          "For the jackknife: those of the catalogues' column region, or compact cells "
          "that hold equally many points of the data; 0 is none",
          0, 65535, 0, FLAGS));
  g_object_class_install_property(
      object, INTERVAL,
      g_param_spec_uint("interval", "Interval",
                        "Sends what is counted after so many random catalogues too; 0 at the end "
                        "only",
                        0, G_MAXUINT, 0, FLAGS));
  g_object_class_install_property(
      object, PRECISION,
      g_param_spec_enum("precision", "Precision", "Of what falls next to an edge",
                        ASTRO_TYPE_PRECISION, ASTRO_PRECISION_EXACT, FLAGS));
  g_object_class_install_property(object, METHOD,
                                  g_param_spec_enum("method", "Method", "How pairs are counted",
                                                    ASTRO_TYPE_PAIR_METHOD, ASTRO_PAIR_METHOD_AUTO,
                                                    FLAGS));
  g_object_class_install_property(object, BACKEND,
                                  g_param_spec_enum("backend", "Backend", "Who does the work",
                                                    ASTRO_TYPE_BACKEND_KIND, ASTRO_BACKEND_AUTO,
                                                    FLAGS));
  g_object_class_install_property(
      object, DEVICE,
      g_param_spec_int("device", "Device", "Index of the GPU that backend=cuda or auto uses", 0, 63,
                       0, FLAGS));
  g_object_class_install_property(object, THREADS,
                                  g_param_spec_uint("threads", "Threads",
                                                    "CPU threads at most; 0: the machine's", 0,
                                                    1024, 0, FLAGS));
}
