/* Shared by tests of astrofitssink and astrofitssrc: a file of visibilities, how it gets into the
 * sink, and what must be in it and on the bus. */
#pragma once

#include "core/fits/fits.h"
#include "tests/core/fits/uvfits.h"
#include "tests/elements/elements.h"

#define TEST_STATIONS 3
#define TEST_CHANNELS 2
#define TEST_SAMPLES (TEST_CHANNELS * TEST_STATIONS * (TEST_STATIONS + 1) / 2 * 4)
#define TEST_DUMP (2 * GST_SECOND)
#define TEST_CAPS                                                                                  \
  "application/x-astro-visibilities,format=CF32LE,layout=channel:baseline:pol:pol,channels=2,"     \
  "baselines=6,pols=2,stations=3,rate=1/2,frequency=1.5e8,bandwidth=1e6"

typedef struct {
  char *folder, *path, *part;
  GstBus *bus;
} TestFile;

static inline void test_file_set_up(TestFile *place, gconstpointer data)
{
  place->folder = test_folder();
  place->path = g_build_filename(place->folder, "v.uvfits", NULL);
  place->part = g_strconcat(place->path, ".part", NULL);
  place->bus = gst_bus_new();
}

static inline void test_file_tear_down(TestFile *place, gconstpointer data)
{
  g_unlink(place->path);
  g_assert_false(g_file_test(place->part, G_FILE_TEST_EXISTS));
  g_assert_cmpint(g_rmdir(place->folder), ==, 0);
  g_free(place->folder);
  g_free(place->path);
  g_free(place->part);
  gst_bus_set_flushing(place->bus, TRUE); /* messages keep a reference to their elements, which keep
                                           * the bus */
  gst_object_unref(place->bus);
}

static inline GstHarness *test_new_sink(TestFile *place)
{
  g_autofree char *line = g_strdup_printf("astrofitssink name=file location=%s", place->path);
  GstHarness *h = gst_harness_new_parse(line);
  gst_element_set_bus(h->element, place->bus);
  return h;
}

static inline void test_send_observation(GstHarness *h, guint stations)
{
  g_autoptr(AstroObservation) o = test_observation(stations);
  gst_harness_push_event(h, astro_observation_to_event(o));
}

static inline GstBuffer *test_new_frame(guint index)
{
  float *data = g_new(float, 2 * TEST_SAMPLES);
  for (guint i = 0; i < 2 * TEST_SAMPLES; i++)
    data[i] = 1000 * index + i;
  GstBuffer *buffer = gst_buffer_new_wrapped(data, 2 * TEST_SAMPLES * sizeof *data);
  GST_BUFFER_PTS(buffer) = index * TEST_DUMP;
  GST_BUFFER_DURATION(buffer) = TEST_DUMP;
  return buffer;
}

static inline GstFlowReturn test_send_frame(GstHarness *h, guint index)
{
  return gst_harness_push(h, test_new_frame(index));
}

static inline GstHarness *test_begin(TestFile *place)
{
  GstHarness *h = test_new_sink(place);
  gst_harness_set_src_caps_str(h, TEST_CAPS);
  test_send_observation(h, TEST_STATIONS);
  return h;
}

/* The text of a message of an element, which must name the element. */
static inline char *test_pop(TestFile *place, GstMessageType type)
{
  GstMessage *message = gst_bus_pop_filtered(place->bus, type);
  GError *error = NULL;
  char *debug = NULL, *text;
  g_assert_nonnull(message);
  g_assert_cmpstr(GST_MESSAGE_SRC_NAME(message), ==, "file");
  if (type == GST_MESSAGE_ERROR)
    gst_message_parse_error(message, &error, &debug);
  else
    gst_message_parse_warning(message, &error, &debug);
  text = g_strdup_printf("%s %s", error->message, debug ? debug : "");
  g_test_message("%s", error->message);
  g_error_free(error);
  g_free(debug);
  gst_message_unref(message);
  return text;
}

