/* astrosave: the name of the output says what is written. */
#include "config.h"
#include "tests/elements/elements.h"
#include "tests/remove-all.h"

#include <glib/gstdio.h>

#define STREAM "astrovissrc stations=3 channels=2 num-buffers=2 ! "

static void write_and_read(const char *output, const char *beginning)
{
  g_autofree char *write = g_strdup_printf(STREAM "astrosave output=%s", output);
  g_autofree char *read = g_strdup_printf("astroopen input=%s ! fakesink", output);
  g_autofree char *bytes = NULL;
  g_autofree char *failed = test_launch(write);
  g_assert_cmpstr(failed, ==, NULL);
  g_assert_true(g_file_get_contents(output, &bytes, NULL, NULL));
  g_assert_true(g_str_has_prefix(bytes, beginning));
  g_autofree char *unread = test_launch(read);
  g_assert_cmpstr(unread, ==, NULL);
  g_unlink(output);
}

static void test_names(void)
{
  write_and_read("save.uvfits", "SIMPLE");
  write_and_read("save.other", "SIMPLE");
#ifdef HAVE_HDF5
  write_and_read("save.uvh5", "\x89HDF");
  write_and_read("save.H5", "\x89HDF");
  write_and_read("save.hdf5", "\x89HDF");
#else
  test_refused_by(STREAM "astrosave name=e output=save.uvh5", "e",
                  "save.uvh5 is written by astrouvh5sink, which is not there: it needs HDF5");
#endif
}

/* A Measurement Set is a folder. */
static void test_sets(void)
{
#ifdef HAVE_CASACORE
  static const char *const outputs[] = { "save.ms", "save.MS/" };
  for (guint i = 0; i < G_N_ELEMENTS(outputs); i++) {
    g_autofree char *write = g_strdup_printf(STREAM "astrosave output=%s", outputs[i]);
    g_autofree char *read = g_strdup_printf("astroopen input=%s ! fakesink", outputs[i]);
    g_autofree char *mark = g_build_filename(outputs[i], "table.dat", NULL);
    g_autofree char *failed = test_launch(write);
    g_assert_cmpstr(failed, ==, NULL);
    g_assert_true(g_file_test(mark, G_FILE_TEST_IS_REGULAR));
    g_autofree char *unread = test_launch(read);
    g_assert_cmpstr(unread, ==, NULL);
    test_remove_all(outputs[i]);
  }
#else
  test_refused_by(STREAM "astrosave name=e output=save.ms", "e",
                  "save.ms is written by astromssink, which is not there: it needs casacore");
#endif
}

/* The next stream may have another output, of another kind. */
static void test_again(void)
{
  static const char *const outputs[] = { "save-1.uvfits", "save-2.fits", "save-3.uvfits" };
  g_autoptr(GstElement) pipeline = gst_parse_launch(STREAM "astrosave name=e", NULL);
  g_autoptr(GstElement) save = gst_bin_get_by_name(GST_BIN(pipeline), "e");
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  for (guint i = 0; i < G_N_ELEMENTS(outputs); i++) {
    g_object_set(save, "output", outputs[i], NULL);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    GstMessage *message =
        gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    g_assert_nonnull(message);
    g_assert_cmpint(GST_MESSAGE_TYPE(message), ==, GST_MESSAGE_EOS);
    gst_message_unref(message);
    gst_element_set_state(pipeline, i == 1 ? GST_STATE_NULL : GST_STATE_READY);
    g_assert_cmpint(g_unlink(outputs[i]), ==, 0);
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
}

static void test_wrong(void)
{
  test_refused_by(STREAM "astrosave name=e", "e", "No file name is given");
  test_refused(STREAM "astrosave output=/nonexistent/save.uvfits", "/nonexistent/save.uvfits");
  test_refused(STREAM "astrosave output=save.uvfits earth-orientation=save.none", "save.none");
}

static void add_tests(void)
{
  g_test_add_func("/save/names", test_names);
  g_test_add_func("/save/sets", test_sets);
  g_test_add_func("/save/again", test_again);
  g_test_add_func("/save/wrong", test_wrong);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
