/* The overhead of a graph over its stages: the chain from repeated voltages to visibilities, 64
 * stations with two polarisations, alternating with each of its stages alone on the same blocks. */
#include <stdlib.h>

#include "tests/bench/bench.h"
#include "tests/bench/play.h"

enum {
  PREPARED = 4, /* blocks that the source makes; clocks start after them */
  ROUNDS = 5,
  SAMPLES = 1 << 18, /* for each input, at 1 MHz */
  PER_DUMP = 1 << 16,
};
#define SOURCE                                                                                     \
  "astroskysrc stations=64 frequency=150e6 bandwidth=1e6 duration=%g repeat=%u name=source"        \
  " ! application/x-astro-voltages,format=CI8,pols=2"
/* Keeps no last sample, which would hold 68 MB with 1024 channels; stages alone keep none either.
 */
#define SINK "fakesink name=sink sync=false enable-last-sample=false"

enum { DELAY, CHANNELIZER, TRANSPOSE, CORRELATOR, STAGES };

static char *stage_text(guint stage, guint channels)
{
  switch (stage) {
  case CHANNELIZER:
    return g_strdup_printf("astrochannelizer channels=%u"
                           " ! capsfilter caps=application/x-astro-spectra,format=CI8",
                           channels);
  case CORRELATOR:
    return g_strdup_printf("astrocorrelator integration=%u", PER_DUMP / channels);
  case TRANSPOSE: /* the order that the correlator asks for, which is not there with the stage alone
                   */
    return g_strdup(
        "astrotranspose"
        " ! capsfilter caps=application/x-astro-spectra,layout=(string)channel:time:station:pol");
  default:
    return g_strdup("astrodelay");
  }
}

/* The chain up to `end`, without it. */
static GstElement *chain_new(guint end, guint channels)
{
  GString *text = g_string_new(NULL);
  g_string_printf(text, SOURCE, SAMPLES * 1e-6, PREPARED);
  for (guint i = 0; i < end; i++) {
    g_autofree char *stage = stage_text(i, channels);
    g_string_append_printf(text, " ! %s", stage);
  }
  g_string_append(text, " ! " SINK);
  GstElement *pipeline = bench_parse(text->str);
  g_string_free(text, TRUE);
  return pipeline;
}

/* A clock that starts with the first block that reaches beyond a moment of the stream. When the
 * source sends the block of that moment, a delay sends one that begins before it, which is work of
 * the graph. */
typedef struct {
  GstClockTime from;
  gint64 start, end;
} Clock;

static void clock_see(Clock *clock, GstBuffer *buffer)
{
  if (!clock->start && GST_BUFFER_PTS(buffer) + GST_BUFFER_DURATION(buffer) > clock->from)
    clock->start = g_get_monotonic_time();
}

static GstPadProbeReturn see_source(GstPad *pad, GstPadProbeInfo *info, gpointer clock)
{
  clock_see(clock, GST_PAD_PROBE_INFO_BUFFER(info));
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn see_end(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Clock *clock = data;
  if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_EOS)
    clock->end = g_get_monotonic_time();
  return GST_PAD_PROBE_OK;
}

static double graph_seconds(guint channels, GstClockTime from)
{
  Clock clock = { .from = from };
  GstElement *pipeline = chain_new(STAGES, channels);
  bench_probe(pipeline, "source", "src", GST_PAD_PROBE_TYPE_BUFFER, see_source, &clock);
  bench_probe(pipeline, "sink", "sink", GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, see_end, &clock);
  bench_play(pipeline);
  bench_stop(pipeline);
  return (clock.end - clock.start) * 1e-6;
}

/* Keeps the events and blocks that arrive at a stage, in order. */
static GstPadProbeReturn keep(GstPad *pad, GstPadProbeInfo *info, gpointer stream)
{
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER)
    g_ptr_array_add(stream, gst_buffer_copy_deep(GST_PAD_PROBE_INFO_BUFFER(info)));
  else
    g_ptr_array_add(stream, gst_event_ref(GST_PAD_PROBE_INFO_EVENT(info)));
  return GST_PAD_PROBE_OK;
}

