/* The debug log of elements: an engineer who reads it learns what was agreed on, who does the work
 * and why, what was lost, and what the stream waits for. */
#include "core/backend/module.h"
#include "tests/elements/astrostage.h"
#include "tests/elements/running.h"

#include <glib/gstdio.h>

#ifndef GST_DISABLE_GST_DEBUG

/* ---- what is written ---- */

typedef struct {
  GMutex lock;
  GPtrArray *lines; /* "astrotranspose 5 text" */
} Log;

static void take(GstDebugCategory *category, GstDebugLevel level, const gchar *file,
                 const gchar *function, gint line, GObject *object, GstDebugMessage *message,
                 gpointer data)
{
  Log *log = data;
  if (!g_str_has_prefix(gst_debug_category_get_name(category), "astro"))
    return;
  g_mutex_lock(&log->lock);
  g_ptr_array_add(log->lines, g_strdup_printf("%s %d %s", gst_debug_category_get_name(category),
                                              level, gst_debug_message_get(message)));
  g_mutex_unlock(&log->lock);
}

/* GStreamer never frees its lists of functions: another thread may be going through them. */
static Log *listen(void)
{
  Log *log = g_new0(Log, 1);
  log->lines = g_ptr_array_new_with_free_func(g_free);
  gst_debug_set_threshold_from_string("astro*:6", FALSE);
  test_leaks_of_gstreamer();
  gst_debug_remove_log_function(gst_debug_log_default);
  gst_debug_add_log_function(take, log, NULL);
  test_no_leaks_of_gstreamer();
  return log;
}

static void stop_listening(Log *log)
{
  test_leaks_of_gstreamer();
  gst_debug_remove_log_function_by_data(log);
  gst_debug_add_log_function(gst_debug_log_default, NULL, NULL);
  test_no_leaks_of_gstreamer();
  gst_debug_set_threshold_from_string("astro*:0", FALSE);
  g_ptr_array_unref(log->lines);
  g_mutex_clear(&log->lock);
  g_free(log);
}

/* The number of lines that match a pattern with * and ?. */
static guint count(Log *log, const char *pattern)
{
  guint n = 0;
  g_mutex_lock(&log->lock);
  for (guint i = 0; i < log->lines->len; i++)
    n += g_pattern_match_simple(pattern, g_ptr_array_index(log->lines, i));
  g_mutex_unlock(&log->lock);
  return n;
}

static void assert_said(Log *log, const char *pattern)
{
  if (count(log, pattern) > 0)
    return;
  for (guint i = 0; i < log->lines->len; i++)
    g_printerr("%s\n", (char *)g_ptr_array_index(log->lines, i));
  g_error("no line \"%s\"", pattern);
}

/* ---- whole pipelines ---- */

/* Each element logs in a category with the name of its factory. */
static void test_agreed(void)
{
  Log *log = listen();
  g_autofree char *error = test_launch(
      "astroskysrc num-buffers=3 stations=4 ! astrochannelizer channels=16 backend=cpu ! "
      "astrotranspose backend=reference layout=channel:station:pol:time ! astrocorrelator "
      "integration=64 ! "
      "astroconvert backend=cpu ! fakesink");
  g_assert_cmpstr(error, ==, NULL);
  assert_said(log, "astroskysrc 4 caps agreed: out application/x-astro-voltages*");
  assert_said(log, "astroskysrc 6 out: *");
  assert_said(log, "astrochannelizer 4 caps agreed: in application/x-astro-voltages*, out "
                   "application/x-astro-spectra*");
  assert_said(log, "astrochannelizer 4 backend cpu, kernel *, on a CPU of level *: backend=cpu was "
                   "set");
  assert_said(log, "astrotranspose 4 backend reference, kernel *: backend=reference was set");
  assert_said(log, "astrocorrelator 4 backend *: auto takes c*");
  assert_said(log, "astrocorrelator 6 in: *");
  assert_said(log, "astrocorrelator 6 out: *");
  assert_said(log, "astroconvert 4 pass-through*");
  g_assert_cmpuint(count(log, "astroskysrc 6 out: *"), ==, 3);
  g_assert_cmpuint(count(log, "astrochannelizer 6 in: *"), ==, 3);
  stop_listening(log);
}

/* If there is a device, auto takes it for the stages that it can do, and the CPU for the others. */
static void test_why(void)
{
  const gboolean is_there = astro_backend_prefers_device("transpose", ASTRO_BACKEND_AUTO, 0);
  Log *log = listen();
  g_autofree char *error =
      test_launch("astroskysrc num-buffers=8 stations=4 block-steps=4096 ! "
                  "astroselect stations=0-2 ! astrotranspose layout=station:pol:time ! fakesink");
  g_assert_cmpstr(error, ==, NULL);
  assert_said(log, "astroselect 4 backend cpu, kernel *: auto takes cpu: *");
  if (is_there) {
    assert_said(log, "astrotranspose 4 backend cuda, kernel *, on *: auto takes cuda on device 0");
    g_assert_cmpuint(count(log, "astrotranspose 6 out: *"), ==, 8);
  } else {
    assert_said(log, "astrotranspose 4 backend cpu, kernel *: auto takes cpu: *");
  }
  stop_listening(log);
}

/* ---- a stage in a harness ---- */

