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
 * Sums over pairs of points that carry a scalar or a shear (fields of astrohistogram) give means
 * of products, in columns that TreeCorr's users know: r_nom (geometric middles of bins), low, high
 * and meanr (mean separations) in arcmin, then
 *
 *  - fields=kk: xi, sigma_xi
 *  - fields=nk: kappa, sigma
 *  - fields=ng: gamT, gamX, sigma
 *  - fields=gg: xip, xim, xip_im, xim_im, sigma_xip, sigma_xim
 *
 * and weight and npairs, the sum of weights and the number of pairs of the data. Means around
 * random points, if these are there, are subtracted. Without regions sigma is what the scatter of
 * the values themselves gives the mean; with regions it is by the jackknife, and the covariance
 * follows in cov0, cov1 and so on, with fields=gg in cov_xip_xip0, cov_xip_xim0, cov_xim_xim0. In
 * bins without pairs all these are NaN. Within one catalogue xip_im is 0, since pairs have no order
 * there. There is no meanlogr.
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
#include "core/tpacf/angular-table.h"
#include "core/tpacf/csv.h"
#include "elements/astrotpacf-caps.h"
#include "elements/astrotpacf-told.h"
#include "elements/base/astrofields.h"
#include "elements/base/astroincoming.h"
#include "elements/base/astrolog.h"
#include "elements/base/astroonce.h"
#include "elements/base/astrooutgoing.h"
#include "elements/base/astrostage.h"

#include <math.h>
#include <string.h>

struct _AstroTpacf {
  GstBaseTransform parent;
  AstroTpacfSettings settings;

  AstroStream in;
  AstroSpaceTable space; /* of pairs in space; across NONE: by angle */
  AstroFieldsTable fields;
  char **kinds;  /* from the caps field pairs */
  char *columns; /* of the output */
  gboolean to_csv;
  gboolean has_summary;
  AstroSummary summary;
};

