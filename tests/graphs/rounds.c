/* Graphs with rounds: pipelines one after another that pass files on. */
#include "graphs/passes.h"
#include "tests/graphs/interrupted.h"
#include "tests/tests.h"

/* ---- from text to passes ---- */

static GPtrArray *passes_of(const char *text, const char *value, GError **error)
{
  g_autoptr(AstroGraph) graph = astro_graph_parse("g", text, strlen(text), error);
  if (!graph || (value && !astro_graph_set(graph, value, error)) ||
      !astro_graph_settle(graph, error))
    return NULL;
  return astro_passes_of(graph, "/f", error);
}

static char *describe(const GPtrArray *passes)
{
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < passes->len; i++) {
    const AstroPass *pass = passes->pdata[i];
    g_autofree char *line = astro_graph_line(pass->graph, NULL);
    g_string_append_printf(text, "%s[%u %s] %s", i ? "; " : "", pass->pipeline,
                           pass->label ? pass->label : "-", line);
  }
  return g_string_free(text, FALSE);
}

static void test_order(void)
{
  static const char *const cases[][3] = {
    { "a ! b", NULL, "[1 -] a ! b" },
    { "a\n@then\nb", NULL, "[1 pipeline 1] a; [2 pipeline 2] b" },
    { "@round\na\n@round 1\nb", NULL, "[1 pipeline 1] a; [2 pipeline 2, round 1 of 1] b" },
    { "@n 2 \"n\"\n@round \"first\" # why\na\n  @round ${n} \"solve\"\nb x=${round}\n"
      "@then \"image\"\nc y=${folder}/i-${last} z=${n}\n@round\nd\n",
      NULL,
      "[1 first] a; [2 solve, round 1 of 2] b x=1; [3 image, round 1 of 2] c y=/f/i-0 z=2; "
      "[2 solve, round 2 of 2] b x=2; [3 image, round 2 of 2] c y=/f/i-1 z=2; [4 pipeline 4] d" },
    { "@n 2 \"n\"\na\n@round ${n}\nb", "n=0", "[1 pipeline 1] a" },
    { "@n \"\" \"n\"\na\n@if n\n@round ${n}\nb\n@end", NULL, "[1 -] a" },
    { "@n \"\" \"n\"\na\n@if n\n@round ${n}\nb\n@end", "n=1",
      "[1 pipeline 1] a; [2 pipeline 2, round 1 of 1] b" },
    /* In a graph without rounds these names are like any others. */
    { "@round 1 \"p\"\na", NULL, "[1 p, round 1 of 1] a" },
    { "@last 7 \"l\"\na x=${last}", NULL, "[1 -] a x=7" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) passes = passes_of(cases[i][0], cases[i][1], &error);
    g_assert_no_error(error);
    g_autofree char *text = describe(passes);
    g_assert_cmpstr(text, ==, cases[i][2]);
  }
}

