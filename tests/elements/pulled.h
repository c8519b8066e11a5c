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

static inline void test_pulled_end(TestPulled *r)
{
  gst_element_set_state(r->pipeline, GST_STATE_NULL);
  gst_object_unref(r->sink);
  gst_object_unref(r->pipeline);
}
