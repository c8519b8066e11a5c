/* An element with several inputs, which a test feeds with one thread a pad, and its output. */
#pragma once

#include "core/stream/observation.h"
#include "core/stream/validity.h"
#include "tests/elements/elements.h"

#define TEST_MERGE_PADS 64

typedef struct {
  GstElement *element;
  GstBus *bus;
  GstClock *clock;
  GstPad *in[TEST_MERGE_PADS]; /* linked to sink_0 and so on */
  guint n;
  GstPad *out;
  gboolean is_live;
  GstClockTime latency; /* latency of a live source */
  GMutex lock;
  GCond cond;
  GQueue buffers; /* that came out */
  guint came;
  gboolean is_over;
} TestMerge;

static inline GstFlowReturn test_merge_chain(GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  TestMerge *m = gst_pad_get_element_private(pad);
  g_mutex_lock(&m->lock);
  g_queue_push_tail(&m->buffers, buffer);
  m->came++;
  g_cond_broadcast(&m->cond);
  g_mutex_unlock(&m->lock);
  return GST_FLOW_OK;
}

static inline gboolean test_merge_event(GstPad *pad, GstObject *parent, GstEvent *event)
{
  TestMerge *m = gst_pad_get_element_private(pad);
  g_mutex_lock(&m->lock);
  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS)
    m->is_over = TRUE;
  g_cond_broadcast(&m->cond);
  g_mutex_unlock(&m->lock);
  gst_event_unref(event);
  return TRUE;
}

static inline gboolean test_merge_query(GstPad *pad, GstObject *parent, GstQuery *query)
{
  const TestMerge *m = gst_pad_get_element_private(pad);
  if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY)
    return gst_pad_query_default(pad, parent, query);
  gst_query_set_latency(query, m->is_live, m->latency, GST_CLOCK_TIME_NONE);
  return TRUE;
}

/* A pad without a template would only accept the first caps. */
static inline gboolean test_merge_accept(GstPad *pad, GstObject *parent, GstQuery *query)
{
  if (GST_QUERY_TYPE(query) != GST_QUERY_ACCEPT_CAPS)
    return gst_pad_query_default(pad, parent, query);
  gst_query_set_accept_caps_result(query, TRUE);
  return TRUE;
}

static inline TestMerge *test_merge_new(const char *line, guint n, gboolean is_live)
{
  TestMerge *m = g_new0(TestMerge, 1);
  g_autoptr(GError) error = NULL;
  m->element = gst_parse_launch(line, &error);
  g_assert_no_error(error);
  gst_object_ref_sink(m->element);
  m->bus = gst_bus_new();
  gst_element_set_bus(m->element, m->bus);
  m->clock = is_live ? gst_test_clock_new() : gst_system_clock_obtain();
  gst_element_set_clock(m->element, m->clock);
  gst_element_set_base_time(m->element, 0);
  m->n = n;
  m->is_live = is_live;
  g_mutex_init(&m->lock);
  g_cond_init(&m->cond);
  g_queue_init(&m->buffers);
  m->out = gst_pad_new("out", GST_PAD_SINK);
  gst_pad_set_element_private(m->out, m);
  gst_pad_set_chain_function(m->out, test_merge_chain);
  gst_pad_set_event_function(m->out, test_merge_event);
  gst_pad_set_query_function(m->out, test_merge_accept);
  g_autoptr(GstPad) src = gst_element_get_static_pad(m->element, "src");
  g_assert_true(gst_pad_link(src, m->out) == GST_PAD_LINK_OK);
  gst_pad_set_active(m->out, TRUE);
  for (guint i = 0; i < n; i++) {
    g_autofree char *name = g_strdup_printf("sink_%u", i);
    g_autoptr(GstPad) sink = gst_element_request_pad_simple(m->element, name);
    m->in[i] = gst_pad_new(NULL, GST_PAD_SRC);
    gst_pad_set_element_private(m->in[i], m);
    gst_pad_set_query_function(m->in[i], test_merge_query);
    g_assert_true(gst_pad_link(m->in[i], sink) == GST_PAD_LINK_OK);
    gst_pad_set_active(m->in[i], TRUE);
  }
  return m;
}

static inline void test_merge_free(TestMerge *m)
{
  for (guint i = 0; i < m->n; i++) {
    gst_pad_set_active(m->in[i], FALSE);
    g_autoptr(GstPad) sink = gst_pad_get_peer(m->in[i]);
    if (sink)
      gst_pad_unlink(m->in[i], sink);
    gst_object_unref(m->in[i]);
  }
  gst_element_set_state(m->element, GST_STATE_NULL);
  gst_element_set_bus(m->element, NULL);
  gst_pad_set_active(m->out, FALSE);
  gst_object_unref(m->out);
  gst_object_unref(m->element);
  gst_object_unref(m->bus);
  gst_object_unref(m->clock);
  g_queue_clear_full(&m->buffers, (GDestroyNotify)gst_buffer_unref);
  g_mutex_clear(&m->lock);
  g_cond_clear(&m->cond);
  g_free(m);
}

/* Sends the events that come before the first buffer of a pad. observation may be NULL. */
static inline void test_merge_begin(TestMerge *m, guint pad, const char *caps,
                                    const AstroObservation *observation)
{
  g_autofree char *id = g_strdup_printf("stream-%u", pad);
  g_autoptr(GstCaps) fixed = gst_caps_from_string(caps);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_pad_push_event(m->in[pad], gst_event_new_stream_start(id));
  gst_pad_push_event(m->in[pad], gst_event_new_caps(fixed));
  gst_pad_push_event(m->in[pad], gst_event_new_segment(&segment));
  if (observation)
    gst_pad_push_event(m->in[pad], astro_observation_to_event(observation));
}

/* Waits until that many buffers have come in all. */
static inline void test_merge_wait(TestMerge *m, guint came)
{
  const gint64 end = g_get_monotonic_time() + (gint64)(TEST_PATIENCE / GST_USECOND);
  g_mutex_lock(&m->lock);
  while (m->came < came)
    g_assert_true(g_cond_wait_until(&m->cond, &m->lock, end));
  g_mutex_unlock(&m->lock);
}

static inline void test_merge_wait_over(TestMerge *m)
{
  const gint64 end = g_get_monotonic_time() + (gint64)(TEST_PATIENCE / GST_USECOND);
  g_mutex_lock(&m->lock);
  while (!m->is_over)
    g_assert_true(g_cond_wait_until(&m->cond, &m->lock, end));
  g_mutex_unlock(&m->lock);
}

/* The next buffer that came, after some patience. */
static inline GstBuffer *test_merge_pull(TestMerge *m)
{
  const gint64 end = g_get_monotonic_time() + (gint64)(TEST_PATIENCE / GST_USECOND);
  g_mutex_lock(&m->lock);
  while (!m->buffers.length)
    g_assert_true(g_cond_wait_until(&m->cond, &m->lock, end));
  GstBuffer *buffer = g_queue_pop_head(&m->buffers);
  g_mutex_unlock(&m->lock);
  return buffer;
}
