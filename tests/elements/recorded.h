/* The stream that a gst-launch line makes, kept whole, so that a test can change it and push it
 * into an element: sticky events and buffers, in their order. */
#pragma once

#include "core/stream/stream.h"
#include "core/stream/validity.h"
#include "tests/elements/elements.h"

typedef struct {
  GPtrArray *items; /* GstEvent and GstBuffer */
  GMutex lock;
} TestRecording;

/* A deep copy with metas, since pools take their blocks back. */
static inline GstPadProbeReturn test_record_item(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  TestRecording *recording = data;
  gpointer item = NULL;

  if (GST_IS_BUFFER(GST_PAD_PROBE_INFO_DATA(info)))
    item = gst_buffer_copy_deep(GST_PAD_PROBE_INFO_BUFFER(info));
  else if (GST_EVENT_IS_SERIALIZED(GST_PAD_PROBE_INFO_EVENT(info)))
    item = gst_event_ref(GST_PAD_PROBE_INFO_EVENT(info));
  g_mutex_lock(&recording->lock);
  if (item)
    g_ptr_array_add(recording->items, item);
  g_mutex_unlock(&recording->lock);
  return GST_PAD_PROBE_OK;
}

static inline GPtrArray *test_items_new(void)
{
  return g_ptr_array_new_with_free_func((GDestroyNotify)gst_mini_object_unref);
}

static inline GPtrArray *test_record(const char *line)
{
  TestRecording recording = { .items = test_items_new() };
  g_autofree char *whole = g_strconcat(line, " ! fakesink name=sink sync=false", NULL);
  g_autoptr(GError) error = NULL;
  GstElement *pipeline = gst_parse_launch(whole, &error);
  g_assert_no_error(error);
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(sink, "sink");
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);

  g_mutex_init(&recording.lock);
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
                    test_record_item, &recording, NULL);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstMessage *message =
      gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  if (!message || GST_MESSAGE_TYPE(message) != GST_MESSAGE_EOS)
    g_error("%s: no good stream to begin with: %" GST_PTR_FORMAT, line, message);
  gst_message_unref(message);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  g_mutex_clear(&recording.lock);
  return recording.items;
}

static inline gpointer test_item_ref(gconstpointer item, gpointer unused)
{
  return gst_mini_object_ref((GstMiniObject *)item);
}

/* The same items in a new array that a test may change: it copies items before it replaces them. */
static inline GPtrArray *test_items_copy(GPtrArray *items)
{
  return g_ptr_array_copy(items, test_item_ref, NULL);
}

static inline guint test_count_buffers(GPtrArray *items)
{
  guint n = 0;
  for (guint i = 0; i < items->len; i++)
    n += GST_IS_BUFFER(items->pdata[i]) ? 1 : 0;
  return n;
}

/* Where the number'th buffer stands. */
static inline guint test_find_buffer(GPtrArray *items, guint number)
{
  for (guint i = 0; i < items->len; i++)
    if (GST_IS_BUFFER(items->pdata[i]) && number-- == 0)
      return i;
  g_error("the stream has too few buffers");
}

/* Where the first event of a type stands; -1: nowhere. */
static inline gint test_find_event(GPtrArray *items, GstEventType type)
{
  for (guint i = 0; i < items->len; i++)
    if (GST_IS_EVENT(items->pdata[i]) && GST_EVENT_TYPE(items->pdata[i]) == type)
      return (gint)i;
  return -1;
}

/* The buffer there, made writable. */
static inline GstBuffer *test_own_buffer(GPtrArray *items, guint i)
{
  GstBuffer *own = gst_buffer_copy(items->pdata[i]);
  gst_buffer_unref(items->pdata[i]);
  items->pdata[i] = own;
  return own;
}

static inline void test_replace_item(GPtrArray *items, guint i, gpointer by)
{
  gst_mini_object_unref(items->pdata[i]);
  items->pdata[i] = by;
}

static inline AstroStream test_items_stream(GPtrArray *items)
{
  AstroStream stream = { 0 };
  GstCaps *caps;
  const gint at = test_find_event(items, GST_EVENT_CAPS);
  g_assert_cmpint(at, >=, 0);
  gst_event_parse_caps(items->pdata[at], &caps);
  g_assert_true(astro_stream_from_caps(&stream, caps, NULL));
  return stream;
}

/* GStreamer itself warns about events that a test leaves out or sends out of order. Until
 * test_log_end these warnings are ignored, while all others are still fatal. */
typedef struct {
  GLogLevelFlags fatal;
  guint handler;
} TestLog;

static inline void test_log_event(const char *domain, GLogLevelFlags level, const char *message,
                                  gpointer unused)
{
  if (!strstr(message, "before segment event") && !strstr(message, "before stream-start") &&
      !strstr(message, "Sticky event misordering"))
    g_error("%s", message);
}

static inline TestLog test_log_of_events(void)
{
  return (TestLog){ .fatal = g_log_set_always_fatal(G_LOG_LEVEL_ERROR | G_LOG_LEVEL_CRITICAL),
                    .handler =
                        g_log_set_handler("GStreamer", G_LOG_LEVEL_WARNING, test_log_event, NULL) };
}

static inline void test_log_end(TestLog log)
{
  g_log_remove_handler("GStreamer", log.handler);
  g_log_set_always_fatal(log.fatal);
}
