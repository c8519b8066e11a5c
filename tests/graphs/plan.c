/* Plans: their counts are those of formulas and of real runs, and nothing is run or written. */
#include "tests/graphs/program.h"
#include "tests/near.h"

#define MACHINE(more)                                                                              \
  "[machine]\nname=a test\nsource=made up\n[host]\nmemory=1e10\nbandwidth=1e9\nint8=1e9\n"         \
  "float=1e9\npower=10\n" more

/* The cell in the row that begins with that name; the title is that of the first such column. */
static char *cell_of(const char *table, const char *row, const char *title, guint which)
{
  g_auto(GStrv) lines = g_strsplit(table, "\n", -1);
  g_autoptr(GRegex) gap = g_regex_new("  +", 0, 0, NULL);
  gint column = -1;
  for (guint i = 0; lines[i]; i++) {
    g_auto(GStrv) cells = g_regex_split(gap, lines[i], 0);
    if (cells[0] && g_str_equal(cells[0], "element"))
      for (guint j = 0, n = 0; cells[j]; j++)
        if (g_str_equal(g_strstrip(cells[j]), title) && n++ == which)
          column = (gint)j;
    if (cells[0] && g_str_equal(cells[0], row)) {
      g_assert_cmpint(column, >=, 0);
      return g_strdup(g_strstrip(cells[column]));
    }
  }
  g_error("no row %s in %s", row, table);
}

static void assert_cell(const char *table, const char *row, const char *title, const char *expected)
{
  g_autofree char *found = cell_of(table, row, title, 0);
  g_assert_cmpstr(found, ==, expected);
}

/* A graph whose stages lose nothing at the ends: a plain FFT, and whole integrations. */
#define GRAPH                                                                                      \
  "@backend auto \"who\"\n"                                                                        \
  "astroskysrc stations=3 bandwidth=1e6 duration=1 ! application/x-astro-voltages,format=CI8\n"    \
  "! astrochannelizer name=fft channels=64 taps=1 backend=${backend}\n"                            \
  "! application/x-astro-spectra,format=CI8\n"                                                     \
  "! tee name=spectra\n"                                                                           \
  "spectra. ! queue ! astropower name=power products=I integration=125 ! filesink "                \
  "location=p.f32\n"                                                                               \
  "spectra. ! queue ! astrotranspose name=turn ! astrocorrelator name=correlator "                 \
  "integration=625\n"                                                                              \
  "! fakesink\n"

static void test_counts(void)
{
  write_file("small.graph", GRAPH, -1);
  write_file("test.machine", MACHINE(""), -1);
  g_auto(Result) plan = run("plan ./small.graph --machine test.machine");
  g_assert_cmpint(plan.status, ==, 0);
  g_assert_cmpstr(plan.err, ==, "");
  /* 6 inputs of a million samples: 2 multiplications each, and 5 n log2(n) for each spectrum. */
  assert_cell(plan.out, "fft", "operations", "192 M");
  assert_cell(plan.out, "fft", "held by", "float");
  assert_cell(plan.out, "fft", "time", "192 ms");
  assert_cell(plan.out, "fft", "energy", "1.92 J");
  assert_cell(plan.out, "fft", "op/byte", "8");
  /* 8 and a sum for each of 3 million samples, and a division for each of 125 x 3 x 64 means. */
  assert_cell(plan.out, "power", "operations", "27 M");
  assert_cell(plan.out, "turn", "operations", "0");
  assert_cell(plan.out, "turn", "held by", "memory");
  /* 6 pairs of stations, 4 products, a million samples, 8 operations. */
  assert_cell(plan.out, "correlator", "operations", "192 M");
  assert_cell(plan.out, "correlator", "held by", "int8");
  g_assert_nonnull(strstr(plan.out, "machine: a test\n"));
  /* 192 + 27.024 + 24 + 192 ms. */
  g_assert_nonnull(strstr(plan.out, "the host's cores and memory 43.5%, the disk not known\n"));
  g_assert_nonnull(strstr(plan.out, "largest band in real time: 2.3 MHz (this graph has 1 MHz)"));
  g_assert_nonnull(strstr(plan.out, "machines for this band: 1\n"));
  g_assert_cmpint(file_size("p.f32"), ==, -1);
}

