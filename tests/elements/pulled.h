/* Sources whose buffers a test takes one by one. */
#pragma once

#include "core/stream/stream.h"
#include "tests/elements/elements.h"

typedef struct {
  GstElement *pipeline;
  GstElement *sink;
} TestPulled;

static inline TestPulled test_pulled_run(const char *source, const char *caps)
{
  g_autofree char *line = g_strdup_printf("%s ! %s ! appsink name=sink sync=false", source, caps);
  g_autoptr(GError) error = NULL;
  TestPulled r = { .pipeline = gst_parse_launch(line, &error) };
  g_assert_no_error(error);
  r.sink = gst_bin_get_by_name(GST_BIN(r.pipeline), "sink");
  gst_element_set_state(r.pipeline, GST_STATE_PLAYING);
  return r;
}

/* NULL at the end, and where nothing comes: then the counting that follows fails. */
static inline GstBuffer *test_pull(TestPulled *r)
{
  GstSample *sample = NULL;
  g_signal_emit_by_name(r->sink, "try-pull-sample", 20 * GST_SECOND, &sample);
  if (!sample)
    return NULL;
  GstBuffer *buffer = gst_buffer_ref(gst_sample_get_buffer(sample));
  gst_sample_unref(sample);
  return buffer;
}

static inline AstroStream test_pulled_stream(TestPulled *r)
{
  g_autoptr(GstPad) pad = gst_element_get_static_pad(r->sink, "sink");
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
  AstroStream stream;
  g_assert_true(astro_stream_from_caps(&stream, caps, NULL));
  return stream;
}

/* Of a live source: so many blocks, each not before the clock says that the last of it was taken.
 */
static inline void test_pulled_live(TestPulled *r, guint blocks, GstClockTime block)
{
  g_autoptr(GstClock) clock = gst_pipeline_get_clock(GST_PIPELINE(r->pipeline));
  guint came = 0;
  GstBuffer *buffer;
  while ((buffer = test_pull(r))) {
    const GstClockTime now = gst_clock_get_time(clock) - gst_element_get_base_time(r->pipeline);
    g_assert_cmpuint(now, >=, ++came * block);
    gst_buffer_unref(buffer);
  }
  g_assert_cmpuint(came, ==, blocks);
}

/* How long the source says that it is, once its first buffer came; -1: it does not say. */
static inline void test_pulled_duration(TestPulled *r, gint64 expected)
{
  gint64 found = -1;
  gst_buffer_unref(test_pull(r));
  const gboolean ok = gst_element_query_duration(r->sink, GST_FORMAT_TIME, &found);
  g_assert_true(ok == (expected >= 0));
  g_assert_cmpint(found, ==, expected);
}

static inline void test_pulled_end(TestPulled *r)
{
  gst_element_set_state(r->pipeline, GST_STATE_NULL);
  gst_object_unref(r->sink);
  gst_object_unref(r->pipeline);
}
