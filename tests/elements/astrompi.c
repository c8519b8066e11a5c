/* astroreduce and astroalltoall on 1 to 4 ranks of this machine: files are equal, to the bit, to
 * those of one process that has all streams, and a rank that fails or dies ends the others without
 * a file. */
#include <glib/gstdio.h>
#include <sys/wait.h>

#include "core/stream/validity.h"
#include "tests/elements/elements.h"
#include "tests/elements/fake-devices.h"
#include "tests/elements/ranks.h"

#define LAUNCH "exec gst-launch-1.0 -q "
#define VISIBILITIES "astrovissrc stations=5 channels=3 num-buffers=9 noise=1 loss=0.2 seed=$r "
#define GRID "! astrogridder size=64 cell=20 algorithm=wprojection interval=4 "
#define SPECTRA                                                                                    \
  "astroskysrc stations=3 noise=1 num-buffers=9 block-steps=500 seed=$r ! "                        \
  "application/x-astro-voltages,format=CI8 ! astrochannelizer channels=4 "
#define SUMS                                                                                       \
  SPECTRA "! astrotranspose ! astrocorrelator integration=8 ! "                                    \
          "application/x-astro-visibilities,format=CI32LE "
#define PAIRS                                                                                      \
  "astrohistogram name=p$r linear-bins=9 max-angle=600 min-angle=1 "                               \
  "astrocatsrc points=500 seed=$r ! p$r.data "                                                     \
  "astrocatsrc points=900 seed=1$r catalogues=2 ! p$r.random p$r. "
#define WRITE "astrofitssink location="

static void launch(const char *line)
{
  g_autofree char *message = test_launch(line);
  if (message)
    g_error("\"%s\": %s", line, message);
}

/* ---- sums ---- */

static const struct {
  const char *name, *stream; /* of a rank, whose number is $r */
} sums[] = {
  { "visibilities", VISIBILITIES },
  { "sums", SUMS },
  { "grids", VISIBILITIES GRID },
  { "power", SPECTRA "! astropower integration=4 " },
  { "pairs", PAIRS },
};

/* One process adds the streams of n ranks. */
static void add_up(const char *stream, guint n, const char *location)
{
  g_autoptr(GString) line = g_string_new("astroadd name=s ! " WRITE);
  g_string_append_printf(line, "%s ", location);
  for (guint rank = 0; rank < n; rank++) {
    g_autofree char *number = g_strdup_printf("%u", rank);
    g_autoptr(GString) one = g_string_new(stream);
    g_string_replace(one, "$r", number, 0);
    g_string_append_printf(line, "%s ! s. ", one->str);
  }
  launch(line->str);
}

static void test_sums(gconstpointer which)
{
  const guint of = GPOINTER_TO_UINT(which);
  for (guint n = 1; n <= 3; n++) {
    g_autofree char *command = g_strdup_printf(
        LAUNCH "%s ! astroreduce root=%u ! " WRITE "sum.fits", sums[of].stream, n - 1);
    add_up(sums[of].stream, n, "expected.fits");
    test_ranks(n, command);
    test_assert_same_files("expected.fits", "sum.fits");
  }
  g_unlink("expected.fits");
  g_unlink("sum.fits");
}

/* ---- corner turns ---- */

#define VOLTAGES "astroskysrc stations=7 noise=1 num-buffers=6 block-steps=500 seed=3 "
#define OWN "! astroselect stations=$((7*r/n))-$((7*(r+1)/n-1)) "
#define FILTER "! astrochannelizer channels=10 "
#define CORRELATE "! astrotranspose ! astrocorrelator integration=16 "
#define TURN "! astroalltoall "

static void test_turns(void)
{
  launch(VOLTAGES FILTER CORRELATE "! " WRITE "expected.uvfits");
  launch(VOLTAGES FILTER "! " WRITE "expected.fits");
  for (guint n = 1; n <= 4; n++) {
    test_ranks(n, LAUNCH VOLTAGES OWN FILTER TURN CORRELATE
               "! astroalltoall from=channel to=none root=0 ! " WRITE "got.uvfits");
    test_assert_same_files("expected.uvfits", "got.uvfits");
  }
  /* to and fro */
  test_ranks(3, LAUNCH VOLTAGES OWN FILTER TURN TURN "from=channel to=station "
                                                     "! astroalltoall to=none root=2 ! " WRITE
                                                     "got.fits");
  test_assert_same_files("expected.fits", "got.fits");
  g_unlink("expected.uvfits");
  g_unlink("expected.fits");
  g_unlink("got.uvfits");
  g_unlink("got.fits");
}