G_DEFINE_TYPE(AstroTpacf, astro_tpacf, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(astrotpacf, "astrotpacf", GST_RANK_NONE, ASTRO_TYPE_TPACF)

static const AstroField fields[] = {
  ASTRO_ENUM(AstroTpacfSettings, estimator, "estimator", "Estimator",
             "How w(theta) is estimated from the pairs, from the next histogram on",
             astro_estimator_get_type, ASTRO_ESTIMATOR_LANDY_SZALAY, .when = ASTRO_WHEN_PLAYING),
  ASTRO_ENUM(AstroTpacfSettings, statistic, "statistic", "Statistic",
             "What is made of pairs in space: xi in every bin, or sums of it",
             astro_statistic_get_type, ASTRO_STATISTIC_AUTO),
  ASTRO_UINT(AstroTpacfSettings, wedges, "wedges", "Wedges",
             "Even ranges of mu for statistic=wedges, each of whole bins of mu", 1, 1024, 2),
  ASTRO_BOOLEAN(
      AstroTpacfSettings, integral_constraint, "integral-constraint", "Integral constraint",
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

/* As they are now, since they may be set at any time. */
static AstroTpacfSettings settings_of(AstroTpacf *self)
{
  AstroTpacfSettings settings;
  astro_fields_copy(fields, self, &settings, &self->settings, sizeof settings);
  return settings;
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

static AstroAngularTable angular_table(const AstroTpacf *self)
{
  return (AstroAngularTable){ n_bins(self), n_regions(self), n_kinds(self) };
}

static guint n_values(const AstroTpacf *self)
{
  return self->space.across == ASTRO_AXIS_NONE ? n_bins(self)
                                               : astro_space_table_rows(&self->space);
}

static gsize table_values(const AstroTpacf *self)
{
  if (self->fields.fields != ASTRO_PAIR_FIELDS_NONE)
    return astro_fields_table_values(&self->fields);
  const AstroAngularTable table = angular_table(self);
  return self->space.across != ASTRO_AXIS_NONE ? astro_space_table_values(&self->space)
                                               : astro_angular_table_values(&table);
}

/* ---- caps ---- */

static GstCaps *astro_tpacf_fixate_caps(GstBaseTransform *base, GstPadDirection direction,
                                        GstCaps *caps, GstCaps *othercaps)
{
  if (direction != GST_PAD_SINK || astro_stage_is_unlinked(base, othercaps))
    return gst_caps_fixate(othercaps);
  const AstroTpacfSettings settings = settings_of(ASTRO_TPACF(base));
  g_autoptr(GstCaps) wanted = astro_tpacf_caps(&settings, caps);
  GstCaps *possible = gst_caps_intersect_full(wanted, othercaps, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref(othercaps);
  return gst_caps_fixate(possible);
}

static gboolean astro_tpacf_set_caps(GstBaseTransform *base, GstCaps *in, GstCaps *out)
{
  AstroTpacf *self = ASTRO_TPACF(base);
  GError *error = NULL;
  const AstroTpacfSettings settings = settings_of(self);
  const char *kinds = gst_structure_get_string(gst_caps_get_structure(in, 0), "pairs");
  astro_log_caps(self, in, out);
  gst_base_transform_set_passthrough(base, astro_stage_is_unlinked(base, out));
  if (gst_base_transform_is_passthrough(base))
    return TRUE;
  if (!astro_stream_from_caps(&self->in, in, &error))
    return fail(self, error);
  gboolean is_sums = self->in.format == ASTRO_FORMAT_F64LE;
  self->space = astro_tpacf_space(&settings, in);
  self->fields = astro_tpacf_fields(in);
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
  self->columns = astro_tpacf_columns(&settings, in);
  self->to_csv = gst_structure_has_name(gst_caps_get_structure(out, 0), ASTRO_TPACF_CSV);
  return TRUE;
}

/* ---- events ---- */

static gboolean caps_event(GstBaseTransform *base, GstEvent *event)
{
  GstCaps *caps;
  GError *error = NULL;
  const AstroTpacfSettings settings = settings_of(ASTRO_TPACF(base));
  gst_event_parse_caps(event, &caps);
  if (!astro_tpacf_check_caps(&settings, caps, &error)) {
    gst_event_unref(event);
    return fail(ASTRO_TPACF(base), error);
  }
  g_autoptr(GstCaps) made = astro_tpacf_caps(&settings, caps);
  if (GST_BASE_TRANSFORM_CLASS(astro_tpacf_parent_class)->sink_event(base, event))
    return TRUE;
  astro_refused_caps(GST_BASE_TRANSFORM_SRC_PAD(base), made, "correlation functions");
  return FALSE;
}

static gboolean astro_tpacf_sink_event(GstBaseTransform *base, GstEvent *event)
{
  AstroTpacf *self = ASTRO_TPACF(base);
  GError *error = NULL;
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

static AstroTpacfConfig config_of(AstroTpacf *self, const double *values)
{
  const AstroTpacfSettings settings = settings_of(self);
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

static void send_about(AstroTpacf *self, const AstroTpacfConfig *config,
                       const AstroTpacfResult *result)
{
  gst_pad_push_event(GST_BASE_TRANSFORM_SRC_PAD(self),
                     astro_about_to_event(config, result, &self->summary, self->kinds));
  astro_tpacf_tell(GST_ELEMENT(self), result);
}

static gboolean make_fields_table(AstroTpacf *self, const double *values, double *table,
                                  GError **error)
{
  const AstroSummary *s = &self->summary;
  const AstroTpacfConfig config = { .fields = self->fields.fields, .n_regions = n_regions(self) };
  if (!s->counts)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "sums of fields came without the numbers of pairs, in an event %s",
                               ASTRO_SUMMARY_EVENT);
  const AstroFieldsSums sums = { s->edges, values, s->pairs, g_bytes_get_data(s->counts, NULL) };
  AstroTpacfResult result;
  if (!astro_fields_table_write(&self->fields, &sums, &result, table, error))
    return FALSE;
  send_about(self, &config, &result);
  return TRUE;
}

static gboolean make_table(AstroTpacf *self, const GstMapInfo *in, double *table, GError **error)
{
  AstroTpacfResult result;
  g_autofree double *values = counts_as_doubles(self, in);
  if (!values || !table)
    return astro_tpacf_no_memory(error, n_bins(self), n_regions(self));
  if (self->fields.fields != ASTRO_PAIR_FIELDS_NONE)
    return make_fields_table(self, values, table, error);
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
  const AstroAngularTable angular = angular_table(self);
  if (space->across != ASTRO_AXIS_NONE)
    astro_space_table_write(space, self->summary.edges, self->summary.most_across, &result, values,
                            table);
  else
    astro_angular_table_write(&angular, self->summary.edges, &result, values, table);
  send_about(self, &config, &result);
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
  gst_caps_append(src, gst_caps_new_empty_simple(ASTRO_TPACF_CSV));
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
