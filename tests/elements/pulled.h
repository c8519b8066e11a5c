/* Sources whose buffers a test takes one by one. */
#pragma once

#include <gst/base/gstbasesrc.h>
#include <gst/check/gsttestclock.h>
#include "core/stream/stream.h"
#include "core/stream/validity.h"
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

/* NULL at the end, or if nothing comes: then the counting that follows fails. */
static inline GstBuffer *test_pull(TestPulled *r)
{
  GstSample *sample = NULL;
  g_signal_emit_by_name(r->sink, "try-pull-sample", TEST_PATIENCE, &sample);
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

/* Pulls that many blocks of a live source. None may come before the clock says that its last sample
 * was taken. */
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

/* The duration that the source gives once its first buffer came; -1: it gives none. */
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

/* Pulls that many blocks of a live source, with a pause among them: times are those of the samples,
 * from 0 on, the segment says when that was, and no block is lost. */
static inline void test_pulled_live_times(const char *source, const char *caps, guint blocks,
                                          GstClockTime block)
{
  TestPulled r = test_pulled_run(source, caps);
  GstSample *sample;
  guint came = 0;
  g_signal_emit_by_name(r.sink, "try-pull-sample", TEST_PATIENCE, &sample);
  g_autoptr(GstClock) clock = gst_pipeline_get_clock(GST_PIPELINE(r.pipeline));
  for (; sample; came++) {
    const GstSegment *segment = gst_sample_get_segment(sample);
    const GstClockTime pts = GST_BUFFER_PTS(gst_sample_get_buffer(sample));
    const GstClockTime now = gst_clock_get_time(clock) - gst_element_get_base_time(r.pipeline);
    g_assert_cmpuint(pts, ==, came * block);
    g_assert_cmpuint(segment->base, >, 0);
    g_assert_cmpuint(gst_segment_to_running_time(segment, GST_FORMAT_TIME, pts + block), <=, now);
    gst_sample_unref(sample);
    if (came == 1) {
      gst_element_set_state(r.pipeline, GST_STATE_PAUSED);
      g_usleep((gulong)(3 * block / GST_USECOND));
      gst_element_set_state(r.pipeline, GST_STATE_PLAYING);
    }
    g_signal_emit_by_name(r.sink, "try-pull-sample", TEST_PATIENCE, &sample);
  }
  g_assert_cmpuint(came, ==, blocks);
  test_pulled_end(&r);
}

/* Wakes a live source, as GstBaseSrc does before it gives the reason. The source does not wait
 * again until it may. */
static inline void test_wake(GstElement *source, GstTestClock *clock)
{
  gst_test_clock_wait_for_next_pending_id(clock, NULL);
  g_assert_true(GST_BASE_SRC_GET_CLASS(source)->unlock(GST_BASE_SRC(source)));
  for (guint i = 0; i < 50; i++) {
    g_usleep(500);
    g_assert_cmpuint(gst_test_clock_peek_id_count(clock), ==, 0);
  }
  g_assert_true(GST_BASE_SRC_GET_CLASS(source)->unlock_stop(GST_BASE_SRC(source)));
  gst_test_clock_wait_for_next_pending_id(clock, NULL);
}

/* A live source that is woken does not give a block before its time, even if a pause moved that;
 * later it gives the block it was waiting with. source has the name src. */
static inline void test_pulled_live_woken(const char *source)
{
  g_autofree char *line = g_strconcat(source, " ! appsink name=sink sync=false", NULL);
  TestPulled r = { .pipeline = gst_parse_launch(line, NULL) };
  r.sink = gst_bin_get_by_name(GST_BIN(r.pipeline), "sink");
  g_autoptr(GstElement) src = gst_bin_get_by_name(GST_BIN(r.pipeline), "src");
  g_autoptr(GstClock) clock = gst_test_clock_new();
  GstSample *sample = NULL;

  gst_pipeline_use_clock(GST_PIPELINE(r.pipeline), clock);
  gst_element_set_state(r.pipeline, GST_STATE_PLAYING);
  test_wake(src, GST_TEST_CLOCK(clock));
  gst_element_set_state(r.pipeline, GST_STATE_PAUSED);
  gst_test_clock_set_time(GST_TEST_CLOCK(clock), GST_MSECOND);
  gst_element_set_state(r.pipeline, GST_STATE_PLAYING);
  test_wake(src, GST_TEST_CLOCK(clock));
  g_signal_emit_by_name(r.sink, "try-pull-sample", (GstClockTime)0, &sample);
  g_assert_null(sample);
  g_assert_true(gst_test_clock_crank(GST_TEST_CLOCK(clock)));
  g_autoptr(GstBuffer) buffer = test_pull(&r);
  g_assert_nonnull(buffer);
  g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, 0);
  test_pulled_end(&r);
}