/* Samples go from a device to a device, with ranks in between; others than a rank's own go by the
 * host. Without a GPU the ranks have fake devices. */
static void test_device_turns(void)
{
#define CONVERT(where)                                                                             \
  "! application/x-astro-spectra,format=CI8 ! astroconvert backend=" where                         \
  " ! application/x-astro-spectra,format=CI16LE "
#define AFTER(where) "! astrotranspose backend=" where " layout=channel:time:station:pol "
  const char *build = g_getenv("G_TEST_BUILDDIR");
  g_autofree char *module =
      build && !test_has_gpu()
          ? g_strdup_printf("ASTRO_CUDA_MODULE=%s/tests/elements/.libs/fake-module.so ", build)
          : g_strdup("");
  if (!build && !test_has_gpu()) {
    g_test_skip("there is no device");
    return;
  }
  launch(VOLTAGES FILTER CONVERT("cpu") AFTER("cpu") "! " WRITE "expected.fits");
  for (guint n = 1; n <= 3; n++) {
    g_autofree char *command = g_strconcat(
        module,
        LAUNCH VOLTAGES OWN FILTER CONVERT("cuda")
            TURN AFTER("cuda") "! astroalltoall from=channel to=none root=0 ! " WRITE "got.fits",
        NULL);
    test_ranks(n, command);
    test_assert_same_files("expected.fits", "got.fits");
  }
  g_unlink("expected.fits");
  g_unlink("got.fits");
}

/* ---- a slow rank ---- */

#define HALF_POWER                                                                                 \
  "astroskysrc stations=1 noise=1 num-buffers=5 block-steps=100000 bandwidth=1e6 seed=3 ! "        \
  "astrochannelizer channels=8 ! astropower integration=125 "

/* How many values of a file have no good samples behind them. */
static guint64 count_lost(const char *file)
{
  g_autofree char *line =
      g_strdup_printf("astrofitssrc location=%s ! appsink name=s sync=false", file);
  g_autoptr(GstElement) pipeline = gst_parse_launch(line, NULL);
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "s");
  GstSample *sample;
  guint64 lost = 0;
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  while (g_signal_emit_by_name(sink, "try-pull-sample", TEST_PATIENCE, &sample), sample) {
    const AstroValidityMeta *meta = astro_buffer_get_validity(gst_sample_get_buffer(sample));
    for (guint64 i = 0; meta && i < astro_validity_n_counts(meta); i++)
      lost += meta->counts[i] == 0;
    gst_sample_unref(sample);
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return lost;
}

/* Rank 1 takes more than twice as long as its samples. All wait for it, or lose its channels. */
static void test_latency(void)
{
  static const char *const latencies[] = { "", "latency=50000000" };
  launch(HALF_POWER "! " WRITE "expected.fits");
  for (guint i = 0; i < G_N_ELEMENTS(latencies); i++) {
    g_autofree char *command = g_strdup_printf(
        LAUNCH HALF_POWER
        "! astroselect channels=$r/$n ! identity sync=true "
        "sleep-time=$((r*250000)) ! astroalltoall from=channel to=none %s ! " WRITE "got.fits",
        latencies[i]);
    test_ranks(2, command);
    if (i == 0)
      test_assert_same_files("expected.fits", "got.fits");
    else
      g_assert_cmpuint(count_lost("got.fits"), >, 0);
  }
  g_assert_cmpuint(count_lost("expected.fits"), ==, 0);
  g_unlink("expected.fits");
  g_unlink("got.fits");
}

/* ---- what goes wrong ---- */