static void test_errors(void)
{
  static const char *const cases[][3] = {
    { "@round\n@round\na", NULL, "g:1: no pipeline after this line" },
    { "a\n@round 2", NULL, "g:2: no pipeline after this line" },
    { "@then\na", NULL, "g:1: @then without a pipeline before it" },
    { "a !\n@round\nb", NULL, "g:1: ! has no element after it" },
    { "a\n@round\n! b", NULL, "g:3: ! has no element before it" },
    { "( a\n@round\nb )", NULL, "g:1: ( is not closed" },
    { "a\n@round x\nb", NULL, "g:2: @round x: expected how often, as a number or ${parameter}" },
    { "a\n@round ${n}\nb", NULL, "g:2: @round ${n}: expected a parameter that is declared above" },
    { "a\n@round 2 solve\nb", NULL,
      "g:2: expected a text in double quotes that says what the pipeline does: solve" },
    { "@last 1 \"l\"\na\n@round\nb", NULL,
      "g:1: parameter last: in a graph with rounds ${last} has a meaning of its own, expected "
      "another name" },
    { "a x=${round}", NULL, "g:1: ${round} is not declared: @round default \"help\" declares it" },
    { "a\n@round 1001\nb", NULL,
      "g:2: @round is \"1001\", expected a whole number from 0 to 1000" },
    { "@n 1 \"how often\"\na\n@round ${n}\nb", "n=-1",
      "g:3: parameter n is \"-1\", expected a whole number from 0 to 1000: how often" },
    { "@n 1 \"how often\"\n@round ${n}\nb", "n=0",
      "g: all its pipelines are repeated 0 times, expected one that runs" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(passes_of(cases[i][0], cases[i][1], &error));
    g_assert_cmpstr(error->message, ==, cases[i][2]);
  }
}

/* ---- as a user runs them ---- */

/* Each pipeline copies the file that the one before it has left. */
#define COPIES                                                                                     \
  "# Copies.\n@rounds 3 \"how often\"\n@output out.raw \"the file\"\n"                             \
  "@round \"begin\"\nfakesrc num-buffers=2 sizetype=fixed sizemax=1000 filltype=zero\n"            \
  "! filesink location=${folder}/p-0\n"                                                            \
  "@round ${rounds} \"go on\"\n"                                                                   \
  "filesrc location=${folder}/p-${last} ! filesink location=${folder}/q-${round}\n"                \
  "@then \"and on\"\n"                                                                             \
  "filesrc location=${folder}/q-${round} ! filesink location=${folder}/p-${round}\n"               \
  "@round \"end\"\nfilesrc location=${folder}/p-${rounds} ! filesink location=${output}\n"

static guint count_entries(const char *path)
{
  guint n = 0;
  g_autoptr(GDir) listed = g_dir_open(path, 0, NULL);
  while (listed && g_dir_read_name(listed))
    n++;
  return n;
}

static void test_passing_on(void)
{
  write_file("copies.graph", COPIES, -1);
  g_autofree char *temporary = in_folder("tmp"), *before = g_strdup(g_getenv("TMPDIR"));
  g_mkdir(temporary, 0700);
  g_setenv("TMPDIR", temporary, TRUE);
  g_auto(Result) result = run("run copies.graph --stats");
  if (before)
    g_setenv("TMPDIR", before, TRUE);
  else
    g_unsetenv("TMPDIR");
  g_assert_cmpint(result.status, ==, 0);
  g_assert_cmpint(file_size("out.raw"), ==, 2000);
  g_assert_cmpuint(count_entries(temporary), ==, 0);
  static const char *const tables[] = { "begin:\n", "go on, round 1 of 3:\n",
                                        "and on, round 3 of 3:\n", "end:\n" };
  const char *at = result.out;
  for (guint i = 0; i < G_N_ELEMENTS(tables); i++)
    g_assert_nonnull(at = strstr(at, tables[i]));
  g_assert_nonnull(strstr(result.err, "copies: and on, round 2 of 3: "));
}

static void test_no_rounds(void)
{
  write_file("copies.graph", COPIES, -1);
  g_auto(Result) result = run("run copies.graph rounds=0 output=none.raw --quiet");
  g_assert_cmpint(result.status, ==, 0);
  g_assert_cmpstr(result.err, ==, "");
  g_assert_cmpint(file_size("none.raw"), ==, 2000);
}

static void test_keep(void)
{
  write_file("copies.graph", COPIES, -1);
  g_auto(Result) result = run("run copies.graph rounds=2 --keep kept/here --quiet");
  g_assert_cmpint(result.status, ==, 0);
  g_autofree char *kept = in_folder("kept/here");
  g_assert_cmpuint(count_entries(kept), ==, 5);
  g_assert_cmpint(file_size("kept/here/p-2"), ==, 2000);
  g_auto(Result) useless = run("run good output=good.raw --keep kept --quiet");
  assert_refused(&useless, 1, "passes no files between pipelines");
}

static void test_dot(void)
{
  write_file("copies.graph", COPIES, -1);
  g_auto(Result) result = run("run copies.graph --dot a.dot --quiet");
  g_assert_cmpint(result.status, ==, 0);
  g_assert_cmpint(file_size("a-1.dot"), >, 0);
  g_assert_cmpint(file_size("a-4.dot"), >, 0);
  g_assert_cmpint(file_size("a.dot"), ==, -1);
}

/* The printed commands leave the same file, and nothing else. */
static void test_print(void)
{
  if (!can_launch()) {
    g_test_skip("gst-launch-1.0 cannot load our elements");
    return;
  }
  write_file("copies.graph", COPIES, -1);
  g_autofree char *quoted = g_shell_quote(program);
  g_autofree char *script =
      g_strdup_printf("%s print copies.graph output=printed.raw | sh", quoted);
  g_auto(Result) result = run_shell(script);
  g_assert_cmpint(result.status, ==, 0);
  g_assert_cmpint(file_size("printed.raw"), ==, 2000);
  g_autofree char *left = in_folder("copies.rounds");
  g_assert_false(g_file_test(left, G_FILE_TEST_EXISTS));
}

static void test_show(void)
{
  write_file("copies.graph", COPIES, -1);
  g_auto(Result) result = run("show copies.graph");
  g_assert_cmpint(result.status, ==, 0);
  g_assert_nonnull(strstr(result.out, "rounds=3"));
  g_assert_nonnull(strstr(result.out, "\n@round ${rounds} \"go on\"\n"));
  g_assert_null(strstr(result.out, "folder="));
}

/* A mistake in the last pipeline shows before the first has done anything. */
static void test_checked_first(void)
{
  write_file("late.graph",
             "fakesrc num-buffers=1 sizetype=fixed sizemax=10 ! filesink location=early.raw\n"
             "@round\nfakesrc num-buffers=many ! fakesink\n",
             -1);
  g_auto(Result) value = run("run late.graph --quiet");
  assert_refused(&value, 1, "late.graph:3: could not set property \"num-buffers\"");
  write_file("late.graph",
             "fakesrc num-buffers=1 sizetype=fixed sizemax=10 ! filesink location=early.raw\n"
             "@round 2\nfakesrc num-buffers=1 ! filesink location=none/${round}\n",
             -1);
  g_auto(Result) place = run("run late.graph --quiet");
  assert_refused(&place, 1, "late.graph:3: filesink0 would write to none/1, but folder none");
  g_assert_cmpint(file_size("early.raw"), ==, -1);
}

/* An error names the round, and the rounds after it are not run. */
static void test_error(void)
{
  write_file("fails.graph",
             "@round 3 \"work\"\nfakesrc num-buffers=4 sizetype=fixed sizemax=10\n"
             "! identity error-after=${round} ! filesink location=fails-${round}.raw\n",
             -1);
  g_auto(Result) result = run("run fails.graph --quiet");
  assert_refused(&result, 1, "work, round 1 of 3: identity0: ");
  g_assert_cmpint(file_size("fails-2.raw"), ==, -1);
}

/* Ctrl-C ends the pipeline that runs; the next is not run, which is an error. */
static void test_interrupt(void)
{
  write_file("long.graph",
             "@round 2 \"work\"\nfakesrc is-live=true do-timestamp=true sizetype=fixed sizemax=10\n"
             "! identity sleep-time=1000 ! filesink location=long-${round}.raw\n",
             -1);
  int err;
  GPid pid = start("long.graph", &err);
  for (guint i = 0; i < 10000 && (!handles_interrupt(pid) || file_size("long-1.raw") < 0); i++)
    g_usleep(1000);
  kill(pid, SIGINT);
  g_assert_cmpint(finish(pid), ==, 1);
  g_autofree char *text = read_all(err);
  g_assert_nonnull(
      strstr(text, "interrupted: work, round 2 of 2 and what comes after it was not run"));
  g_assert_cmpint(file_size("long-2.raw"), ==, -1);
}

static void add_tests(void)
{
  g_test_add_func("/graphs-rounds/order", test_order);
  g_test_add_func("/graphs-rounds/errors", test_errors);
  g_test_add_func("/graphs-rounds/passing-on", test_passing_on);
  g_test_add_func("/graphs-rounds/no-rounds", test_no_rounds);
  g_test_add_func("/graphs-rounds/keep", test_keep);
  g_test_add_func("/graphs-rounds/dot", test_dot);
  g_test_add_func("/graphs-rounds/print", test_print);
  g_test_add_func("/graphs-rounds/show", test_show);
  g_test_add_func("/graphs-rounds/checked-first", test_checked_first);
  g_test_add_func("/graphs-rounds/error", test_error);
  g_test_add_func("/graphs-rounds/interrupt", test_interrupt);
}

int main(int argc, char **argv)
{
  test_init_gstreamer(&argc, &argv);
  return test_program(argc, argv, add_tests);
}
