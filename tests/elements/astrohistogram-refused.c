/* Refusals of astrohistogram: settings, catalogues, caps, a device that does not exist. */
#include "core/backend/backend.h"
#include "tests/elements/catalogues.h"

#include <glib/gstdio.h>
#include <math.h>

static void test_refusals(void)
{
  test_refused("astrocatsrc ! h.data astrohistogram name=h edges=\"1,2,inf\" ! fakesink",
               "edge 2 is inf, expected a finite number of 0 or more");
  test_refused("astrocatsrc ! h.data astrohistogram name=h edges=\"nan,2\" ! fakesink",
               "edge 0 is nan, expected a finite number");
  test_refused("astrocatsrc ! h.data astrohistogram name=h edges=\"1,1\" ! fakesink", "edges rise");
  test_refused("astrocatsrc ! h.data astrohistogram name=h edges=\"1,two\" ! fakesink",
               "found \"two\"");
  test_refused("astrocatsrc ! h.data astrohistogram name=h edges=\"5\" ! fakesink", "1 edges");
  test_refused("astrocatsrc ! h.data astrohistogram name=h edges=\"1,2\" linear-bins=3 ! fakesink",
               "edges and linear-bins");
  test_refused("astrocatsrc ! h.data astrohistogram name=h min-angle=5 max-angle=2 ! fakesink",
               "must be the larger");
  test_refused("astrocatsrc ! h.data astrohistogram name=h min-angle=0 ! fakesink", "both above 0");
  test_refused(
      "astrocatsrc ! h.data astrohistogram name=h min-angle=5 max-angle=5 linear-bins=3 ! fakesink",
      "from 5 to 5");
  test_refused("astrocatsrc points=10 ! h.data astrohistogram name=h regions=11 ! fakesink",
               "11 regions of 10 points");
  /* more than the address space */
  test_refused("astrohistogram name=h regions=65535 linear-bins=1024 ! fakesink "
               "astrocatsrc points=65535 ! h.data astrocatsrc points=9 ! h.random",
               "65535 regions with each other in 1024 bins");
  /* each block is smaller than the machine's memory, all together are larger: 3 kinds of pairs */
  guint regions = (guint)sqrt(0.45 * (double)astro_host_memory() / (3 * 1024 * sizeof(guint64)));
  g_autofree char *most = g_strdup_printf("astrohistogram name=h regions=%u linear-bins=1024 ! "
                                          "fakesink astrocatsrc points=%u ! h.data "
                                          "astrocatsrc points=9 ! h.random",
                                          regions, regions);
  test_refused(most, "expected fewer regions or bins");
  test_refused("astrocatsrc ! h.data astrohistogram name=h max-memory=lots ! fakesink",
               "max-memory is \"lots\", expected a fraction");
  test_refused("astrocatsrc ! h.data astrohistogram name=h max-memory=1M ! fakesink",
               "and max-memory allows 1048576; expected fewer regions or bins, or more memory");
  test_refused("astrocatsrc points=90000 catalogues=3 ! h.data astrohistogram name=h regions=4 "
               "max-memory=8M ! fakesink",
               "4 regions of 270000 data points take 6480000 bytes to make, and max-memory has "
               "room for");
  test_refused("astrocatsrc points=0 ! h.data astrohistogram name=h ! fakesink",
               "data catalogue is empty");
  test_refused("astrocatsrc points=99 ! h.data astrocatsrc points=0 ! h.random astrohistogram "
               "name=h ! fakesink",
               "random catalogue is empty");
  test_refused("astrocatsrc ! h.random astrohistogram name=h ! fakesink", "no data catalogue");
  test_refused("fakesrc num-buffers=1 sizetype=fixed sizemax=64 ! h.data "
               "astrohistogram name=h ! fakesink",
               "pad data: a buffer came without caps");
  test_refused(
      "astrocatsrc points=99 ! h.data fakesrc num-buffers=0 ! application/x-astro-catalogue,"
      "format=F64LE,layout=column:point,columns=ra:dec ! h.random astrohistogram name=h ! "
      "fakesink",
      "random catalogue is empty");
  test_refused("astrohistogram name=h ! fakesink astrocatsrc points=9 ! h.data "
               "astrocatsrc points=9 ! h.data2 astrocatsrc points=9 catalogues=3 ! h.random "
               "astrocatsrc points=9 catalogues=2 ! h.random2",
               "pad random2 ended after 2 catalogues, and pad random has more");
  test_refused(
      "astrocatsrc regions=3 ! h.data astrocatsrc ! h.random astrohistogram name=h regions=3 ! "
      "fakesink",
      "no column of regions");
  test_refused(
      "astrocatsrc ! h.data astrocatsrc regions=3 ! h.random astrohistogram name=h regions=3 ! "
      "fakesink",
      "the random catalogue has a column of regions, but the data catalogue has none");
  test_refused("astrocatsrc regions=5 ! h.data astrohistogram name=h regions=3 ! fakesink",
               "region is");
}

