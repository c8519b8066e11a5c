/**
 * SECTION:element-astrotpacf
 *
 * Correlation functions from histograms of pairs: w(theta) or, in space, xi, with jackknife errors
 * where the histogram has regions. Of pairs by angle the output has columns theta, low and high
 * (edges) in arcmin, w, error, the counts of every kind of pairs, and with regions the covariance,
 * one column for each bin (cov0, cov1 ...). Element messages "astro-tpacf" give the power law that
 * fits best and the number of bins it fits, or in "no-fit" the reason why there is none: bins
 * without pairs of the data, or with errors far below Poisson errors, are left out, and at least
 * three have to be significant by their errors. A sticky event "astro-correlation" before the
 * output gives the estimator and the numbers of points and pairs, which astrofitssink writes into a
 * table's header.
 *
 * Counts are divided by the number of pairs of different points: n (n - 1) / 2 in a catalogue with
 * itself, with weights (W^2 - sum of w^2) / 2 where W is their sum. TreeCorr divides by W^2 / 2,
 * which includes half a pair of every point with itself: with the same counts, its w(theta) of n
 * points, and many more random ones, is lower by (1 + w) / n. The two agree if, in TreeCorr, the
 * tot of the NNCorrelation of either catalogue with itself is multiplied by
 * 1 - (sum of w^2) / W^2.
 *
 * Pairs in space (kind=smu or kind=rppi) give xi by the same estimators, in columns that pycorr and
 * TreeCorr know by other names: s or rp (sep; rnom), xi (corr), error (std; sigma_xi), dd, dr and
 * rr (the counts or weights of pairs, as npairs or weight), with edges in s_low, s_high and so on.
 * s, rp, mu and pi are middles of bins. A row is a value:
 *
 *  - statistic=xi: xi in every bin, with mu, mu_low and mu_high, or pi, pi_low and pi_high
 *  - statistic=multipoles: ell is 0, 2 or 4; Legendre polynomials are integrated over every bin
 *  - statistic=wedges: means over even ranges of mu
 *  - statistic=wp: wp, twice the sum of xi times the width of a bin of pi
 *
 * With regions the last three have the covariance of all rows, cov0, cov1 and so on. Without, their
 * errors are those of Poisson counts, to which bins without pairs of the data add none.
 *
 * |[
 * gst-launch-1.0 astrohistogram name=h kind=rppi regions=20 pi-max=60 pi-bins=60 ! \
 *   astrotpacf statistic=wp ! text/csv ! filesink location=wp.csv \
 *   astrofitssrc location=galaxies.fits redshift-column=Z omega-m=0.31 ! h.data \
 *   astrofitssrc location=random.fits redshift-column=Z omega-m=0.31 ! h.random
 * ]|
 *
 * |[
 * gst-launch-1.0 astrocatsrc slope=-0.8 ! h.data astrocatsrc points=30000 seed=2 ! h.random \
 *   astrohistogram name=h regions=20 ! astrotpacf estimator=hamilton ! filesink location=w.f64
 * ]|
 */
#include "config.h"
#include "elements/astrotpacf.h"

#include "core/stream/histogram-summary.h"
#include "core/memory/memory.h"
#include "core/stream/stream.h"
#include "core/tpacf/about.h"
#include "core/tpacf/csv.h"
#include "core/tpacf/space-table.h"
#include "core/tpacf/tpacf.h"
#include "elements/base/astrofields.h"
#include "elements/base/astroincoming.h"
#include "elements/base/astrolog.h"
#include "elements/base/astroonce.h"
#include "elements/base/astrooutgoing.h"
#include "elements/base/astrostage.h"

#include <math.h>
#include <string.h>

#define CSV "text/csv"
#define FIXED_COLUMNS "theta:low:high:w:error"
enum { THETA, LOW, HIGH, W, ERROR, N_FIXED };

typedef struct {
  AstroEstimator estimator;
  AstroStatistic statistic;
  guint wedges;
  gboolean integral_constraint;
} Settings;

struct _AstroTpacf {
  GstBaseTransform parent;
  Settings settings;