/* The block that a live source waits with is lost in a flush, and the next one is DISCONT. source
 * has the name src. */
static inline void test_pulled_live_flushed(const char *source)
{
  g_autofree char *line = g_strconcat(source, " ! appsink name=sink sync=false", NULL);
  TestPulled r = { .pipeline = gst_parse_launch(line, NULL) };
  r.sink = gst_bin_get_by_name(GST_BIN(r.pipeline), "sink");
  g_autoptr(GstElement) src = gst_bin_get_by_name(GST_BIN(r.pipeline), "src");
  g_autoptr(GstClock) clock = gst_test_clock_new();

  gst_pipeline_use_clock(GST_PIPELINE(r.pipeline), clock);
  gst_element_set_state(r.pipeline, GST_STATE_PLAYING);
  gst_test_clock_wait_for_next_pending_id(GST_TEST_CLOCK(clock), NULL);
  g_assert_true(gst_element_send_event(src, gst_event_new_flush_start()));
  g_assert_true(gst_element_send_event(src, gst_event_new_flush_stop(FALSE)));
  for (guint i = 1; i < 3; i++) {
    gst_test_clock_wait_for_next_pending_id(GST_TEST_CLOCK(clock), NULL);
    g_assert_true(gst_test_clock_crank(GST_TEST_CLOCK(clock)));
    g_autoptr(GstBuffer) buffer = test_pull(&r);
    g_assert_nonnull(buffer);
    g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, i * GST_BUFFER_OFFSET_END(buffer) / (i + 1));
    g_assert_true(!GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT) == (i > 1));
  }
  test_pulled_end(&r);
}

typedef struct {
  const char *name, *value;
} TestSetting;

static inline GstPadProbeReturn test_set_again(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  g_autoptr(GstElement) source = gst_pad_get_parent_element(pad);
  for (const TestSetting *setting = data; setting->name; setting++)
    gst_util_set_object_arg(G_OBJECT(source), setting->name, setting->value);
  gst_pad_mark_reconfigure(pad);
  return GST_PAD_PROBE_OK;
}

/* All samples and counts of a source. settings, NULL-terminated, are set with every buffer, after
 * which caps are negotiated again. */
static inline GByteArray *test_pulled_all(const char *line, TestSetting *settings)
{
  g_autofree char *named = g_strconcat(line, " name=source", NULL);
  GByteArray *all = g_byte_array_new();
  TestPulled r = test_pulled_run(named, "identity");
  g_autoptr(GstElement) source = gst_bin_get_by_name(GST_BIN(r.pipeline), "source");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(source, "src");
  GstBuffer *buffer;
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, test_set_again, settings, NULL);
  while ((buffer = test_pull(&r))) {
    const AstroValidityMeta *validity = astro_buffer_get_validity(buffer);
    GstMapInfo map;
    g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
    g_byte_array_append(all, map.data, (guint)map.size);
    gst_buffer_unmap(buffer, &map);
    if (validity)
      g_byte_array_append(all, (const guint8 *)validity->counts,
                          (guint)(astro_validity_n_counts(validity) * sizeof *validity->counts));
    gst_buffer_unref(buffer);
  }
  test_pulled_end(&r);
  return all;
}

/* Settings in mid-stream count for the next stream. */
static inline void test_pulled_as_started(const char *line, TestSetting *settings)
{
  TestSetting none[] = { { NULL, NULL } };
  g_autoptr(GByteArray) expected = test_pulled_all(line, none);
  g_autoptr(GByteArray) got = test_pulled_all(line, settings);
  g_assert_cmpuint(expected->len, >, 0);
  g_assert_cmpmem(got->data, got->len, expected->data, expected->len);
}
