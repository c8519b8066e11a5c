/* Graphs take recordings as input: correlate-file makes of one the same visibilities as of samples
 * without a header, look draws it, and replay sends it as packets. A recording in progress that is
 * interrupted is whole, and of one that is killed the files that have their names are. */
#include "tests/graphs/interrupted.h"

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
      "run correlate-file input=sky.raw format=CI8 stations=3 rate=100000 frequency=150e6 "
      "array=vla-like "
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

/* ---- recordings in progress ---- */

#define BLOCK_STEPS 500
#define FILE_STEPS 6400
#define STEP_BYTES 4 /* CI8, two polarisations */
#define HEADER_BYTES 4096

/* Records until a signal, in files of 0.1 s of samples, and sends the signal after three. */
static GPid record(int *err, int number, const char *name)
{
  g_autofree char *third = g_strdup_printf("%s-00002.dada", name);
  g_autofree char *graph = g_strdup_printf(
      "astroskysrc stations=1 pols=2 bandwidth=64000 frequency=150e6 duration=3600 repeat=4 "
      "block-steps=500 start-time=2026-11-20T12:00:00 ! application/x-astro-voltages,format=CI8\n"
      "! identity sleep-time=2000\n"
      "! astrorecordsink format=dada location=%s-%%i.dada max-file-duration=100000000",
      name);
  write_file("endless.graph", graph, -1);
  GPid pid = start("./endless.graph", err);
  while (!handles_interrupt(pid) || file_size(third) <= 0)
    g_usleep(1000);
  kill(pid, number);
  return pid;
}

/* The steps in the files that have their name, all of which are whole but the last; whether a
 * reader is content with them. */
static guint64 count_steps(const char *name)
{
  guint64 steps = 0;
  gint64 before = HEADER_BYTES + FILE_STEPS * STEP_BYTES, size;
  for (guint i = 0;; i++, before = size) {
    g_autofree char *file = g_strdup_printf("%s-%05u.dada", name, i);
    size = file_size(file);
    if (size < 0)
      break;
    g_assert_cmpint(before, ==, HEADER_BYTES + FILE_STEPS * STEP_BYTES);
    steps += (guint64)(size - HEADER_BYTES) / STEP_BYTES;
  }
  g_autofree char *graph = g_strdup_printf("astrorecordsrc location=%s-*.dada ! fakesink", name);
  write_file("read.graph", graph, -1);
  g_auto(Result) read = run("run ./read.graph");
  g_assert_cmpint(read.status, ==, 0);
  g_assert_null(strstr(read.err, "warning"));
  return steps;
}

/* Each step that came is in a file, and no part is left behind. */
static void test_interrupted(void)
{
  int err;
  GPid pid = record(&err, SIGINT, "interrupted");
  g_assert_cmpint(finish(pid), ==, 0);
  g_autofree char *text = read_all(err);
  const guint64 steps = count_steps("interrupted");
  g_autofree char *buffers =
      g_strdup_printf(" %" G_GUINT64_FORMAT " buffers, ", steps / BLOCK_STEPS);
  g_assert_cmpuint(steps % BLOCK_STEPS, ==, 0);
  g_assert_nonnull(strstr(text, buffers));
  g_auto(Result) parts = run_shell("ls interrupted-*.part");
  g_assert_cmpint(parts.status, !=, 0);
}

/* Files that have their name are whole; the one at work keeps the name of a part. */
static void test_killed(void)
{
  int err;
  GPid pid = record(&err, SIGKILL, "killed");
  g_assert_cmpint(finish(pid), ==, -1);
  close(err);
  const guint64 steps = count_steps("killed");
  g_assert_cmpuint(steps, >=, 3 * FILE_STEPS);
  g_assert_cmpuint(steps % FILE_STEPS, ==, 0);
}

/* The example makes a recording of other bits. */
static void test_example(void)
{
  const char *source = g_getenv("G_TEST_SRCDIR");
  g_autofree char *path = g_build_filename(source ? source : ".", "examples/recordings.sh", NULL);
  if (!can_launch() || !g_file_test(path, G_FILE_TEST_EXISTS)) {
    g_test_skip("needs the sources and GStreamer's own programs, without a sanitizer");
    return;
  }
  g_autofree char *quoted = g_shell_quote(path), *place = g_path_get_dirname(program);
  g_autofree char *script = g_strdup_printf(
      "PATH='%s':$PATH; export GST_REGISTRY_1_0=\"$PWD/example.bin\"; "
      "%s sky.vdif two.vdif vdif bits=2 && test -s two-20261120T120000.000000.vdif && "
      "! %s none.vdif out.dada dada 2>refused && grep -q 'there is no file none.vdif' refused",
      place, quoted, quoted);
  g_auto(Result) result = run_shell(script);
  g_test_message("%s%s", result.out, result.err);
  g_assert_cmpint(result.status, ==, 0);
}

static void add_tests(void)
{
  make_recording();
  g_test_add_func("/recordings/correlate", test_correlate);
  g_test_add_func("/recordings/look", test_look);
  g_test_add_func("/recordings/replay", test_replay);
  g_test_add_func("/recordings/interrupted", test_interrupted);
  g_test_add_func("/recordings/killed", test_killed);
  g_test_add_func("/recordings/example", test_example);
}

int main(int argc, char **argv)
{
  return test_program(argc, argv, add_tests);
}
