/* Files of some gigabytes are read through before anything comes of them. Stopping or ending the
 * stream meanwhile must not wait for that. */
#include "core/stream/stream.h"
#include "tests/elements/elements.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <unistd.h>

/* The quickest of some tries counts, since the machine may be busy. */
enum { TRIES = 3, MOST_MS = 1000, OPENING_MS = 300 };

#define VISIBILITIES                                                                               \
  "astrovissrc stations=2 pols=2 channels=1024 duration=60 integration=60 ! "                      \
  "astrofitssink location=%s"
#define GROUPS 1300000
#define GROUP_BYTES (4 * (7 + 1024 * 4 * 3))
#define BLOCK 2880

/* The value of the card, in its columns. */
static void set_card(char *header, const char *card, const char *value)
{
  char *found = strstr(header, card);
  g_assert_nonnull(found);
  memset(found + 10, ' ', 20);
  memcpy(found + 30 - strlen(value), value, strlen(value));
}

/* A file of 64 GB that takes no space on the disk: all groups have one time and baseline, and their
 * values are 0. */
static char *new_sparse_file(const char *folder)
{
  char *file = g_build_filename(folder, "sparse.uvfits", NULL);
  g_autofree char *line = g_strdup_printf(VISIBILITIES, file), *groups = NULL, *text = NULL;
  g_autofree char *failed = test_launch(line);
  g_autoptr(GError) error = NULL;
  gsize bytes;
  g_assert_cmpstr(failed, ==, NULL);
  g_file_get_contents(file, &text, &bytes, &error);
  g_assert_no_error(error);
  char *end = strstr(text, " END  "), *table = NULL;
  g_assert_nonnull(end);
  const gsize header = ((gsize)(end - text) + BLOCK - 1) / BLOCK * BLOCK;
  for (gsize at = header; at < bytes && !table; at += BLOCK)
    if (g_str_has_prefix(text + at, "XTENSION"))
      table = text + at;
  g_assert_nonnull(table);
  groups = g_strdup_printf("%d", GROUPS);
  set_card(text, "GCOUNT  =", groups);
  set_card(text, "PZERO6  =", "258.");
  const off_t tables = (off_t)header + ((off_t)GROUPS * GROUP_BYTES + BLOCK - 1) / BLOCK * BLOCK;
  const int fd = g_open(file, O_WRONLY | O_TRUNC | O_CLOEXEC);
  g_assert_cmpint(pwrite(fd, text, header, 0), ==, header);
  const gsize rest = bytes - (gsize)(table - text);
  g_assert_cmpint(pwrite(fd, table, rest, tables), ==, rest);
  close(fd);
  return file;
}

static GstElement *begin(const char *file)
{
  g_autofree char *line = g_strdup_printf("astrofitssrc name=source location=%s ! fakesink", file);
  g_autoptr(GError) error = NULL;
  GstElement *pipeline = gst_parse_launch(line, &error);
  g_assert_no_error(error);
  g_assert_cmpint(gst_element_set_state(pipeline, GST_STATE_PLAYING), !=, GST_STATE_CHANGE_FAILURE);
  g_usleep(OPENING_MS * 1000);
  return pipeline;
}

static void check_silent(GstElement *pipeline)
{
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  g_autoptr(GstMessage) message =
      gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING | GST_MESSAGE_EOS);
  g_assert_null(message);
}

static void stop(GstElement *pipeline)
{
  gst_pipeline_set_auto_flush_bus(GST_PIPELINE(pipeline), FALSE);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  check_silent(pipeline);
}

/* As gst-astro does at a signal. */
static void end(GstElement *pipeline)
{
  g_autoptr(GstElement) source = gst_bin_get_by_name(GST_BIN(pipeline), "source");
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  gst_element_send_event(pipeline,
                         gst_event_new_custom(GST_EVENT_CUSTOM_UPSTREAM,
                                              gst_structure_new_empty(ASTRO_INTERRUPT_EVENT)));
  gst_element_send_event(source, gst_event_new_eos());
  g_autoptr(GstMessage) message =
      gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  g_assert_nonnull(message);
  g_assert_cmpint(GST_MESSAGE_TYPE(message), ==, GST_MESSAGE_EOS);
  gst_element_set_state(pipeline, GST_STATE_NULL);
}

static void opening(gconstpointer data)
{
  void (*const *leave)(GstElement *) = data;
  g_autofree char *folder = g_dir_make_tmp("astro-fits-XXXXXX", NULL);
  g_autofree char *file = new_sparse_file(folder);
  gint64 least = G_MAXINT64;
  for (guint i = 0; i < TRIES && least >= MOST_MS; i++) {
    const gint64 begun = g_get_monotonic_time();
    GstElement *pipeline = begin(file);
    (*leave)(pipeline);
    const gint64 took = (g_get_monotonic_time() - begun) / 1000 - OPENING_MS;
    g_test_message("%" G_GINT64_FORMAT " ms", took);
    least = MIN(least, took);
    gst_object_unref(pipeline);
  }
  g_unlink(file);
  g_rmdir(folder);
  g_assert_cmpint(least, <, MOST_MS);
}

/* Holds the source as it agrees on caps, which are its filter, until the pad flushes: before the
 * source is told to stop. */
static GstPadProbeReturn hold_query(GstPad *pad, GstPadProbeInfo *info, gpointer held)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY(info);
  GstCaps *filter = NULL;
  if (GST_QUERY_TYPE(query) == GST_QUERY_CAPS)
    gst_query_parse_caps(query, &filter);
  if (!filter)
    return GST_PAD_PROBE_OK;
  g_atomic_int_set((gint *)held, TRUE);
  for (gboolean flushes = FALSE; !flushes;) {
    g_usleep(1000);
    GST_OBJECT_LOCK(pad);
    flushes = GST_PAD_IS_FLUSHING(pad);
    GST_OBJECT_UNLOCK(pad);
  }
  return GST_PAD_PROBE_OK;
}

/* Caps that a pad refuses because it stops are no fault of anybody. */
static void agreeing(void)
{
  g_autofree char *folder = g_dir_make_tmp("astro-fits-XXXXXX", NULL);
  g_autofree char *file = g_build_filename(folder, "v.uvfits", NULL);
  g_autofree char *line = g_strdup_printf(VISIBILITIES, file);
  g_autofree char *failed = test_launch(line);
  g_assert_cmpstr(failed, ==, NULL);
  g_autofree char *read = g_strdup_printf("astrofitssrc name=source location=%s ! fakesink", file);
  GstElement *pipeline = gst_parse_launch(read, NULL);
  g_autoptr(GstElement) source = gst_bin_get_by_name(GST_BIN(pipeline), "source");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(source, "src");
  gint held = FALSE;
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM | GST_PAD_PROBE_TYPE_PUSH, hold_query,
                    &held, NULL);
  gst_element_set_state(pipeline, GST_STATE_PAUSED);
  while (!g_atomic_int_get(&held))
    g_usleep(1000);
  stop(pipeline);
  gst_object_unref(pipeline);
  g_unlink(file);
  g_rmdir(folder);
}

static void (*const leaving[])(GstElement *) = { stop, end };

static void add_tests(void)
{
  g_test_add_data_func("/astrofits/opening/stopped", &leaving[0], opening);
  g_test_add_data_func("/astrofits/opening/ended", &leaving[1], opening);
  g_test_add_func("/astrofits/opening/agreeing", agreeing);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
