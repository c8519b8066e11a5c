/* How each element handles a stream that is not quite what it expects. The answers are those in
 * doc/misfits.md: refused (an error of the element), accounted (the output or the statistics say
 * what is missing or came again), warned, passed on (what comes out is what came in, or each buffer
 * stands for itself, so that the next element sees the misfit as well), or the same as for a good
 * stream, where that is right. A silent answer that differs from that for a good stream is a
 * failure, and so is one that the page does not have. With MISFITS_PAGE=FILE the table of the page
 * is written there. */
#include "tests/elements/misfit-judging.h"

#define N_STAGES G_N_ELEMENTS(test_misfit_stages)
#define N_MISFITS G_N_ELEMENTS(test_misfits)

static TestMisfitAnswer found[N_MISFITS][N_STAGES];

static char *name_of(const TestMisfitStage *stage)
{
  return g_strndup(stage->element, strcspn(stage->element, " "));
}

static char *row_of(guint misfit)
{
  GString *row = g_string_new("| ");
  g_string_append(row, test_misfits[misfit].name);
  for (guint answer = 0; answer < SILENT; answer++) {
    const char *separator = " | ";
    for (guint s = 0; s < N_STAGES; s++)
      if (found[misfit][s] == answer) {
        g_autofree char *name = name_of(&test_misfit_stages[s]);
        g_string_append_printf(row, "%s%s", separator, name + strlen("astro"));
        separator = ", ";
      }
    if (*separator == ' ')
      g_string_append(row, " |");
  }
  g_string_append(row, " |");
  return g_string_free(row, FALSE);
}

static void try_stage(gconstpointer data)
{
  const guint s = GPOINTER_TO_UINT(data);
  const TestMisfitStage *stage = &test_misfit_stages[s];
  g_autoptr(GPtrArray) items = test_record(stage->stream);
  g_auto(TestMisfitResult) good = test_misfit_run(stage, items);
  gboolean failed = FALSE;

  if (good.error)
    g_error("%s refuses a good stream: %s", stage->element, good.error);
  g_assert_true(test_misfit_has_output(&good));
  const TestLog log = test_log_of_events();
  for (guint m = 0; m < N_MISFITS; m++) {
    g_autoptr(GPtrArray) changed = test_items_copy(items);
    test_misfits[m].apply(changed);
    g_auto(TestMisfitResult) result = test_misfit_run(stage, changed);
    found[m][s] = test_misfit_judge(stage, &test_misfits[m], &good, &result, changed);
    g_test_message("%s: %s%s%s", test_misfits[m].name, test_misfit_answers[found[m][s]],
                   result.error ? ": " : "", result.error ? result.error : "");
    failed |= found[m][s] == SILENT;
  }
  test_log_end(log);
  if (failed)
    g_test_fail_printf("%s gives other answers in silence", stage->element);
}

static void check_page(void)
{
  g_autofree char *path = g_test_build_filename(G_TEST_DIST, "doc", "misfits.md", NULL);
  g_autofree char *page = NULL;
  g_autoptr(GString) table = g_string_new(NULL);
  const char *wanted = g_getenv("MISFITS_PAGE");

  for (guint m = 0; m < N_MISFITS; m++) {
    g_autofree char *row = row_of(m);
    g_string_append_printf(table, "%s\n", row);
  }
  if (wanted)
    g_assert_true(g_file_set_contents(wanted, table->str, -1, NULL));
  if (!g_file_get_contents(path, &page, NULL, NULL)) {
    g_test_skip("doc/misfits.md is not installed");
    return;
  }
#if !defined HAVE_HDF5 || !defined HAVE_CASACORE || !defined HAVE_MPI
  g_test_skip("astrouvh5sink, astromssink or astroreduce, which doc/misfits.md has, is not built");
  return;
#endif
  for (guint m = 0; m < N_MISFITS; m++) {
    g_autofree char *row = row_of(m);
    if (!strstr(page, row))
      g_test_fail_printf("doc/misfits.md does not have: %s", row);
  }
}

static void add_tests(void)
{
  for (guint s = 0; s < N_STAGES; s++) {
    g_autofree char *name = name_of(&test_misfit_stages[s]);
    g_autofree char *path = g_strdup_printf("/misfits/%s", name);
    g_test_add_data_func(path, GUINT_TO_POINTER(s), try_stage);
  }
  g_test_add_func("/misfits/page", check_page);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