/* The first warning says so. */
static void test_warned(const char *line, const char *says)
{
  g_autoptr(GstElement) pipeline = gst_parse_launch(line, NULL);
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  g_autoptr(GError) warning = NULL;
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(
      bus, TEST_PATIENCE, GST_MESSAGE_WARNING | GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_nonnull(message);
  g_assert_cmpint(GST_MESSAGE_TYPE(message), ==, GST_MESSAGE_WARNING);
  gst_message_parse_warning(message, &warning, NULL);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  test_says(warning->message, says);
}

/* Negative weights are taken for data, with a warning, but not for random points; weights whose
 * products are not numbers are refused for both. */
static void test_negative_weights(void)
{
  g_autofree char *folder = g_dir_make_tmp("astro-XXXXXX", NULL),
                  *path = g_build_filename(folder, "points.csv", NULL), *message = NULL;
  g_assert_true(g_file_set_contents(path, "ra,dec,w\n1,2,0.5\n3,4,-0.25\n", -1, NULL));
  g_autofree char *data = g_strdup_printf("astrocatsrc location=%s weight-column=w ! h.data "
                                          "astrocatsrc points=5 ! h.random "
                                          "astrohistogram name=h ! appsink name=out",
                                          path);
  g_autofree char *random = g_strdup_printf("astrocatsrc location=%s weight-column=w ! h.random "
                                            "astrocatsrc points=5 ! h.data "
                                            "astrohistogram name=h ! fakesink",
                                            path);
  g_autoptr(GPtrArray) samples = test_samples(data, &message);
  g_assert_null(message);
  g_assert_cmpuint(samples->len, ==, 1);
  test_refused(random, "weight of -0.25 at point 1");
  test_warned(data, "the data catalogue has weights below 0 at 1 points");
  g_assert_true(g_file_set_contents(path, "ra,dec,w\n1,2,0\n3,4,-0.25\n", -1, NULL));
  test_refused(data, "the data catalogue has weights below 0, 1 of 2, and none above");
  g_assert_true(g_file_set_contents(path, "ra,dec,w\n1,2,3e154\n3,4,-3e154\n", -1, NULL));
  test_refused(data, "the data catalogue has weights whose sizes sum up to 6e+154");
  g_unlink(path);
  g_rmdir(folder);
}

/* The same catalogue on both sides would make an auto-correlation of a cross-correlation, and count
 * its pairs twice. */
static void test_same_on_both_sides(void)
{
#define CROSS(seed, random_seed)                                                                   \
  "astrohistogram name=h ! fakesink astrocatsrc points=9 seed=1 ! h.data astrocatsrc points=9 "    \
  "seed=" seed " ! h.data2 astrocatsrc points=9 seed=3 ! h.random astrocatsrc points=9 "           \
  "seed=" random_seed " ! h.random2"
  test_warned(CROSS("1", "4"), "pads data and data2 have the same catalogue of 9 points");
  test_warned(CROSS("2", "3"), "pads random and random2 have the same catalogue of 9 points");
  g_autoptr(GstElement) pipeline = gst_parse_launch(CROSS("2", "4"), NULL);
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_autoptr(GstMessage) last = gst_bus_timed_pop_filtered(
      bus, TEST_PATIENCE, GST_MESSAGE_WARNING | GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_nonnull(last);
  g_assert_cmpint(GST_MESSAGE_TYPE(last), ==, GST_MESSAGE_EOS);
  gst_element_set_state(pipeline, GST_STATE_NULL);
}

/* Parts that do not fit together do not make a catalogue, whichever comes first. */
static void test_mixed_parts(void)
{
  static const char *const lines[] = {
    "concat name=all ! h.data astrohistogram name=h ! fakesink "
    "astrocatsrc points=50 regions=3 ! all. astrocatsrc points=70 ! all.",
    "concat name=all ! h.data astrohistogram name=h ! fakesink "
    "astrocatsrc points=70 ! all. astrocatsrc points=50 regions=3 ! all.",
  };
  test_refused(lines[0], "pad data: a part of a catalogue with columns ra:dec after one with "
                         "ra:dec:region");
  test_refused(lines[1], "pad data: a part of a catalogue with columns ra:dec:region after one "
                         "with ra:dec");
}

static void test_bad_caps(void)
{
  static const char *const wrong[] = {
    "application/x-astro-catalogue,format=F32LE,layout=column:point,columns=ra:dec",
    "application/x-astro-catalogue,format=F64LE,layout=point:column,columns=ra:dec",
    "application/x-astro-catalogue,format=F64LE,layout=column:point,columns=x:y",
    "application/x-astro-catalogue,format=F64LE,layout=column:point",
  };
  for (guint w = 0; w < G_N_ELEMENTS(wrong); w++) {
    GstHarness *h = gst_harness_new_with_padnames("astrohistogram", "data", "src");
    GstBus *bus = gst_bus_new();
    gst_element_set_bus(h->element, bus);
    gst_harness_set_src_caps_str(h, wrong[w]);
    gst_harness_push(h, gst_buffer_new_allocate(NULL, 32, NULL));
    GstMessage *message = gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_ERROR);
    g_assert_nonnull(message);
    gst_message_unref(message);
    /* nor is the buffer taken for points */
    message = gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_ERROR);
    g_assert_nonnull(message);
    gst_message_unref(message);
    gst_element_set_bus(h->element, NULL);
    gst_object_unref(bus);
    gst_harness_teardown(h);
  }
}

