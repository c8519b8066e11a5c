/* Shared by tests of catalogue elements: pipelines that end in an appsink. */
#pragma once

#include "tests/elements/elements.h"

/* The samples that reach an appsink named out; *message is the first error, or NULL. */
static inline GPtrArray *test_samples(const char *line, char **message)
{
  GPtrArray *samples = g_ptr_array_new_with_free_func((GDestroyNotify)gst_sample_unref);
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch(line, &error);
  g_assert_no_error(error);
  GstElement *out = gst_bin_get_by_name(GST_BIN(pipeline), "out");
  g_object_set(out, "sync", FALSE, NULL);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  for (;;) {
    GstSample *sample = NULL;
    g_signal_emit_by_name(out, "try-pull-sample", TEST_PATIENCE, &sample);
    if (!sample)
      break;
    g_ptr_array_add(samples, sample);
  }
  GstBus *bus = gst_element_get_bus(pipeline);
  GstMessage *found = gst_bus_timed_pop_filtered(bus, 0, GST_MESSAGE_ERROR);
  *message = NULL;
  if (found) {
    gst_message_parse_error(found, &error, NULL);
    *message = g_strdup(error->message);
    g_error_free(error);
    gst_message_unref(found);
  }
  gst_object_unref(bus);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(out);
  gst_object_unref(pipeline);
  return samples;
}

static inline const GstStructure *test_sample_caps(GPtrArray *samples, guint i)
{
  return gst_caps_get_structure(gst_sample_get_caps(samples->pdata[i]), 0);
}

/* A sample's bytes, to be freed. */
static inline gpointer test_sample_data(GPtrArray *samples, guint i, gsize *bytes)
{
  GstMapInfo map;
  GstBuffer *buffer = gst_sample_get_buffer(samples->pdata[i]);
  g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
  gpointer data = g_memdup2(map.data, MAX(map.size, 1));
  *bytes = map.size;
  gst_buffer_unmap(buffer, &map);
  return data;
}
