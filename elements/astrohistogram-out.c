/* Histograms that astrohistogram sends. */
#include "config.h"
#include "elements/astrohistogram-parts.h"

#include "core/stream/histogram-summary.h"
#include "core/stream/stream.h"
#include "elements/base/astrolog.h"
#include "elements/base/astrooutgoing.h"
#include "elements/base/astrostage.h"

/* "pairs:region:region:bin:mu", with those axes that there are. */
static void set_layout(const AstroHistogramConfig *config, GstCaps *caps)
{
  static const char *const columns[] = { [ASTRO_BINNING_SMU] = "mu", [ASTRO_BINNING_RPPI] = "pi" };
  const gboolean in_space = config->kind != ASTRO_BINNING_ANGULAR;
  const char *column = in_space ? columns[config->kind] : "";
  g_autofree char *layout = g_strconcat("pairs:", config->n_regions > 1 ? "region:region:" : "",
                                        "bin", in_space ? ":" : "", column, NULL);
  gst_caps_set_simple(caps, "layout", G_TYPE_STRING, layout, "bins", G_TYPE_INT,
                      (gint)config->n_edges - 1, NULL);
  if (config->n_regions > 1)
    gst_caps_set_simple(caps, "regions", G_TYPE_INT, (gint)config->n_regions, NULL);
  if (in_space) {
    g_autofree char *field = g_strconcat(column, "-bins", NULL);
    gst_caps_set_simple(caps, field, G_TYPE_INT, (gint)config->n_columns, NULL);
  }
}

static gboolean set_caps(AstroHistogram *self)
{
  gboolean weighted = astro_collector_is_weighted(self->collector);
  g_autofree char *kinds = astro_collector_kinds(self->collector);
  g_autoptr(GstCaps) caps = gst_caps_new_simple(
      astro_quantity_media_type(ASTRO_QUANTITY_HISTOGRAM), "format", G_TYPE_STRING,
      weighted ? "F64LE" : "U64LE", "pairs", G_TYPE_STRING, kinds, NULL);
  set_layout(&self->config, caps);
  gst_aggregator_set_src_caps(GST_AGGREGATOR(self), caps);
  astro_log_caps(self, NULL, caps);
  return TRUE;
}

GstFlowReturn astro_histogram_push(AstroHistogram *self)
{
  AstroSummary summary;
  gsize bytes;
  if (!self->announced)
    self->announced = set_caps(self);
  GST_OBJECT_LOCK(self);
  self->pairs = astro_collector_n_pairs(self->collector);
  GST_OBJECT_UNLOCK(self);
  astro_collector_summary(self->collector, &summary);
  gst_pad_push_event(GST_AGGREGATOR_SRC_PAD(self), astro_summary_to_event(&summary));
  astro_summary_clear(&summary);
  gconstpointer values = astro_collector_values(self->collector, &bytes);
  GstBuffer *buffer = gst_buffer_new_memdup(values, bytes);
  GST_BUFFER_OFFSET(buffer) = self->n_random;
  GST_BUFFER_PTS(buffer) = self->n_random * GST_SECOND;
  GstFlowReturn flow = gst_aggregator_finish_buffer(GST_AGGREGATOR(self), buffer);
  if (flow == GST_FLOW_NOT_NEGOTIATED) {
    g_autoptr(GstCaps) made = gst_pad_get_current_caps(GST_AGGREGATOR_SRC_PAD(self));
    astro_refused_caps(GST_AGGREGATOR_SRC_PAD(self), made, "histograms");
  }
  return flow;
}

GstFlowReturn astro_histogram_settle(AstroHistogram *self)
{
  GError *error = NULL;
  return astro_collector_is_complete(self->collector, &error) &&
                 astro_collector_finish(self->collector, &error)
             ? GST_FLOW_OK
             : astro_histogram_fail(self, error);
}

static GstFlowReturn push_last(AstroHistogram *self)
{
  gboolean is_sent = self->interval && self->n_random > 0 && self->n_random % self->interval == 0;
  GstFlowReturn flow = is_sent ? GST_FLOW_OK : astro_histogram_push(self);
  if (astro_flow_is_lost(flow)) /* sources have ended and would not notice */
    GST_ELEMENT_FLOW_ERROR(self, flow);
  return flow == GST_FLOW_OK ? GST_FLOW_EOS : flow;
}

GstFlowReturn astro_histogram_finish(AstroHistogram *self)
{
  GstFlowReturn flow = astro_histogram_settle(self);
  if (flow != GST_FLOW_OK)
    return flow;
  astro_count_progress_end(&self->progress, GST_PROGRESS_TYPE_COMPLETE, "all pairs are counted");
  return push_last(self);
}

/* An unfinished count is no histogram, but counts with fewer random catalogues are one. */
GstFlowReturn astro_histogram_finish_interrupted(AstroHistogram *self)
{
  astro_count_progress_end(&self->progress, GST_PROGRESS_TYPE_CANCELED, "interrupted");
  self->n_random = self->collector ? astro_collector_n_random(self->collector) : 0;
  if (self->n_random == 0) {
    GST_ELEMENT_ERROR(self, STREAM, FAILED,
                      ("interrupted before all pairs were counted: no histogram was made"), (NULL));
    return GST_FLOW_ERROR;
  }
  GST_ELEMENT_WARNING(self, STREAM, FAILED,
                      ("interrupted: the histogram includes only the %" G_GUINT64_FORMAT
                       " random catalogues counted before",
                       self->n_random),
                      (NULL));
  return push_last(self);
}
