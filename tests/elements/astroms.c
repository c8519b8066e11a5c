/* astromssink and astromssrc in pipelines: what went into a set comes out again, to the bit; and
 * nothing has the set's name before it is whole. */
#include "core/stream/observation.h"
#include "core/stream/uvw-meta.h"
#include "tests/core/sets/alter.h"
#include "tests/elements/catalogues.h"
#include "tests/elements/elements.h"
#include "tests/remove-all.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define VISIBILITIES                                                                               \
  "astrovissrc stations=5 pols=2 noise=3 bandwidth=1e6 channels=3 integration=7 num-buffers=4 "    \
  "phase-centre=246.5,38 start-time=2026-11-20T12:00:00"

static void make(const char *format, ...) G_GNUC_PRINTF(1, 2);
static void make(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *line = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_autofree char *failed = test_launch(line);
  g_assert_cmpstr(failed, ==, NULL);
}

static void assert_equal(const char *one, const char *two)
{
  g_autofree char *a = NULL, *b = NULL;
  gsize a_bytes, b_bytes;
  g_assert_true(g_file_get_contents(one, &a, &a_bytes, NULL));
  g_assert_true(g_file_get_contents(two, &b, &b_bytes, NULL));
  g_assert_cmpuint(a_bytes, >, 2880);
  g_assert_cmpmem(a, a_bytes, b, b_bytes);
  g_unlink(one);
  g_unlink(two);
}

/* UVFITS tells stations, times, (u,v,w), values, weights, frequencies, units and the start. */
static void test_returns(void)
{
  static const char *const streams[] = {
    VISIBILITIES,
    VISIBILITIES " stations=2 pols=1 channels=1",
    VISIBILITIES " ! application/x-astro-visibilities,pols=2 ! astrophaseshift centre=10,40",
  };
  for (guint i = 0; i < G_N_ELEMENTS(streams); i++) {
    make("%s ! astrofitssink location=direct.uvfits", streams[i]);
    make("%s ! astromssink location=v.ms", streams[i]);
    make("astromssrc location=v.ms ! astrofitssink location=again.uvfits");
    assert_equal("direct.uvfits", "again.uvfits");
    make("astromssrc location=v.ms uvw=file ! astromssink location=w.ms");
    make("astromssrc location=w.ms uvw=file ! astrofitssink location=direct.uvfits");
    make("astromssrc location=v.ms uvw=file ! astrofitssink location=again.uvfits");
    assert_equal("direct.uvfits", "again.uvfits");
  }
  test_remove_all("v.ms");
  test_remove_all("w.ms");
}

/* ---- the name ---- */

static void assert_integrations(const char *set, guint wanted)
{
  g_autofree char *line = g_strdup_printf("astromssrc location=%s ! appsink name=out", set);
  g_autofree char *message = NULL;
  g_autoptr(GPtrArray) samples = test_samples(line, &message);
  g_assert_cmpstr(message, ==, NULL);
  g_assert_cmpuint(samples->len, ==, wanted);
}

static void test_replaces(void)
{
  make(VISIBILITIES " ! astromssink location=v.ms");
  test_refused(VISIBILITIES " ! identity error-after=1 ! astromssink location=v.ms", "");
  assert_integrations("v.ms", 4);
  make(VISIBILITIES " num-buffers=2 ! astromssink location=v.ms");
  assert_integrations("v.ms", 2);
  g_assert_false(g_file_test("v.ms.part", G_FILE_TEST_EXISTS));
  test_remove_all("v.ms");
  g_mkdir("diary", 0700);
  test_refused(VISIBILITIES " ! astromssink location=diary", "found a folder of another kind");
  g_assert_true(g_file_test("diary", G_FILE_TEST_IS_DIR));
  g_rmdir("diary");
  test_refused(VISIBILITIES " ! astromssink location=/nonexistent/v.ms", "cannot create");
  test_refused(VISIBILITIES " ! astromssink", "No file name is given");
}

/* A killed writer leaves no set, and is in no later writer's way. */
static void test_killed(void)
{
  const pid_t writer = fork();
  int status;
  if (writer == 0) {
    execlp("gst-launch-1.0", "gst-launch-1.0", "-q", "astrovissrc", "stations=20", "!",
           "astromssink", "location=killed.ms", NULL);
    _exit(77);
  }
  while (!g_file_test("killed.ms.part/whole/table.dat", G_FILE_TEST_EXISTS) &&
         waitpid(writer, &status, WNOHANG) == 0)
    g_usleep(1000);
  kill(writer, SIGKILL);
  waitpid(writer, &status, 0);
  g_assert_false(g_file_test("killed.ms", G_FILE_TEST_EXISTS));
  make(VISIBILITIES " ! astromssink location=killed.ms");
  assert_integrations("killed.ms", 4);
  g_assert_false(g_file_test("killed.ms.part", G_FILE_TEST_EXISTS));
  test_remove_all("killed.ms");
}