  AstroStream in;
  AstroSpaceTable space; /* of pairs in space; across NONE: by angle */
  char **kinds;          /* from the caps field pairs */
  char *columns;         /* of the output */
  gboolean to_csv;
  gboolean has_summary;
  AstroSummary summary;
};

G_DEFINE_TYPE(AstroTpacf, astro_tpacf, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(astrotpacf, "astrotpacf", GST_RANK_NONE, ASTRO_TYPE_TPACF)

static const AstroField fields[] = {
  ASTRO_ENUM(Settings, estimator, "estimator", "Estimator",
             "How w(theta) is estimated from the pairs, from the next histogram on",
             astro_estimator_get_type, ASTRO_ESTIMATOR_LANDY_SZALAY, .when = ASTRO_WHEN_PLAYING),
  ASTRO_ENUM(Settings, statistic, "statistic", "Statistic",
             "What is made of pairs in space: xi in every bin, or sums of it",
             astro_statistic_get_type, ASTRO_STATISTIC_AUTO),
  ASTRO_UINT(Settings, wedges, "wedges", "Wedges",
             "Even ranges of mu for statistic=wedges, each of whole bins of mu", 1, 1024, 2),
  ASTRO_BOOLEAN(
      Settings, integral_constraint, "integral-constraint", "Integral constraint",
      "Adds the part of w that is lost because the mean density comes from the same field, "
      "assuming a power law",
      FALSE, .when = ASTRO_WHEN_PLAYING),
  { 0 },
};

static gboolean fail(AstroTpacf *self, GError *error)
{
  GST_ELEMENT_ERROR(self, STREAM, FAILED, ("%s", error->message), (NULL));
  g_error_free(error);
  return FALSE;
}

static guint n_bins(const AstroTpacf *self)
{
  return (guint)astro_stream_extent(&self->in, ASTRO_AXIS_BIN);
}

static guint n_regions(const AstroTpacf *self)
{
  return (guint)astro_stream_extent(&self->in, ASTRO_AXIS_REGION);
}

static guint n_kinds(const AstroTpacf *self)
{
  return self->kinds ? g_strv_length(self->kinds) : 0;
}

static guint n_values(const AstroTpacf *self)
{
  return self->space.across == ASTRO_AXIS_NONE ? n_bins(self)
                                               : astro_space_table_rows(&self->space);
}

static gsize table_values(const AstroTpacf *self)
{
  if (self->space.across != ASTRO_AXIS_NONE)
    return astro_space_table_values(&self->space);
  const gsize bins = n_bins(self);
  return (N_FIXED + n_kinds(self) + (n_regions(self) > 1 ? bins : 0)) * bins;
}

/* ---- caps ---- */

static guint count_of(const GstStructure *s, const char *field)
{
  gint n = 1;
  gst_structure_get_int(s, field, &n);
  return (guint)MAX(n, 1);
}

/* The shape of a table for a histogram's caps. across is NONE for pairs by angle. */
static AstroSpaceTable space_of(AstroTpacf *self, const GstCaps *in)
{
  const GstStructure *s = gst_caps_get_structure(in, 0);
  const char *layout = gst_structure_get_string(s, "layout"),
             *kinds = gst_structure_get_string(s, "pairs");
  Settings settings;
  astro_fields_copy(fields, self, &settings, &self->settings, sizeof settings);
  AstroSpaceTable table = { .statistic = settings.statistic, .wedges = settings.wedges };
  for (AstroAxis axis = ASTRO_AXIS_MU; layout && axis <= ASTRO_AXIS_PI; axis++)
    if (g_str_has_suffix(layout, axis == ASTRO_AXIS_MU ? ":bin:mu" : ":bin:pi"))
      table.across = axis;
  if (table.across == ASTRO_AXIS_NONE)
    return table;
  table.n_rows = count_of(s, "bins");
  table.n_columns = count_of(s, astro_axis_field(table.across));
  table.n_regions = count_of(s, "regions");
  for (const char *c = kinds; c && *c; c++)
    table.n_kinds += *c == ':';
  table.n_kinds += kinds && *kinds;
  return table;
}

static char *angular_columns(const GstCaps *in)
{
  const GstStructure *s = gst_caps_get_structure(in, 0);
  const char *kinds = gst_structure_get_string(s, "pairs");
  gint bins = 0, regions = 1;
  gst_structure_get_int(s, "bins", &bins);
  gst_structure_get_int(s, "regions", &regions);
  GString *columns = g_string_new(FIXED_COLUMNS);
  if (kinds)
    g_string_append_printf(columns, ":%s", kinds);
  for (gint k = 0; k < bins && regions > 1; k++)
    g_string_append_printf(columns, ":cov%d", k);
  return g_string_free(columns, FALSE);
}

static char *output_columns(AstroTpacf *self, const GstCaps *in)
{
  const AstroSpaceTable space = space_of(self, in);
  const char *kinds = gst_structure_get_string(gst_caps_get_structure(in, 0), "pairs");
  return space.across == ASTRO_AXIS_NONE ? angular_columns(in)
                                         : astro_space_table_columns(&space, kinds ? kinds : "");
}

/* Offers the table first, then its text. */
static GstCaps *output_caps(AstroTpacf *self, const GstCaps *in)
{
  const AstroSpaceTable space = space_of(self, in);
  g_autofree char *columns = output_columns(self, in);
  gint bins = 0;
  gst_structure_get_int(gst_caps_get_structure(in, 0), "bins", &bins);
  if (space.across != ASTRO_AXIS_NONE)
    bins = (gint)astro_space_table_rows(&space);
  GstCaps *caps =
      gst_caps_new_simple(astro_quantity_media_type(ASTRO_QUANTITY_CORRELATION_FUNCTION), "format",
                          G_TYPE_STRING, "F64LE", "layout", G_TYPE_STRING, "column:bin", "columns",
                          G_TYPE_STRING, columns, "bins", G_TYPE_INT, bins, NULL);
  gst_caps_append(caps, gst_caps_new_empty_simple(CSV));
  return caps;
}

static GstCaps *astro_tpacf_fixate_caps(GstBaseTransform *base, GstPadDirection direction,
                                        GstCaps *caps, GstCaps *othercaps)
{
  if (direction != GST_PAD_SINK || astro_stage_is_unlinked(base, othercaps))
    return gst_caps_fixate(othercaps);
  g_autoptr(GstCaps) wanted = output_caps(ASTRO_TPACF(base), caps);
  GstCaps *possible = gst_caps_intersect_full(wanted, othercaps, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref(othercaps);
  return gst_caps_fixate(possible);
}

static gboolean astro_tpacf_set_caps(GstBaseTransform *base, GstCaps *in, GstCaps *out)
{
  AstroTpacf *self = ASTRO_TPACF(base);
  GError *error = NULL;
  const char *kinds = gst_structure_get_string(gst_caps_get_structure(in, 0), "pairs");
  astro_log_caps(self, in, out);
  gst_base_transform_set_passthrough(base, astro_stage_is_unlinked(base, out));
  if (gst_base_transform_is_passthrough(base))
    return TRUE;
  if (!astro_stream_from_caps(&self->in, in, &error))
    return fail(self, error);
  gboolean is_sums = self->in.format == ASTRO_FORMAT_F64LE;
  self->space = space_of(self, in);
  const AstroLayout *layout = &self->in.layout;
  const gboolean in_space = self->space.across != ASTRO_AXIS_NONE;
  const gint n_across = (astro_layout_find(layout, ASTRO_AXIS_MU) >= 0) +
                        (astro_layout_find(layout, ASTRO_AXIS_PI) >= 0);
  if ((!is_sums && self->in.format != ASTRO_FORMAT_U64LE) || !kinds ||
      astro_layout_find(layout, ASTRO_AXIS_PAIRS) != 0 || n_across != in_space ||
      astro_layout_find(layout, ASTRO_AXIS_BIN) != (gint)layout->n_axes - 1 - n_across) {
    g_autofree char *text = gst_caps_to_string(in);
    return fail(self, g_error_new(ASTRO_STREAM_ERROR, ASTRO_STREAM_ERROR_CAPS,
                                  "%s, expected format=U64LE or F64LE, layout=pairs:bin or "
                                  "pairs:region:region:bin, in space followed by mu or pi",
                                  text));
  }
  g_strfreev(self->kinds);
  self->kinds = g_strsplit(kinds, ":", -1);
  g_free(self->columns);
  self->columns = output_columns(self, in);
  self->to_csv = gst_structure_has_name(gst_caps_get_structure(out, 0), CSV);
  return TRUE;
}

/* ---- events ---- */

/* Each bin has a column in the covariance, and caps name all columns. */
#define MAX_COVARIANCE_BINS 65536
#define MAX_SPACE_ROWS (1u << 20)

static gboolean check_space(AstroTpacf *self, const GstCaps *caps)
{
  const AstroSpaceTable space = space_of(self, caps);
  GError *error = NULL;
  Settings settings;
  astro_fields_copy(fields, self, &settings, &self->settings, sizeof settings);
  if (!astro_statistic_check(space.statistic, space.across, space.n_columns, space.wedges, &error))
    return fail(self, error);
  if (space.across == ASTRO_AXIS_NONE)
    return TRUE;
  if (settings.integral_constraint)
    return fail(self, g_error_new(ASTRO_TPACF_ERROR, ASTRO_TPACF_ERROR_STATISTIC,
                                  "integral-constraint=true is for pairs by angle: expected a "
                                  "histogram of kind=angular, or integral-constraint=false"));
  return (guint64)space.n_rows * MAX(space.n_columns, space.wedges) <= MAX_SPACE_ROWS ||
         fail(self,
              g_error_new(ASTRO_STREAM_ERROR, ASTRO_STREAM_ERROR_CAPS,
                          "%u bins with %u of %s in each, expected at most %u in all", space.n_rows,
                          space.n_columns, astro_axis_name(space.across), MAX_SPACE_ROWS));
}

static gboolean check_bins(AstroTpacf *self, GstEvent *event)
{
  GstCaps *caps;
  gint bins = 0, regions = 1;
  gst_event_parse_caps(event, &caps);
  const GstStructure *s = gst_caps_get_structure(caps, 0);
  gst_structure_get_int(s, "bins", &bins);
  gst_structure_get_int(s, "regions", &regions);
  if (!check_space(self, caps))
    return FALSE;
  return regions < 2 || bins <= MAX_COVARIANCE_BINS ||
         fail(self, g_error_new(ASTRO_STREAM_ERROR, ASTRO_STREAM_ERROR_CAPS,
                                "a covariance of %d bins, expected at most %d", bins,
                                MAX_COVARIANCE_BINS));
}

static gboolean caps_event(GstBaseTransform *base, GstEvent *event)
{
  GstCaps *caps;
  gst_event_parse_caps(event, &caps);
  g_autoptr(GstCaps) made = output_caps(ASTRO_TPACF(base), caps);
  if (GST_BASE_TRANSFORM_CLASS(astro_tpacf_parent_class)->sink_event(base, event))
    return TRUE;
  astro_refused_caps(GST_BASE_TRANSFORM_SRC_PAD(base), made, "correlation functions");
  return FALSE;
}

static gboolean astro_tpacf_sink_event(GstBaseTransform *base, GstEvent *event)
{
  AstroTpacf *self = ASTRO_TPACF(base);
  GError *error = NULL;
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS && !check_bins(self, event)) {
    gst_event_unref(event);
    return FALSE;
  }
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS)
    return caps_event(base, event);
  if (!astro_event_is_summary(event))
    return GST_BASE_TRANSFORM_CLASS(astro_tpacf_parent_class)->sink_event(base, event);
  astro_summary_clear(&self->summary);
  self->has_summary = astro_summary_from_event(&self->summary, event, &error);
  gst_event_unref(event); /* the histograms that it describes end here */
  return self->has_summary || fail(self, error);
}

