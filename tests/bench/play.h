/* Runs pipelines for benchmarks. */
#pragma once

#include <gst/gst.h>

static inline GstElement *bench_parse(const char *line)
{
  g_autoptr(GError) error = NULL;
  GstElement *pipeline = gst_parse_launch(line, &error);
  if (error) /* there may be a pipeline even so, without the missing elements */
    g_error("%s: %s", line, error->message);
  return pipeline;
}

static inline void bench_probe(GstElement *pipeline, const char *element, const char *pad_name,
                               GstPadProbeType type, GstPadProbeCallback callback, gpointer data)
{
  g_autoptr(GstElement) owner = gst_bin_get_by_name(GST_BIN(pipeline), element);
  g_autoptr(GstPad) pad = gst_element_get_static_pad(owner, pad_name);
  gst_pad_add_probe(pad, type, callback, data, NULL);
}

/* Runs a pipeline to the end of its stream and returns the time then, before it is stopped. */
static inline gint64 bench_play(GstElement *pipeline)
{
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_autoptr(GstMessage) message =
      gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  const gint64 end = g_get_monotonic_time();
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    g_autoptr(GError) error = NULL;
    gst_message_parse_error(message, &error, NULL);
    g_error("%s", error->message);
  }
  return end;
}

static inline void bench_stop(GstElement *pipeline)
{
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
}
