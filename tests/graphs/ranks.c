/* Graphs under mpirun: the parameters rank and ranks, equal files, one message from whoever has an
 * error, and an end of all within seconds. */
#include "graphs/graph.h"
#include "tests/elements/ranks.h"
#include "tests/graphs/program.h"

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

/* ---- with MPI ---- */

static gboolean has_ranks(void)
{
#ifndef HAVE_MPI
  g_test_skip("gst-astro was built without MPI");
  return FALSE;
#endif
  return test_has_ranks();
}

static char *command_of(const char *before, const char *arguments)
{
  g_autofree char *quoted = g_shell_quote(program);
  return g_strconcat("cd ", folder, " && ", before, "exec ", quoted, " run ", arguments, NULL);
}

static void assert_same(const char *a, const char *b)
{
  g_autofree char *x = in_folder(a), *y = in_folder(b);
  test_assert_same_files(x, y);
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
}

/* The rank that has the error says it, and the others nothing. */
static void test_error(void)
{
  static const char graph[] = "astrovissrc stations=5 num-buffers=9 ! identity name=i\n"
                              "error-after=${at} ! astroreduce\n! astrofitssink "
                              "location=bad.uvfits\n@at 100 \"when\"\n";
  int status;
  if (!has_ranks())
    return;
  write_file("fails.graph", graph, -1);
  g_autofree char *command = command_of("", "./fails.graph at=$((r == 1 ? 3 : 100))");
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
  g_test_add_func("/graphs-ranks/correlate", test_correlate);
  g_test_add_func("/graphs-ranks/error", test_error);
  g_test_add_func("/graphs-ranks/interrupt", test_interrupt);
}

int main(int argc, char **argv)
{
  return test_program(argc, argv, add_tests);
}