/* ---- the work ---- */

/* NULL: out of memory. */
static double *counts_as_doubles(const AstroTpacf *self, const GstMapInfo *in)
{
  gsize n = in->size / sizeof(double);
  double *values = g_try_new(double, n);
  for (gsize i = 0; values && i < n; i++)
    values[i] = self->in.format == ASTRO_FORMAT_F64LE
                    ? ((const double *)(gconstpointer)in->data)[i]
                    : (double)((const guint64 *)(gconstpointer)in->data)[i];
  return values;
}

static AstroTpacfConfig config_of(const AstroTpacf *self, const double *values)
{
  Settings settings;
  astro_fields_copy(fields, self, &settings, &self->settings, sizeof settings);
  AstroTpacfConfig config = { .estimator = settings.estimator,
                              .integral_constraint = settings.integral_constraint,
                              .n_regions = n_regions(self),
                              .n_bins = n_bins(self),
                              .edges = self->summary.edges };
  struct {
    const char *name;
    AstroPairs *pairs;
  } known[] = {
    { "dd", &config.dd }, { "dr", &config.dr }, { "rd", &config.rd }, { "rr", &config.rr }
  };
  if (self->space.across != ASTRO_AXIS_NONE) {
    config.n_bins = self->space.n_rows * self->space.n_columns;
    config.edges = NULL;
  }
  gsize cells = (gsize)config.n_regions * config.n_regions;
  for (guint k = 0; k < n_kinds(self); k++)
    for (guint i = 0; i < G_N_ELEMENTS(known); i++)
      if (g_str_equal(self->kinds[k], known[i].name))
        *known[i].pairs =
            (AstroPairs){ values + k * cells * config.n_bins, self->summary.pairs + k * cells };
  for (guint k = 0; k < n_kinds(self) && self->summary.counts; k++)
    if (g_str_equal(self->kinds[k], "dd"))
      config.dd_numbers =
          (const guint64 *)g_bytes_get_data(self->summary.counts, NULL) + k * cells * config.n_bins;
  return config;
}

