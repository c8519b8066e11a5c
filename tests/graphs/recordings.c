/* Graphs take recordings as input: correlate-file makes of one the same visibilities as of samples
 * without a header, look draws it, and replay sends it as packets. */
#include "tests/graphs/program.h"

#define SKY                                                                                        \
  "astroskysrc stations=3 pols=2 noise=5 bandwidth=1e5 frequency=150e6 duration=1.5 "              \
  "array=vla-like start-time=2026-11-20T12:00:00 ! application/x-astro-voltages,format=CI8 ! "     \
  "tee name=t t. ! queue ! filesink location=sky.raw t. ! queue ! "                                \
  "astrorecordsink format=vdif location=sky.vdif\n"

static void make_recording(void)
{
  write_file("make.graph", SKY, -1);
  g_auto(Result) made = run("run --quiet ./make.graph");
  g_assert_cmpint(made.status, ==, 0);
}

static void test_correlate(void)
{
  g_auto(Result) plain = run(
      "run correlate-file input=sky.raw stations=3 rate=100000 frequency=150e6 array=vla-like "
      "centre=zenith start=2026-11-20T12:00:00 channels=20 integration=500 output=plain.uvfits");
  g_auto(Result) recorded =
      run("run correlate-file input=sky.vdif frequency=150e6 array=vla-like centre=zenith "
          "channels=20 integration=500 output=recorded.uvfits");
  g_assert_cmpint(plain.status, ==, 0);
  g_assert_cmpint(recorded.status, ==, 0);
  g_assert_nonnull(strstr(recorded.out, "sky.vdif: holds voltages, format CI8"));
  g_assert_nonnull(strstr(recorded.out, "recorded.uvfits: format UVFITS, stations 3, baselines 6, "
                                        "channels 20, products 4, integrations 15, "
                                        "start 2026-11-20T12:00:00"));
  g_assert_nonnull(strstr(plain.out, "integrations 15, start 2026-11-20T12:00:00"));
  g_autofree char *a = in_folder("plain.uvfits"), *b = in_folder("recorded.uvfits");
  g_autofree char *bytes_a = NULL, *bytes_b = NULL;
  gsize n_a, n_b;
  g_assert_true(g_file_get_contents(a, &bytes_a, &n_a, NULL));
  g_assert_true(g_file_get_contents(b, &bytes_b, &n_b, NULL));
  g_assert_cmpmem(bytes_a, n_a, bytes_b, n_b);
}

static void test_look(void)
{
  static const char *const inputs[] = { "input=sky.vdif", "input=plain.uvfits",
                                        "input=sky.raw format=CI8 stations=3 pols=2 rate=1e5 "
                                        "frequency=0" };
  for (guint i = 0; i < G_N_ELEMENTS(inputs); i++) {
    g_auto(Result) look = run("run look %s picture=look-%u.png", inputs[i], i);
    g_autofree char *picture = g_strdup_printf("look-%u.png", i);
    if (skips(&look))
      return;
    g_assert_cmpint(look.status, ==, 0);
    g_assert_nonnull(strstr(look.out, i == 1 ? ": holds visibilities, " : ": holds voltages, "));
    g_assert_nonnull(strstr(look.out, picture));
    g_assert_cmpint(file_size(picture), >, 1000);
  }
  g_auto(Result) none = run("run look input=none.vdif");
  assert_refused(&none, 1, "there is no file none.vdif");
  write_file("x.h5", "\x89HDF\r\n\x1a\n", 8);
  g_auto(Result) hdf = run("run look input=x.h5");
  assert_refused(&hdf, 1, "x.h5"); /* astrouvh5src cannot read it, or is not there */
}

/* The packets are sent as fast as the recording is read, to where nobody listens. */
static void test_replay(void)
{
  g_auto(Result) fast = run("run replay input=sky.vdif live=false port=9 loss=0.1");
  if (skips(&fast))
    return;
  g_assert_cmpint(fast.status, ==, 0);
  g_assert_nonnull(strstr(fast.err, ": packets: packets "));
  g_assert_null(strstr(fast.err, "dropped 0,"));
  /* 1.5 s take as long at the pace of the recording. */
  const gint64 begin = g_get_monotonic_time();
  g_auto(Result) live = run("run replay input=sky.vdif port=9");
  g_assert_cmpint(live.status, ==, 0);
  g_assert_cmpint(g_get_monotonic_time() - begin, >, 1400000);
}

static void add_tests(void)
{
  make_recording();
  g_test_add_func("/recordings/correlate", test_correlate);
  g_test_add_func("/recordings/look", test_look);
  g_test_add_func("/recordings/replay", test_replay);
}

int main(int argc, char **argv)
{
  return test_program(argc, argv, add_tests);
}