/* The bytes of a second are those that go in and out of each stage in a run of a second. */
static void test_bytes(void)
{
  static const char *const stages[] = { "fft", "power", "turn", "correlator" };
  write_file("small.graph", GRAPH, -1);
  write_file("test.machine", MACHINE(""), -1);
  g_auto(Result) plan = run("plan ./small.graph --machine test.machine");
  g_auto(Result) real = run("run ./small.graph --stats --quiet");
  g_assert_cmpint(real.status, ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS(stages); i++) {
    g_autofree char *in = cell_of(plan.out, stages[i], "bytes in", 0);
    g_autofree char *out = cell_of(plan.out, stages[i], "out", 0);
    g_autofree char *real_in = cell_of(real.out, stages[i], "bytes in", 0);
    g_autofree char *real_out = cell_of(real.out, stages[i], "out", 1);
    g_assert_cmpstr(in, ==, real_in);
    g_assert_cmpstr(out, ==, real_out);
  }
}

/* Blocks cross the bus where they come from the host or are read there, and not between stages on
 * the GPU, whatever is between those. */
static void test_bus(void)
{
  write_file("small.graph", GRAPH, -1);
  write_file("gpu.machine",
             MACHINE("[device]\ndevices=1\nname=g\nmemory=1e10\nbandwidth=1e12\nfloat=1e13\n"
                     "int8=1e14\npower=300\n[bus]\nup=1e9\ndown=1e9\n"),
             -1);
  g_auto(Result) plan = run("plan ./small.graph --machine=gpu.machine");
  g_assert_cmpint(plan.status, ==, 0);
  assert_cell(plan.out, "fft", "bus", "12.0 MB");
  assert_cell(plan.out, "fft", "held by", "bus to GPU");
  assert_cell(plan.out, "fft", "time", "12 ms");
  assert_cell(plan.out, "turn", "bus", "-");
  assert_cell(plan.out, "power", "bus", "96.0 kB");
  assert_cell(plan.out, "correlator", "bus", "307 kB");
  g_assert_nonnull(strstr(plan.out, "bottleneck: the bus to the GPU; one machine keeps up"));
  g_auto(Result) host = run("plan ./small.graph backend=cpu --machine=gpu.machine");
  assert_cell(host.out, "fft", "on", "host");
  assert_cell(host.out, "fft", "bus", "-");
  assert_cell(host.out, "power", "bus", "12.1 MB");
}

/* Shipped machines can be planned for, without GPUs here, and more stations need more of them. */
static void test_shipped(void)
{
  static const char *const machines[] = { "h100", "h200", "server-64" };
  for (guint i = 0; i < G_N_ELEMENTS(machines); i++) {
    g_auto(Result) plan = run("plan correlate stations=64 format=CI8 --machine %s", machines[i]);
    g_assert_cmpint(plan.status, ==, 0);
    g_assert_cmpstr(plan.err, ==, "");
  }
  g_auto(Result) large = run("plan correlate stations=512 format=CI8 frequency=8e8 bandwidth=4e8 "
                             "channels=1024 integration-time=1 --machine h100");
  g_assert_nonnull(strstr(large.out, "one machine does not keep up"));
  g_assert_nonnull(strstr(large.out, "machines for this band: 15\n"));
  g_auto(Result) images = run("plan synthesis --machine h100");
  g_assert_cmpint(images.status, ==, 0);
  g_assert_nonnull(strstr(images.out, "not counted: astroclean0: cycles after the first"));
  g_assert_nonnull(strstr(images.out, "one machine keeps up with what is counted\n"));
}

/* Elements with several inputs agree on caps once all inputs have said theirs, so that stages
 * behind them are planned too; a count of pairs says what cannot be planned. */
