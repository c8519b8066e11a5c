/* Graphs under mpirun: the parameters rank and ranks, one message from whoever has an error, and an
 * end of all within seconds. */
#include "graphs/graph.h"
#include "graphs/job.h"
#include "tests/graphs/mpi.h"

/* ---- without MPI ---- */

static char *line_of(const char *text, const char *value)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroGraph) graph = astro_graph_parse("g", text, strlen(text), &error);
  if (graph && (!value || astro_graph_set(graph, value, &error)) &&
      astro_graph_settle(graph, &error))
    return astro_graph_line(graph, NULL);
  return g_strdup(error->message);
}

static void test_parameters(void)
{
#define SHARE "a\n@if ranks\n! b x=${rank}/${ranks}\n@end\n! c"
  static const struct {
    const char *rank, *ranks, *text, *value, *expected;
  } cases[] = {
    { NULL, NULL, SHARE, NULL, "a ! c" },
    { "1", "3", SHARE, NULL, "a ! b x=1/3 ! c" },
    { "1", "3", SHARE, "rank=2", "a ! b x=2/3 ! c" },
    { "1", "3", SHARE, "ranks=", "a ! c" },
    { NULL, NULL, SHARE, "ranks=4", "a ! b x=0/4 ! c" },
    { NULL, NULL, SHARE, "rank=1", "g: parameter rank is not used without ranks" },
    { "1", "3", "a x=${rank}", NULL, "a x=1" },
    { NULL, NULL, "a x=${rank}", NULL, "a x=0" },
    { "1", "3", "a", "ranks=2", "g: no parameter ranks; it has none" },
    { NULL, NULL, "@rank 1 \"r\"\na x=${rank}", NULL,
      "g:1: parameter rank: ${rank} has a meaning of its own in every graph, expected another "
      "name" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    if (cases[i].rank) {
      g_setenv("OMPI_COMM_WORLD_RANK", cases[i].rank, TRUE);
      g_setenv("OMPI_COMM_WORLD_SIZE", cases[i].ranks, TRUE);
    }
    g_autofree char *line = line_of(cases[i].text, cases[i].value);
    g_assert_cmpstr(line, ==, cases[i].expected);
    g_unsetenv("OMPI_COMM_WORLD_RANK");
    g_unsetenv("OMPI_COMM_WORLD_SIZE");
  }
}

static void test_gpus(void)
{
  static const struct {
    const char *visible;
    guint n, rank;
    const char *expected;
  } cases[] = {
    { NULL, 0, 3, "" },     { NULL, 1, 3, "0" },
    { NULL, 2, 1, "1,0" },  { NULL, 4, 6, "2,3,0,1" },
    { "", 4, 1, "" },       { "5", 8, 1, "5" },
    { "2,3", 8, 1, "3,2" }, { "GPU-a,GPU-b", 2, 3, "GPU-b,GPU-a" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *order = astro_job_order_gpus(cases[i].visible, cases[i].n, cases[i].rank);
    g_assert_cmpstr(order, ==, cases[i].expected);
  }
}

/* ---- with MPI ---- */

/* Each rank says what it exchanged with the others, in less time than there was. */
static void assert_exchanged(const char *said, guint ranks)
{
  guint64 sent = 0, got = 0;
  for (guint rank = 0; rank < ranks; rank++) {
    g_autofree char *begins = g_strdup_printf("rank %u of %u sent ", rank, ranks);
    g_auto(GStrv) parts = g_strsplit(said, begins, -1);
    g_assert_cmpuint(g_strv_length(parts), ==, 2);
    const char *bytes = strstr(parts[1], "got "), *moving = strstr(parts[1], "on the way"),
               *share = moving ? strchr(moving, '(') : NULL;
    g_assert_true(bytes && share);
    sent += g_ascii_strtod(parts[1], NULL) > 0;
    got += g_ascii_strtod(bytes + strlen("got "), NULL) > 0;
    g_assert_cmpfloat(g_ascii_strtod(share + 1, NULL), >, 0);
    g_assert_cmpfloat(g_ascii_strtod(share + 1, NULL), <=, 100);
  }
  g_assert_cmpuint(sent, >=, ranks - 1);
  g_assert_cmpuint(got, >, 0);
}

#define CORRELATE "correlate stations=6 duration=0.05 integration=100 channels=10 format=CI8 "

/* Work is shared, too: a rank's correlator gets a part of the spectra. */
static void test_correlate(void)
{
  int status;
  if (!has_ranks())
    return;
  g_autofree char *one = command_of("", CORRELATE "--quiet output=1.uvfits"),
                  *three = command_of("", CORRELATE "--stats centre=240,40 output=3.uvfits"),
                  *again = command_of("", CORRELATE "--quiet centre=240,40 output=0.uvfits"),
                  *two = command_of("", CORRELATE "output=2.uvfits");
  test_ranks(1, one);
  test_ranks(2, two);
  assert_same("1.uvfits", "2.uvfits");
  test_ranks(1, again);
  g_autofree char *said = test_run_ranks(3, three, &status);
  g_test_message("%s", said);
  g_assert_cmpint(status, ==, 0);
  assert_same("0.uvfits", "3.uvfits");
  g_auto(GStrv) tables = g_strsplit(said, "astrocorrelator0", -1);
  g_assert_cmpuint(g_strv_length(tables), ==, 4);
  g_auto(GStrv) files = g_strsplit(said, "3.uvfits: format", -1);
  g_assert_cmpuint(g_strv_length(files), ==, 2);
  assert_exchanged(said, 3);
}

/* ---- pairs ---- */

#define PAIRS "tpacf points=2000 randoms=3 regions=4 plot=p.png "

/* The numbers of pairs in the tables of all ranks. */
static guint64 sum_pairs(const char *said, guint ranks)
{
  g_auto(GStrv) parts = g_strsplit(said, "pairs counted ", -1);
  guint64 sum = 0;
  g_test_message("%s", said);
  g_assert_cmpuint(g_strv_length(parts), ==, ranks + 1);
  for (guint i = 1; i <= ranks; i++)
    sum += g_ascii_strtoull(parts[i], NULL, 10);
  for (guint i = 1; i <= ranks; i++) /* each has a fair part */
    g_assert_cmpuint(2 * ranks * g_ascii_strtoull(parts[i], NULL, 10), >, sum);
  return sum;
}

/* Ranks count all pairs together, and each of them once. */
static void test_pairs(void)
{
  const guint64 expected = 2000 * 1999 / 2 * 4 + (guint64)2000 * 2000 * 3;
  if (!has_ranks())
    return;
  for (guint ranks = 1; ranks <= 3; ranks++) {
    int status;
    g_autofree char *output = g_strdup_printf(PAIRS "--stats output=p%u.csv", ranks);
    g_autofree char *command = command_of("", output);
    g_autofree char *said = test_run_ranks(ranks, command, &status);
    g_assert_cmpint(status, ==, 0);
    g_assert_cmpuint(sum_pairs(said, ranks), ==, expected);
    if (ranks > 1)
      assert_exchanged(said, ranks);
  }
  assert_same("p1.csv", "p2.csv");
  assert_same("p1.csv", "p3.csv");
}

/* ---- what goes wrong ---- */

/* Commands of the ranks, and how often the message comes. */
static void test_refused_jobs(void)
{
  static const struct {
    const char *arguments, *says;
  } cases[] = {
    { "./plain.graph", "it does not say how ranks share its work" },
    { CORRELATE "ranks=3", "ranks=3, and in this job it is 2" },
    { "image input=v.uvfits cycles=1", "passes files between pipelines" },
    { "correlate stations=$((r + 6))", "rank 1 has stations=7 and rank 0 stations=6" },
    { "$([ $r = 0 ] && echo correlate || echo ./other.graph) ", "rank 1 has graph other" },
  };
  if (!has_ranks())
    return;
  write_file("plain.graph", "astrovissrc num-buffers=2 ! fakesink\n", -1);
  write_file("other.graph", "astrovissrc num-buffers=2 ! astroreduce ! fakesink\n", -1);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    int status;
    g_autofree char *command = command_of("", cases[i].arguments);
    const gint64 begun = g_get_monotonic_time();
    g_autofree char *said = test_run_ranks(2, command, &status);
    g_test_message("%s", said);
    g_assert_cmpint(status, !=, 0);
    g_assert_cmpint(g_get_monotonic_time() - begun, <, 60 * G_USEC_PER_SEC);
    g_auto(GStrv) parts = g_strsplit(said, cases[i].says, -1);
    g_assert_cmpuint(g_strv_length(parts), ==, 2);
  }
  g_auto(Result) alone = run("run " CORRELATE "ranks=2");
  g_assert_cmpint(alone.status, ==, 1);
  test_says(alone.err, "ranks=2, and in this job it is 1");
}

/* The rank that has the error says it, and the others nothing. */
static void test_error(void)
{
  static const char graph[] = "astrovissrc stations=5 num-buffers=1 ! identity name=i\n"
                              "error-after=${rank} ! astroreduce\n! astrofitssink "
                              "location=bad.uvfits\n";
  int status;
  if (!has_ranks())
    return;
  write_file("fails.graph", graph, -1);
  g_autofree char *command = command_of("", "./fails.graph");
  g_autofree char *said = test_run_ranks(3, command, &status);
  g_test_message("%s", said);
  g_assert_cmpint(status, !=, 0);
  g_assert_cmpint(status, !=, 124);
  test_says(said, "i: Failed after iterations as requested");
  g_assert_null(strstr(said, "has stopped"));
  g_auto(GStrv) parts = g_strsplit(said, "as requested", -1);
  g_assert_cmpuint(g_strv_length(parts), ==, 2);
  g_assert_cmpint(file_size("bad.uvfits"), ==, -1);
}

/* How many moments of a run a rank is killed at: more of them by hand. */
static guint n_moments(void)
{
  const char *text = g_getenv("ASTRO_TEST_MOMENTS");
  return text ? (guint)g_ascii_strtoull(text, NULL, 10) : 3;
}

/* Not there, or with its end: that of a FITS file fills its last block. */
static gboolean is_none_or_whole(const char *name)
{
  static const char last[] = "IEND\xae\x42\x60\x82";
  g_autofree char *path = in_folder(name), *bytes = NULL;
  gsize n;
  if (!g_file_get_contents(path, &bytes, &n, NULL))
    return TRUE;
  if (g_str_has_suffix(name, ".csv"))
    return n > 0 && bytes[n - 1] == '\n';
  if (g_str_has_suffix(name, ".png"))
    return n > sizeof last && memcmp(bytes + n - sizeof last + 1, last, sizeof last - 1) == 0;
  return n > 0 && n % 2880 == 0;
}

/* A rank that dies, whenever that is, ends the others, and no file has a part of the work. */
static void test_killed(void)
{
  static const char *const graphs[] = {
    "synthesis stations=12 size=256 output=k.uvfits image=k.fits picture=k.png --quiet",
    "tpacf points=20000 randoms=20 output=k.csv plot=k.png --quiet",
  };
  static const char *const files[] = { "k.uvfits", "k.fits", "k.png", "k.csv" };
  if (!has_ranks())
    return;
  for (guint moment = 0; moment < n_moments(); moment++) {
    int status;
    g_autofree char *kill = g_strdup_printf("[ $r != %u ] || { sleep %.2f; kill -9 $$; } & ",
                                            moment % 3, 0.1 + 1.5 * moment / n_moments());
    g_autofree char *command = command_of(kill, graphs[moment % 2]);
    for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
      g_autofree char *path = in_folder(files[i]);
      g_unlink(path);
    }
    const gint64 begun = g_get_monotonic_time();
    g_autofree char *said = test_run_ranks(3, command, &status);
    const double seconds = (double)(g_get_monotonic_time() - begun) / G_USEC_PER_SEC;
    g_test_message("moment %u: status %d after %.1f s", moment, status, seconds);
    g_assert_cmpint(status, !=, 124);
    g_assert_cmpfloat(seconds, <, 60);
    for (guint i = 0; i < G_N_ELEMENTS(files); i++)
      g_assert_true(is_none_or_whole(files[i]));
  }
}

