/* Pipelines that tests start, examine and end, with all their output kept. */
#pragma once

#include "core/memory/memory.h"
#include "tests/device.h"
#include "tests/elements/elements.h"

static inline void test_append(GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer bytes)
{
  GstMapInfo map;
  g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
  g_byte_array_append(bytes, map.data, (guint)map.size);
  gst_buffer_unmap(buffer, &map);
}

/* The text with every occurrence of a word replaced. */
static inline char *test_replace(const char *text, const char *word, const char *by)
{
  g_auto(GStrv) parts = g_strsplit(text, word, -1);
  return g_strjoinv(by, parts);
}

/* Starts a line with a sink added. bytes, or NULL, gets its input. */
static inline GstElement *test_start(const char *line, GByteArray *bytes)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *whole =
      g_strconcat(line, " ! fakesink name=sink signal-handoffs=true sync=false", NULL);
  GstElement *pipeline = gst_parse_launch(whole, &error);
  g_assert_no_error(error);
  if (bytes) {
    g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
    g_signal_connect(sink, "handoff", G_CALLBACK(test_append), bytes);
  }
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  return pipeline;
}

static inline void test_stop(GstElement *pipeline)
{
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
}

/* Waits for the end. NULL: it ended well; else the error, after the name of the element. */
static inline char *test_wait(GstElement *pipeline)
{
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  g_autoptr(GstMessage) message =
      gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_autoptr(GError) error = NULL;

  g_assert_nonnull(message);
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS)
    return NULL;
  gst_message_parse_error(message, &error, NULL);
  return g_strdup_printf("%s: %s", GST_MESSAGE_SRC_NAME(message), error->message);
}

/* All output of a line, which must end well. */
static inline GByteArray *test_run_line(const char *line)
{
  GByteArray *bytes = g_byte_array_new();
  GstElement *pipeline = test_start(line, bytes);
  g_autofree char *error = test_wait(pipeline);
  g_assert_cmpstr(error, ==, NULL);
  test_stop(pipeline);
  return bytes;
}

/* Runs a line and stops it after that time, wherever it is then. */
static inline void test_stop_soon(const char *line, gulong microseconds)
{
  GstElement *pipeline = test_start(line, NULL);
  gst_element_get_state(pipeline, NULL, NULL, GST_SECOND);
  g_usleep(microseconds);
  test_stop(pipeline);
}

/* Runs a line that must end with an element's error, which has these words (NULL-terminated). */
static inline void test_fails(const char *line, const char *const *words)
{
  GstElement *pipeline = test_start(line, NULL);
  g_autofree char *message = test_wait(pipeline);
  g_test_message("%s", message);
  g_assert_nonnull(message);
  for (; *words; words++)
    g_assert_nonnull(strstr(message, *words));
  test_stop(pipeline);
}

static inline void test_skip_for(gconstpointer reason)
{
  g_test_skip(reason);
}

/* For main: without a GPU the fake device takes its place, with "cuda" backends for all stages. An
 * installed test has no fake module beside it. */
static inline void test_use_fake_device(void)
{
  const char *build = g_getenv("G_TEST_BUILDDIR");
  if (!build || g_file_test("/dev/nvidiactl", G_FILE_TEST_EXISTS))
    return;
  g_autofree char *module = g_build_filename(build, "tests/elements/.libs/fake-module.so", NULL);
  g_setenv("ASTRO_CUDA_MODULE", module, TRUE);
}

/* For add_tests. Without a device, a test of that path is skipped and says so. */
static inline gboolean test_has_device(const char *path)
{
  static GError *error = NULL;
  g_autoptr(AstroDevice) device = test_find_device(&error);
  if (!device)
    g_test_add_data_func(path, error->message, test_skip_for);
  return device != NULL;
}

/* Voltages of 12 stations with two polarisations, and all stages of the correlation chain. */
#define TEST_SKY                                                                                   \
  "astroskysrc stations=12 noise=20 frequency=1.5e8 bandwidth=1e6 block-steps=5000 "               \
  "phase-centre=246.5,38 start-time=2026-11-20T12:00:00 "
#define TEST_CHAIN(backend)                                                                        \
  "astrodelay backend=" backend " ! astrochannelizer backend=" backend                             \
  " channels=64 taps=4 ! astrotranspose name=turn backend=" backend                                \
  " ! astrocorrelator name=correlator backend=" backend " integration=500"