static GPtrArray *stream_before(guint stage, guint channels)
{
  GPtrArray *stream = g_ptr_array_new_with_free_func((GDestroyNotify)gst_mini_object_unref);
  GstElement *pipeline = chain_new(stage, channels);
  bench_probe(pipeline, "sink", "sink",
              GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, keep, stream);
  bench_play(pipeline);
  bench_stop(pipeline);
  return stream;
}

static GstFlowReturn drop(GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  gst_buffer_unref(buffer);
  return GST_FLOW_OK;
}

static double stage_seconds(guint stage, guint channels, GstClockTime from, GPtrArray *stream)
{
  Clock clock = { .from = from };
  g_autofree char *text = stage_text(stage, channels);
  g_autoptr(GError) error = NULL;
  g_autoptr(GstElement) bin = gst_parse_bin_from_description(text, TRUE, &error);
  if (error)
    g_error("%s: %s", text, error->message);
  g_autoptr(GstPad) src = gst_pad_new("src", GST_PAD_SRC);
  g_autoptr(GstPad) sink = gst_pad_new("sink", GST_PAD_SINK);
  gst_object_ref_sink(bin);
  gst_object_ref_sink(src);
  gst_object_ref_sink(sink);
  gst_pad_set_chain_function(sink, drop);
  g_autoptr(GstPad) in = gst_element_get_static_pad(bin, "sink");
  g_autoptr(GstPad) out = gst_element_get_static_pad(bin, "src");
  gst_pad_set_active(src, TRUE);
  gst_pad_set_active(sink, TRUE);
  gst_pad_link(src, in);
  gst_pad_link(out, sink);
  gst_element_set_state(bin, GST_STATE_PLAYING);
  for (guint i = 0; i < stream->len; i++) {
    GstMiniObject *object = g_ptr_array_index(stream, i);
    if (GST_IS_EVENT(object)) {
      gst_pad_push_event(src, gst_event_ref(GST_EVENT(object)));
      continue;
    }
    clock_see(&clock, GST_BUFFER(object));
    if (gst_pad_push(src, gst_buffer_ref(GST_BUFFER(object))) != GST_FLOW_OK)
      g_error("%s takes no block", text);
  }
  clock.end = g_get_monotonic_time();
  gst_element_set_state(bin, GST_STATE_NULL);
  return (clock.end - clock.start) * 1e-6;
}

static double median(double *values, guint n)
{
  qsort(values, n, sizeof *values, bench_compare);
  return values[n / 2];
}

static void row(guint channels)
{
  GPtrArray *streams[STAGES];
  double ratios[ROUNDS], graphs[ROUNDS], alone[STAGES][ROUNDS];
  for (guint s = 0; s < STAGES; s++)
    streams[s] = stream_before(s, channels);
  GstClockTime from = SAMPLES / 2 * (GstClockTime)1000;
  for (guint r = 0; r < ROUNDS; r++) {
    double sum = 0;
    graphs[r] = graph_seconds(channels, from);
    for (guint s = 0; s < STAGES; s++)
      sum += alone[s][r] = stage_seconds(s, channels, from, streams[s]);
    ratios[r] = graphs[r] / sum;
  }
  printf("%8u %10.4f", channels, median(graphs, ROUNDS));
  for (guint s = 0; s < STAGES; s++) {
    printf(" %10.4f", median(alone[s], ROUNDS));
    g_ptr_array_unref(streams[s]);
  }
  double ratio = median(ratios, ROUNDS);
  printf(" %8.3f  (at most 1.10)%s\n", ratio, ratio > 1.1 ? "  LONG" : "");
}

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  printf("\nThe whole graph beside its stages alone, 64 x 2, CI8, seconds\n"
         "%8s %10s %10s %10s %10s %10s %8s\n",
         "channels", "graph", "delay", "channels", "transpose", "correlator", "ratio");
  for (guint channels = 64; channels <= 1024; channels *= 4)
    row(channels);
  return 0;
}