static void test_jumps(void)
{
  Log *log = listen();
  GstHarness *h = new_harness();
  gst_harness_push(h, stamped(0, 4));
  gst_harness_push(h, stamped(10, 4)); /* six are lost */
  gst_harness_push(h, stamped(12, 4)); /* two are there already */
  assert_said(log, "astrotranspose 5 jump: 6 steps are missing between 4 and 10");
  assert_said(log, "astrotranspose 5 2 steps came again, or late*");
  g_assert_cmpuint(count(log, "astrotranspose 5 jump*"), ==, 1);
  gst_harness_teardown(h);
  stop_listening(log);
}

/* If an element downstream holds blocks, the pool grows. */
static void test_pool(void)
{
  Log *log = listen();
  GstHarness *h = new_harness();
  for (guint i = 0; i < 3; i++)
    gst_harness_push(h, stamped(4 * i, 4));
  assert_said(log, "astrotranspose 5 a pool of blocks of 48 bytes");
  assert_said(log, "astrotranspose 5 pool grows to 2 blocks*");
  assert_said(log, "astrotranspose 5 pool grows to 3 blocks*");
  g_assert_cmpuint(count(log, "astrotranspose 5 pool grows*"), ==, 2);
  gst_harness_teardown(h);
  stop_listening(log);
}

static void test_waits(void)
{
  Log *log = listen();
  GstHarness *h = new_harness();
  gst_harness_push(h, stamped(0, 4));
  g_assert_cmpuint(count(log, "astrotranspose 5 waited*"), ==, 0);
  g_usleep(30000);
  gst_harness_push(h, stamped(4, 4));
  assert_said(log, "astrotranspose 5 waited * ms for input");
  gst_harness_teardown(h);
  stop_listening(log);
}

/* Several inputs, one of which has less than the other. */
static void test_merge(void)
{
  Log *log = listen();
  g_autofree char *error =
      test_launch("astrojoin name=j axis=channel ! fakesink "
                  "astroskysrc num-buffers=4 stations=3 block-steps=1024 ! "
                  "astrochannelizer channels=16 ! tee name=t "
                  "t. ! queue ! astroselect channels=0-7 ! j.sink_0 "
                  "t. ! queue ! identity eos-after=2 ! astroselect channels=8-15 ! j.sink_1");
  g_assert_cmpstr(error, ==, NULL);
  assert_said(log, "astrojoin 4 caps agreed: in application/x-astro-spectra*");
  assert_said(log, "astrojoin 4 caps agreed: out application/x-astro-spectra*");
  assert_said(log, "astrojoin 4 backend cpu, kernel *: auto takes cpu: *");
  assert_said(log, "astrojoin 5 loss: input 1 has nothing of * steps from * on");
  assert_said(log, "astrojoin 6 in: *");
  assert_said(log, "astrojoin 6 out: *");
  stop_listening(log);
}

/* ---- sinks, and who listens to nothing ---- */

static void test_sink(void)
{
  Log *log = listen();
  g_autofree char *folder = g_dir_make_tmp("astro-logs-XXXXXX", NULL);
  g_autofree char *name = g_build_filename(folder, "a.uvfits", NULL);
  g_autofree char *line = g_strdup_printf(
      "astrovissrc num-buffers=2 stations=3 channels=2 ! astrofitssink location=%s", name);
  g_autofree char *error = test_launch(line);
  g_assert_cmpstr(error, ==, NULL);
  assert_said(log, "astrofitssink 4 caps agreed: in application/x-astro-visibilities*");
  assert_said(log, "astrofitssink 4 wrote 2 frames to *");
  g_assert_cmpuint(count(log, "astrofitssink 6 in: *"), ==, 2);
  stop_listening(log);
  g_unlink(name);
  g_rmdir(folder);
}

/* Nothing is logged beyond the threshold. */
static void test_threshold(void)
{
  Log *log = listen();
  gst_debug_set_threshold_from_string("astro*:4", FALSE);
  GstHarness *h = new_harness();
  gst_harness_push(h, stamped(0, 4));
  gst_harness_push(h, stamped(10, 4));
  g_assert_cmpuint(count(log, "astrotranspose 4 *"), >, 0);
  g_assert_cmpuint(count(log, "astrotranspose 5 *"), ==, 0);
  g_assert_cmpuint(count(log, "astrotranspose 6 *"), ==, 0);
  gst_harness_teardown(h);
  stop_listening(log);
}

static void add_tests(void)
{
  g_test_add_func("/logs/agreed", test_agreed);
  g_test_add_func("/logs/why", test_why);
  g_test_add_func("/logs/jumps", test_jumps);
  g_test_add_func("/logs/pool", test_pool);
  g_test_add_func("/logs/waits", test_waits);
  g_test_add_func("/logs/merge", test_merge);
  g_test_add_func("/logs/sink", test_sink);
  g_test_add_func("/logs/threshold", test_threshold);
}

#else

static void add_tests(void)
{
}

#endif

/* Without a GPU a fake module that uses the host takes its place. */
int main(int argc, char **argv)
{
  const char *build = g_getenv("G_TEST_BUILDDIR");
  if (build && !g_file_test("/dev/nvidiactl", G_FILE_TEST_EXISTS)) {
    g_autofree char *module = g_build_filename(build, "tests/elements/.libs/fake-module.so", NULL);
    g_setenv("ASTRO_CUDA_MODULE", module, TRUE);
  }
  return test_run(argc, argv, add_tests);
}