static void write_columns(const AstroTpacf *self, const AstroTpacfResult *result,
                          const double *values, double *out)
{
  if (self->space.across != ASTRO_AXIS_NONE) {
    astro_space_table_write(&self->space, self->summary.edges, self->summary.most_across, result,
                            values, out);
    return;
  }
  const gsize bins = result->n_bins, cells = (gsize)n_regions(self) * n_regions(self);
  for (gsize k = 0; k < bins; k++) {
    out[THETA * bins + k] = result->theta[k];
    out[LOW * bins + k] = self->summary.edges[k];
    out[HIGH * bins + k] = self->summary.edges[k + 1];
    out[W * bins + k] = result->w[k];
    out[ERROR * bins + k] = result->error[k];
  }
  out += N_FIXED * bins;
  for (guint kind = 0; kind < n_kinds(self); kind++, out += bins)
    for (gsize k = 0; k < bins; k++) {
      out[k] = 0;
      for (gsize cell = 0; cell < cells; cell++)
        out[k] += values[(kind * cells + cell) * bins + k];
    }
  if (result->covariance)
    memcpy(out, result->covariance, bins * bins * sizeof(double));
}

/* Fraction of the random pairs that the bins need to hold for the integral constraint. */
#define ENOUGH_PAIRS 0.99