/* An interrupt of one rank ends all, at once. */
static void test_interrupt(void)
{
  int status;
  if (!has_ranks())
    return;
  g_autofree char *command = command_of("[ $r = 0 ] || { sleep 1; kill -INT $$; } & ",
                                        "correlate stations=6 duration=0 output=cut.uvfits");
  const gint64 begun = g_get_monotonic_time();
  g_autofree char *said = test_run_ranks(2, command, &status);
  g_test_message("%s", said);
  g_assert_cmpint(status, !=, 0);
  g_assert_cmpint(g_get_monotonic_time() - begun, <, 60 * G_USEC_PER_SEC);
  g_assert_cmpint(file_size("cut.uvfits"), ==, -1);
}

static void add_tests(void)
{
  test_allow_ranks();
  g_test_add_func("/graphs-ranks/parameters", test_parameters);
  g_test_add_func("/graphs-ranks/gpus", test_gpus);
  g_test_add_func("/graphs-ranks/correlate", test_correlate);
  g_test_add_func("/graphs-ranks/pairs", test_pairs);
  g_test_add_func("/graphs-ranks/refused", test_refused_jobs);
  g_test_add_func("/graphs-ranks/killed", test_killed);
  g_test_add_func("/graphs-ranks/error", test_error);
  g_test_add_func("/graphs-ranks/interrupt", test_interrupt);
}

int main(int argc, char **argv)
{
  return test_program(argc, argv, add_tests);
}