static void test_misfits(void)
{
  static const struct {
    const char *command, *says;
  } cases[] = {
    { LAUNCH "astrovissrc stations=5 channels=$((r+1)) num-buffers=9 ! astroreduce ! " WRITE
             "bad.fits",
      "rank 1: caps field" },
    { LAUNCH VISIBILITIES "! astroreduce root=$r ! " WRITE "bad.fits", "has astroreduce root=" },
    { LAUNCH VISIBILITIES "! astroreduce root=2 ! " WRITE "bad.fits",
      "root=2, expected a rank of this job of 2: 0 to 1" },
    { LAUNCH VOLTAGES FILTER TURN "! " WRITE "bad.fits", "station A001 is also on rank" },
    { LAUNCH VOLTAGES OWN FILTER TURN "to=station from=station ! " WRITE "bad.fits",
      "from and to are both station" },
    { LAUNCH VOLTAGES OWN FILTER TURN "to=beam ! " WRITE "bad.fits",
      "to=beam: the stream has an axis beam of 0, expected at least 2" },
    { LAUNCH VOLTAGES "pols=1 " OWN FILTER TURN "to=pol ! " WRITE "bad.fits",
      "to=pol: the stream has an axis pol of 1, expected at least 2, one for each rank" },
    /* a source that fails sends EOS behind its error */
    { LAUNCH VISIBILITIES "! identity error-after=$((r?4:100)) ! astroreduce ! " WRITE "bad.fits",
      "rank 1 has stopped before the end of its stream" },
    { LAUNCH VISIBILITIES GRID "! identity error-after=$((r?2:100)) ! astroreduce ! " WRITE
                               "bad.fits",
      "rank 1 has stopped before the end of its stream" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    test_ranks_fail(2, cases[i].command, cases[i].says, "bad.fits");
}

/* A rank is killed before, while and after it sends: the others end, and there is a file only if it
 * has all. */
static void test_killed(void)
{
  for (guint ms = 0; ms <= 400; ms += 100) {
    int status;
    g_autofree char *command = g_strdup_printf(
        "[ $r = 0 ] || { sleep 0.%03u; kill -9 $$; } & " LAUNCH
        "astrovissrc stations=20 channels=8 num-buffers=100000 noise=1 ! astroreduce ! " WRITE
        "killed.uvfits",
        ms);
    g_autofree char *said = test_run_ranks(3, command, &status);
    g_test_message("%s", said);
    g_assert_cmpint(status, !=, 0);
    g_assert_cmpint(status, !=, 124);
    g_assert_false(g_file_test("killed.uvfits", G_FILE_TEST_EXISTS));
  }
  g_unlink("killed.uvfits.part");
}

/* Without mpirun there is one rank. */
static void test_alone(void)
{
  launch("astrovissrc stations=5 num-buffers=3 ! " WRITE "expected.fits");
  launch("astrovissrc stations=5 num-buffers=3 ! astroreduce ! astroalltoall from=channel to=none "
         "! " WRITE "got.fits");
  test_assert_same_files("expected.fits", "got.fits");
  g_unlink("expected.fits");
  g_unlink("got.fits");
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  test_init_gstreamer(&argc, &argv);
  test_allow_ranks();
  g_autofree char *folder = g_dir_make_tmp(NULL, NULL), *before = g_get_current_dir();
  g_assert_cmpint(g_chdir(folder), ==, 0);
  g_test_add_func("/astrompi/alone", test_alone);
  if (test_has_launching_ranks()) {
    for (guint i = 0; i < G_N_ELEMENTS(sums); i++) {
      g_autofree char *path = g_strconcat("/astrompi/", sums[i].name, NULL);
      g_test_add_data_func(path, GUINT_TO_POINTER(i), test_sums);
    }
    g_test_add_func("/astrompi/turns", test_turns);
    g_test_add_func("/astrompi/device-turns", test_device_turns);
    g_test_add_func("/astrompi/latency", test_latency);
    g_test_add_func("/astrompi/misfits", test_misfits);
    g_test_add_func("/astrompi/killed", test_killed);
  }
  int status = g_test_run();
  g_assert_cmpint(g_chdir(before), ==, 0);
  g_rmdir(folder);
  gst_deinit();
  return status;
}