static void test_merged(void)
{
  static const char source[] =
      "astroskysrc stations=2 bandwidth=1e6 duration=1 ! astrochannelizer channels=64 ! "
      "astropower products=I integration=10 ! ";
  g_autofree char *text = g_strdup_printf(
      "astroadd name=sum ! astrodedisperse name=later dm=10 ! fakesink\n%s sum.sink_0\n%s "
      "sum.sink_1\n",
      source, source);
  write_file("merged.graph", text, -1);
  write_file("test.machine", MACHINE(""), -1);
  g_auto(Result) sum = run("plan ./merged.graph --machine test.machine");
  g_assert_cmpint(sum.status, ==, 0);
  /* 64 channels of 2 stations, 1562.5 times a second: 2 times 3 operations, and a quotient. */
  assert_cell(sum.out, "sum", "operations", "1.4 M");
  assert_cell(sum.out, "sum", "bytes in", "1.60 MB");
  assert_cell(sum.out, "later", "bytes in", "800 kB");
  g_auto(Result) pairs = run("plan tpacf --machine test.machine");
  g_assert_cmpint(pairs.status, ==, 0);
  g_assert_nonnull(strstr(pairs.out, "separations of pairs, as many as the points of catalogues"));
}

/* Each pipeline of a graph with rounds once; one that reads what an earlier one writes says so. */
static void test_rounds(void)
{
  static const char text[] =
      "@round \"observe\"\nastroskysrc stations=2 bandwidth=1e6 duration=1 ! astrochannelizer "
      "name=first channels=64 ! filesink location=${folder}/a.raw\n"
      "@round 3 \"again\"\nastroskysrc stations=2 bandwidth=1e6 duration=1 ! astrochannelizer "
      "name=second channels=32 ! fakesink\n"
      "@round \"read\"\nastrofitssrc location=${folder}/b.fits ! astropower ! fakesink\n";
  write_file("rounds.graph", text, -1);
  write_file("test.machine", MACHINE(""), -1);
  g_auto(Result) plan = run("plan ./rounds.graph --machine test.machine");
  g_assert_cmpint(plan.status, ==, 0);
  g_assert_true(g_str_has_prefix(plan.out, "observe\nmachine: a test\n"));
  assert_cell(plan.out, "first", "bytes in", "8.00 MB");
  const char *second = strstr(plan.out, "\nsecond ");
  g_assert_nonnull(second);
  g_assert_null(strstr(second + 1, "\nsecond "));
  g_assert_nonnull(strstr(plan.out, "\nnot planned: astrofitssrc"));
}

static void test_refused(void)
{
  write_file("small.graph", GRAPH, -1);
  write_file("test.machine", MACHINE(""), -1);
  write_file("bad.machine", MACHINE("speed=1\n"), -1);
  write_file("none.graph", "fakesrc num-buffers=1 ! fakesink\n", -1);
  g_auto(Result) cuda = run("plan ./small.graph backend=cuda --machine test.machine");
  assert_refused(&cuda, 1, "fft: backend=cuda, and the machine that is planned for has no GPU");
  g_auto(Result) opencl = run("plan ./small.graph backend=opencl --machine test.machine");
  assert_refused(&opencl, 1, "fft: backend=opencl, and machines are described by their CPU");
  g_auto(Result) unknown = run("plan correlate --machine h300");
  assert_refused(&unknown, 1, "no machine h300, expected h100, h200, server-64, or a file");
  g_auto(Result) bad = run("plan correlate --machine bad.machine");
  assert_refused(&bad, 1, "bad.machine: there is no field speed in [host]");
  g_auto(Result) wrong = run("plan correlate channels=1 --machine test.machine");
  assert_refused(&wrong, 1, "astrochannelizer0: channelizer: 1 channels, expected 2 to");
  g_auto(Result) empty = run("plan ./none.graph --machine test.machine");
  assert_refused(&empty, 1, ": its stream is only known once data comes");
}

/* A file that a stage opens when it starts stays what it was. */
static void test_writes_nothing(void)
{
  write_file("test.machine", MACHINE(""), -1);
  write_file("candidates.csv", "mine\n", -1);
  g_auto(Result) plan =
      run("plan search duration=0.1 output=candidates.csv --machine test.machine");
  g_autofree char *path = in_folder("candidates.csv"), *kept = NULL;
  g_assert_cmpstr(plan.status ? plan.err : "", ==, "");
  g_assert_true(g_file_get_contents(path, &kept, NULL, NULL));
  g_assert_cmpstr(kept, ==, "mine\n");
}