/* Catalogues are sent once: a seek is refused, and the count goes on as if there had been none. */
static void test_seek(void)
{
  GstElement *pipeline = gst_parse_launch("astrohistogram name=h ! fakesink sync=false "
                                          "astrocatsrc points=300 ! h.data "
                                          "astrocatsrc points=300 catalogues=3 ! h.random",
                                          NULL);
  GstBus *bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PAUSED);
  gst_element_get_state(pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
  g_assert_false(gst_element_seek_simple(pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0));
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_autoptr(GstMessage) end =
      gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_nonnull(end);
  g_assert_cmpint(GST_MESSAGE_TYPE(end), ==, GST_MESSAGE_EOS);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(bus);
  gst_object_unref(pipeline);
}

/* A device that does not exist is named when the pipeline starts. */
static void test_no_device(void)
{
  GstElement *pipeline = gst_parse_launch(
      "astrocatsrc points=100 ! h.data astrohistogram name=h backend=cuda device=63 ! fakesink",
      NULL);
  g_assert_cmpint(gst_element_set_state(pipeline, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_FAILURE);
  GstBus *bus = gst_element_get_bus(pipeline);
  GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  g_assert_nonnull(message);
  g_autoptr(GError) error = NULL;
  gst_message_parse_error(message, &error, NULL);
  g_assert_true(g_str_has_prefix(error->message, "backend=cuda: "));
  gst_message_unref(message);
  gst_object_unref(bus);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
}

static void add_tests(void)
{
  g_test_add_func("/astrohistogram/refusals", test_refusals);
  g_test_add_func("/astrohistogram/negative-weights", test_negative_weights);
  g_test_add_func("/astrohistogram/same-on-both-sides", test_same_on_both_sides);
  g_test_add_func("/astrohistogram/mixed-parts", test_mixed_parts);
  g_test_add_func("/astrohistogram/bad-caps", test_bad_caps);
  g_test_add_func("/astrohistogram/seek", test_seek);
  g_test_add_func("/astrohistogram/no-device", test_no_device);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