/* The power law if one fits, else the reason why none does. */
static GstStructure *fit_of(const AstroTpacfResult *result)
{
  AstroPowerLaw law;
  if (!result->theta)
    return gst_structure_new("astro-tpacf", "no-fit", G_TYPE_STRING,
                             "power laws are fitted to pairs by angle alone", NULL);
  if (astro_tpacf_fit(result, 0, INFINITY, &law))
    return gst_structure_new("astro-tpacf", "amplitude", G_TYPE_DOUBLE, law.amplitude, "slope",
                             G_TYPE_DOUBLE, law.slope, "bins", G_TYPE_UINT, law.n_used, NULL);
  return gst_structure_new("astro-tpacf", "no-fit", G_TYPE_STRING, law.reason, NULL);
}

static void tell(AstroTpacf *self, const AstroTpacfResult *result)
{
  if (result->apart)
    GST_ELEMENT_WARNING(
        self, STREAM, FAILED,
        ("no point of %s, as far as the bins reach: do they cover the same sky, with "
         "positions in degrees?",
         result->apart),
        (NULL));
  if (result->kind_without_pairs)
    GST_ELEMENT_WARNING(
        self, STREAM, FAILED,
        ("%s is NaN in all %u bins: there are no pairs of kind %s, or all have weight "
         "0: expected at least two points in every catalogue",
         result->theta ? "w" : "the correlation function", result->n_bins,
         result->kind_without_pairs),
        (NULL));
  else if (result->n_undefined)
    GST_ELEMENT_WARNING(
        self, STREAM, FAILED,
        ("%s is NaN in %u of %u bins, where the estimator would divide by zero pairs",
         result->theta ? "w" : "the correlation function", result->n_undefined, result->n_bins),
        (NULL));
  if (result->is_unsettled)
    GST_ELEMENT_WARNING(
        self, STREAM, FAILED,
        ("no integral constraint is added: it needs pairs of random points, and a w that in at "
         "least three bins is above 0 by more than its errors and steep enough for a power law"),
        (NULL));
  if (result->constraint != 0 && result->constraint_share < ENOUGH_PAIRS)
    GST_ELEMENT_WARNING(self, STREAM, FAILED,
                        ("the integral constraint of %.3g is too large: only %.3g%% of the random "
                         "pairs lie in the bins, expected bins that reach across the field",
                         result->constraint, 100 * result->constraint_share),
                        (NULL));
  GstStructure *s = fit_of(result);
  gst_structure_set(s, "constraint", G_TYPE_DOUBLE, result->constraint, "samples", G_TYPE_UINT,
                    result->n_used, "undefined", G_TYPE_UINT, result->n_undefined, NULL);
  gst_element_post_message(GST_ELEMENT(self), gst_message_new_element(GST_OBJECT(self), s));
}