static inline void test_expect_error(TestFile *place, const char *what)
{
  g_autofree char *text = test_pop(place, GST_MESSAGE_ERROR);
  g_assert_nonnull(strstr(text, what));
  g_assert_nonnull(strstr(text, place->path));
  g_assert_false(g_file_test(place->path, G_FILE_TEST_EXISTS));
  g_assert_false(g_file_test(place->part, G_FILE_TEST_EXISTS));
}

static inline void test_expect_no_error(TestFile *place)
{
  GstMessage *message = gst_bus_pop_filtered(place->bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
  g_assert_null(message);
}

/* Frames in the file, each the one of that index in new_frame. */
static inline void test_expect_frames(TestFile *place, const guint *indices, guint n)
{
  GError *error = NULL;
  float data[2 * TEST_SAMPLES];
  guint32 counts[TEST_SAMPLES];
  AstroFitsFrame frame = { .data = data, .counts = counts };
  gboolean end;
  AstroFitsReader *reader = astro_fits_reader_open(place->path, NULL, &error);
  g_assert_no_error(error);
  for (guint k = 0; k < n; k++) {
    g_assert_true(astro_fits_reader_read(reader, &frame, &end, &error));
    g_assert_no_error(error);
    g_assert_cmpint(ABS(frame.start_ns - (gint64)(indices[k] * TEST_DUMP)), <=, n > 1 ? 2 : 500);
    for (guint i = 0; i < 2 * TEST_SAMPLES; i++)
      g_assert_cmpfloat(data[i], ==, 1000 * indices[k] + i);
  }
  g_assert_false(astro_fits_reader_read(reader, &frame, &end, &error));
  g_assert_true(end);
  astro_fits_reader_close(reader);
}

static inline void test_write_file(TestFile *place, guint frames)
{
  GstHarness *h = test_begin(place);
  for (guint i = 0; i < frames; i++)
    test_send_frame(h, i);
  gst_harness_push_event(h, gst_event_new_eos());
  gst_harness_teardown(h);
}

static inline void test_check_launch(const char *expect, const char *file, const char *format, ...)
    G_GNUC_PRINTF(3, 4);
static inline void test_check_launch(const char *expect, const char *file, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *line = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_autofree char *found = test_launch(line);
  if (found)
    g_test_message("%s", found);
  if (!expect) {
    g_assert_cmpstr(found, ==, NULL);
    return;
  }
  g_assert_nonnull(found);
  g_assert_nonnull(strstr(found, expect));
  if (file)
    g_assert_nonnull(strstr(found, file));
}

/* An application sets up its next file while this one is read. */
static inline GstPadProbeReturn test_set_all(GstPad *pad, GstPadProbeInfo *info, gpointer unused)
{
  g_autoptr(GstElement) source = gst_pad_get_parent_element(pad);
  g_object_set(source, "location", "/another/file", "ra-column", "NOWHERE", "where", "no sense",
               NULL);
  return GST_PAD_PROBE_REMOVE;
}

static inline void test_set_all_later(GstHarness *h)
{
  g_autoptr(GstElement) source = gst_bin_get_by_name(GST_BIN(h->element), "file");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(source, "src");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, test_set_all, NULL, NULL);
}

typedef struct {
  const char *name;
  void (*test)(TestFile *, gconstpointer);
} TestFileCase;

static inline int test_files(int argc, char **argv, const TestFileCase *cases, gsize n)
{
  test_init_gstreamer(&argc, &argv);
  g_test_init(&argc, &argv, NULL);
  for (gsize i = 0; i < n; i++) {
    g_autofree char *path = g_strconcat("/astrofits/", cases[i].name, NULL);
    g_test_add(path, TestFile, NULL, test_file_set_up, cases[i].test, test_file_tear_down);
  }
  int result = g_test_run();
  gst_deinit();
  return result;
}
