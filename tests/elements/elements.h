/* Shared by tests of elements: buffers with a pattern, and the output of a pipeline. */
#pragma once

#include <gst/check/gstharness.h>
#include "tests/tests.h"

static inline GstBuffer *test_buffer(gsize bytes, guint32 seed)
{
  guint8 *data = g_malloc(MAX(bytes, 1));
  test_fill(data, bytes, seed);
  return gst_buffer_new_wrapped(data, bytes);
}

/* A harness around a stage on the CPU, which gives each block at once: a device stage holds some
 * back, and auto takes a GPU if the machine has one. */
static inline GstHarness *test_harness(const char *factory)
{
  GstHarness *h = gst_harness_new(factory);
  gst_util_set_object_arg(G_OBJECT(h->element), "backend", "cpu");
  return h;
}

/* Whether the element has posted a new latency since this was asked last. */
static inline gboolean test_tells_latency(GstBus *bus)
{
  gboolean told = FALSE;
  GstMessage *message;
  while ((message = gst_bus_pop_filtered(bus, GST_MESSAGE_LATENCY))) {
    told = TRUE;
    gst_message_unref(message);
  }
  return told;
}

/* All bytes that a harness's sink got so far. */
static inline GByteArray *test_pull_all(GstHarness *h)
{
  GByteArray *bytes = g_byte_array_new();
  GstBuffer *buffer;
  while ((buffer = gst_harness_try_pull(h))) {
    GstMapInfo map;
    g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
    g_byte_array_append(bytes, map.data, (guint)map.size);
    gst_buffer_unmap(buffer, &map);
    gst_buffer_unref(buffer);
  }
  return bytes;
}

/* Runs a gst-launch line to its end. NULL: it ended well; else the message of the first error. */
static inline char *test_launch(const char *line)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch(line, &error);
  char *found = NULL;

  if (error) {
    found = g_strdup(error->message);
    g_error_free(error);
    gst_clear_object(&pipeline);
    return found;
  }
  GstBus *bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstMessage *message =
      gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  if (!message) {
    found = g_strdup("timed out");
  } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    char *debug;
    gst_message_parse_error(message, &error, &debug);
    found = g_strdup_printf("%s: %s %s", GST_MESSAGE_SRC_NAME(message), error->message,
                            debug ? debug : "");
    g_error_free(error);
    g_free(debug);
  }
  g_clear_pointer(&message, gst_message_unref);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(bus);
  gst_object_unref(pipeline);
  return found;
}

/* Checks that the line ends with an error of that element which has these words. */
static inline void test_refused_by(const char *line, const char *element, const char *says)
{
  g_autofree char *message = test_launch(line);
  g_test_message("%s", message);
  if (!message || !strstr(message, element) || !strstr(message, says))
    g_error("%s\nsays \"%s\", not \"%s\" of %s", line, message ? message : "nothing", says,
            *element ? element : "any element");
}

static inline void test_refused(const char *line, const char *says)
{
  test_refused_by(line, "", says);
}