static gboolean check_summary(AstroTpacf *self, gsize bytes, GError **error)
{
  const AstroSummary *s = &self->summary;
  const gboolean in_space = self->space.across != ASTRO_AXIS_NONE;
  const gsize of_cell = in_space ? (gsize)self->space.n_rows * self->space.n_columns : n_bins(self);
  if (self->has_summary && s->n_kinds == n_kinds(self) && s->n_regions == n_regions(self) &&
      s->n_edges == n_bins(self) + 1 && in_space == (s->most_across > 0) &&
      bytes == (gsize)s->n_kinds * s->n_regions * s->n_regions * of_cell * sizeof(double) &&
      (!s->counts || g_bytes_get_size(s->counts) == bytes))
    return TRUE;
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                             self->has_summary ? "a histogram of %" G_GSIZE_FORMAT
                                                 " bytes does not match its caps and its event %s"
                                               : "a histogram of %" G_GSIZE_FORMAT
                                                 " bytes came without an event %s",
                             bytes, ASTRO_SUMMARY_EVENT);
}

static gboolean make_table(AstroTpacf *self, const GstMapInfo *in, double *table, GError **error)
{
  AstroTpacfResult result;
  g_autofree double *values = counts_as_doubles(self, in);
  if (!values || !table)
    return astro_tpacf_no_memory(error, n_bins(self), n_regions(self));
  AstroTpacfConfig config = config_of(self, values);
  AstroTpacfSums sums = { 0 };
  const AstroSpaceTable *space = &self->space;
  if (space->across != ASTRO_AXIS_NONE &&
      !astro_sums_init(&sums, space->statistic, space->n_columns, self->summary.most_across,
                       space->wedges, error))
    return FALSE;
  config.sums = sums.n_sums > 0 ? &sums : NULL;
  const gboolean good = astro_tpacf_compute(&config, &result, error);
  astro_sums_clear(&sums);
  if (!good)
    return FALSE;
  write_columns(self, &result, values, table);
  gst_pad_push_event(GST_BASE_TRANSFORM_SRC_PAD(self),
                     astro_about_to_event(&config, &result, &self->summary, self->kinds));
  tell(self, &result);
  astro_tpacf_clear(&result);
  return TRUE;
}

/* Text is made from a separate table, and the buffer is cut to its length. */
static gboolean fill(AstroTpacf *self, const GstMapInfo *in, GstMapInfo *out, GError **error)
{
  g_autofree double *apart = self->to_csv ? g_try_new(double, table_values(self)) : NULL;
  double *table = self->to_csv ? apart : (gpointer)out->data;
  if (!make_table(self, in, table, error))
    return FALSE;
  if (self->to_csv)
    out->size = astro_table_write_csv(self->columns, table, n_values(self), (char *)out->data);
  return TRUE;
}