/* Like a full disk. */
static void test_full(void)
{
  struct rlimit before, small;
  g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &before), ==, 0);
  small = before;
  small.rlim_cur = 300000;
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &small), ==, 0);
  test_refused("astrovissrc stations=40 channels=32 pols=2 num-buffers=40 ! "
               "astromssink location=full.ms",
               "cannot write to");
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  g_assert_false(g_file_test("full.ms", G_FILE_TEST_EXISTS));
  g_assert_false(g_file_test("full.ms.part", G_FILE_TEST_EXISTS));
}

static void test_not_there(void)
{
  test_refused("astromssrc location=none.ms ! fakesink", "cannot open none.ms: there is no such");
  test_refused("astromssrc ! fakesink", "No file name is given");
  g_mkdir("none.ms", 0700);
  test_refused("astromssrc location=none.ms ! fakesink", "none.ms is no Measurement Set");
  g_rmdir("none.ms");
}

/* A table that refers to rows of a set is read as they are in the set, by astroopen too. */
static void test_selection(void)
{
  static const char *const sources[] = { "astromssrc location=", "astroopen input=" };
  make(VISIBILITIES " ! astromssink location=v.ms");
  test_alter_select("v.ms", 0, "all.ms");
  test_alter_select("v.ms", 2 * 15, "later.ms");
  for (guint i = 0; i < G_N_ELEMENTS(sources); i++) {
    make("%sv.ms ! astrofitssink location=direct.uvfits", sources[i]);
    make("%sall.ms ! astrofitssink location=again.uvfits", sources[i]);
    assert_equal("direct.uvfits", "again.uvfits");
  }
  assert_integrations("later.ms", 2);
  test_refused("astrofitssrc location=all.ms ! fakesink", "a Measurement Set: astromssrc reads it");
  test_remove_all("v.ms");
  test_refused("astromssrc location=all.ms ! fakesink", "v.ms");
  test_remove_all("all.ms");
  test_remove_all("later.ms");
}

/* The start, and all steps with their numbers; the observation knows which Earth was meant. */
static void test_stamps(void)
{
  g_autofree char *message = NULL;
  make("astrovissrc stations=3 integration=10 num-buffers=3 start-time=2026-11-20T23:59:50.25 ! "
       "astromssink location=v.ms");
  g_autoptr(GPtrArray) samples =
      test_samples("astromssrc location=v.ms ! appsink name=out", &message);
  g_assert_cmpstr(message, ==, NULL);
  g_assert_cmpuint(samples->len, ==, 3);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer = gst_sample_get_buffer(samples->pdata[i]);
    g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, i);
    g_assert_cmpuint(GST_BUFFER_PTS(buffer), ==, i * 10 * GST_SECOND);
    g_assert_cmpuint(GST_BUFFER_DURATION(buffer), ==, 10 * GST_SECOND);
  }
  test_remove_all("v.ms");
}

/* The same set is read and written at once. */
static void test_writes_back(void)
{
  make(VISIBILITIES " ! astromssink location=v.ms");
  make("astromssrc location=v.ms ! astromssink location=v.ms column=CORRECTED_DATA");
  make("astromssrc location=v.ms column=CORRECTED_DATA ! astrofitssink location=again.uvfits");
  make("astromssrc location=v.ms ! astrofitssink location=direct.uvfits");
  assert_equal("direct.uvfits", "again.uvfits");
  test_refused("astromssrc location=v.ms ! astrophaseshift centre=10,40 ! astromssink "
               "location=v.ms column=MODEL_DATA",
               "arcsec from that of the set's field");
  make("astromssrc location=v.ms ! astromssink location=v.ms column=FLAG");
  test_refused(VISIBILITIES " channels=2 ! astromssink location=v.ms column=DATA",
               "the stream has other channels");
  test_refused(VISIBILITIES " start-time=2026-11-20T12:20:00 ! astromssink location=v.ms "
                            "column=DATA",
               "the set has no integration at");
  test_refused("astromssrc location=v.ms ! astromssink location=v.ms column=WEIGHT_DATA",
               "it has no column WEIGHT_DATA, expected DATA, CORRECTED_DATA");
  assert_integrations("v.ms", 4);
  test_remove_all("v.ms");
  test_refused(VISIBILITIES " ! astromssink location=v.ms column=DATA", "does not exist");
}

static void add_tests(void)
{
  g_autoptr(GstElementFactory) factory = gst_element_factory_find("astromssink");
  g_assert_nonnull(factory);
  g_test_add_func("/astroms/returns", test_returns);
  g_test_add_func("/astroms/replaces", test_replaces);
  g_test_add_func("/astroms/writes-back", test_writes_back);
  g_test_add_func("/astroms/killed", test_killed);
  g_test_add_func("/astroms/full", test_full);
  g_test_add_func("/astroms/not-there", test_not_there);
  g_test_add_func("/astroms/stamps", test_stamps);
  g_test_add_func("/astroms/selection", test_selection);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