/* The list of stages that have a CUDA backend is that of the sources. */
static void test_cuda_stages(void)
{
  const char *source = g_getenv("G_TEST_SRCDIR");
  g_autofree char *stages = g_build_filename(source ? source : ".", "gpu", NULL);
  g_autofree char *file = g_build_filename(source ? source : ".", "graphs", "plan-roofs.c", NULL);
  g_autoptr(GDir) gpu = g_dir_open(stages, 0, NULL);
  g_autofree char *text = NULL;
  if (!gpu || !g_file_get_contents(file, &text, NULL, NULL)) {
    g_test_skip("the sources are not here");
    return;
  }
  for (const char *name; (name = g_dir_read_name(gpu));) {
    g_autofree char *path = g_build_filename(stages, name, NULL);
    g_autofree char *quoted = g_strdup_printf("\"%s\"", name);
    if (g_file_test(path, G_FILE_TEST_IS_DIR) && !g_str_equal(name, "runtime") &&
        !g_str_equal(name, "lib"))
      g_assert_nonnull(strstr(text, quoted));
  }
}

/* --stats holds stages to the same bounds: the part of the bound times the time that a stage was
 * busy is the time that the plan tells, however fast this machine is. */
static void test_stats(void)
{
  enum { SECONDS = 20 }; /* so that times are longer than the milliseconds of the table */
  g_autoptr(GString) longer = g_string_new(GRAPH);
  g_assert_cmpuint(g_string_replace(longer, "duration=1 ", "duration=20 ", 0), ==, 1);
  write_file("small.graph", longer->str, -1);
  write_file("slow.machine", MACHINE(""), -1);
  g_auto(Result) plain = run("run ./small.graph --stats backend=cpu");
  g_assert_null(strstr(plain.out, "of bound"));
  g_auto(Result) held = run("run ./small.graph --stats --machine slow.machine backend=cpu");
  g_assert_cmpstr(held.status ? held.err : "", ==, "");
  g_autofree char *bound = cell_of(held.out, "fft", "bound", 0),
                  *part = cell_of(held.out, "fft", "of bound", 0),
                  *busy = cell_of(held.out, "fft", "busy", 0),
                  *correlator = cell_of(held.out, "correlator", "bound", 0);
  g_assert_cmpstr(bound, ==, "float");
  g_assert_cmpstr(correlator, ==, "int8");
  assert_cell(held.out, "astroskysrc0", "of bound", "-");
  g_auto(Result) alone = run("run ./small.graph --machine slow.machine");
  assert_refused(&alone, 1, "--machine is for the table of --stats");
  g_auto(Result) unknown = run("run ./small.graph --stats --machine h10");
  assert_refused(&unknown, 1, "no machine h10");
  const double seconds = g_ascii_strtod(busy, NULL);
  if (seconds < 0.02) {
    g_test_skip("this machine is too fast for times of whole milliseconds");
    return;
  }
  const double expected = 0.192 * SECONDS;
  test_near(g_ascii_strtod(part, NULL) / 100 * seconds, expected,
            expected * (0.01 + 0.0005 / seconds));
}

static void add_tests(void)
{
  g_test_add_func("/plan/counts", test_counts);
  g_test_add_func("/plan/bytes", test_bytes);
  g_test_add_func("/plan/writes-nothing", test_writes_nothing);
  g_test_add_func("/plan/bus", test_bus);
  g_test_add_func("/plan/shipped", test_shipped);
  g_test_add_func("/plan/merged", test_merged);
  g_test_add_func("/plan/rounds", test_rounds);
  g_test_add_func("/plan/stats", test_stats);
  g_test_add_func("/plan/refused", test_refused);
  g_test_add_func("/plan/cuda-stages", test_cuda_stages);
}

int main(int argc, char **argv)
{
  return test_program(argc, argv, add_tests);
}