/* GStreamer's own allocator would abort the program when out of memory. */
static GstFlowReturn astro_tpacf_prepare_output_buffer(GstBaseTransform *base, GstBuffer *in,
                                                       GstBuffer **out)
{
  AstroTpacf *self = ASTRO_TPACF(base);
  GstBaseTransformClass *parent = GST_BASE_TRANSFORM_CLASS(astro_tpacf_parent_class);
  GError *error = NULL;
  if (gst_base_transform_is_passthrough(base))
    return parent->prepare_output_buffer(base, in, out);
  if (check_summary(self, gst_buffer_get_size(in), &error)) {
    *out = astro_buffer_new(self->to_csv ? astro_table_csv_bytes(self->columns, n_values(self))
                                         : table_values(self) * sizeof(double),
                            NULL);
    if (*out)
      return parent->copy_metadata(base, in, *out) ? GST_FLOW_OK : GST_FLOW_ERROR;
    astro_tpacf_no_memory(&error, n_bins(self), n_regions(self));
  }
  fail(self, error);
  return GST_FLOW_ERROR;
}

static GstFlowReturn astro_tpacf_transform(GstBaseTransform *base, GstBuffer *in, GstBuffer *out)
{
  AstroTpacf *self = ASTRO_TPACF(base);
  GError *error = NULL;
  GstMapInfo from, to;
  if (!gst_buffer_map(in, &from, GST_MAP_READ))
    return GST_FLOW_ERROR;
  if (!gst_buffer_map(out, &to, GST_MAP_WRITE)) {
    gst_buffer_unmap(in, &from);
    return GST_FLOW_ERROR;
  }
  gboolean good = fill(self, &from, &to, &error);
  gsize bytes = to.size;
  gst_buffer_unmap(out, &to);
  gst_buffer_unmap(in, &from);
  gst_buffer_set_size(out, (gssize)bytes);
  if (!good)
    fail(self, error);
  return good ? GST_FLOW_OK : GST_FLOW_ERROR;
}

static gboolean astro_tpacf_stop(GstBaseTransform *base)
{
  AstroTpacf *self = ASTRO_TPACF(base);
  astro_summary_clear(&self->summary);
  self->has_summary = FALSE;
  g_clear_pointer(&self->kinds, g_strfreev);
  g_clear_pointer(&self->columns, g_free);
  return TRUE;
}

/* ---- properties ---- */

static void astro_tpacf_init(AstroTpacf *self)
{
  astro_fields_set_defaults(self);
}

static void astro_tpacf_class_init(AstroTpacfClass *klass)
{
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  GstBaseTransformClass *base = GST_BASE_TRANSFORM_CLASS(klass);
  astro_fields_install(G_OBJECT_CLASS(klass), fields, G_STRUCT_OFFSET(AstroTpacf, settings));
  base->transform_caps = astro_stage_transform_any;
  base->fixate_caps = astro_tpacf_fixate_caps;
  base->set_caps = astro_tpacf_set_caps;
  base->sink_event = astro_tpacf_sink_event;
  base->submit_input_buffer = astro_transform_submit;
  base->prepare_output_buffer = astro_tpacf_prepare_output_buffer;
  base->transform = astro_tpacf_transform;
  base->stop = astro_tpacf_stop;
  g_autoptr(GstCaps) sink =
      gst_caps_new_empty_simple(astro_quantity_media_type(ASTRO_QUANTITY_HISTOGRAM));
  g_autoptr(GstCaps) src =
      gst_caps_new_empty_simple(astro_quantity_media_type(ASTRO_QUANTITY_CORRELATION_FUNCTION));
  gst_caps_append(src, gst_caps_new_empty_simple(CSV));
  gst_element_class_add_pad_template(
      element, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, sink));
  gst_element_class_add_pad_template(element,
                                     gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, src));
  astro_element_class_say_once(element);
  gst_element_class_set_static_metadata(element, "Correlation function", "Filter/Catalogue",
                                        "Estimates w(theta) or xi from counts of pairs",
                                        ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(
      element, "takes",
      "histograms U64LE F64LE: pairs:bin or pairs:region:region:bin, in "
      "space with mu or pi behind");
  gst_element_class_add_static_metadata(element, "gives",
                                        "correlation functions F64LE: column:bin; or text/csv");
}
