/* Predictions of `gst-astro plan` for ten graphs beside what they take when they run: seconds of
 * stream for each second of work, of the stages that are planned. A prediction is the best that the
 * machine, measured in the same run, allows. */
#include "config.h"
#include "core/backend/module.h"
#include "core/paths.h"
#include "tests/bench/bench.h"
#include "tests/remove-all.h"

#include <string.h>

/* Each long enough for times of milliseconds. */
static const struct {
  const char *graph, *settings;
  double seconds; /* of stream */
} runs[] = {
  { "filterbank", "bandwidth=1e6", 4 },
  { "correlate", "stations=16 bandwidth=1e6", 4 },
  { "correlate", "stations=64 bandwidth=1e6 format=CI8", 1 },
  { "fringe", "bandwidth=1e6", 4 },
  { "beam", "bandwidth=1e6", 4 },
  { "incoherent", "bandwidth=1e6", 4 },
  { "spectrometer", "bandwidth=1e6", 8 },
  { "voltages", "bandwidth=1e6", 4 },
  { "pulsar", "bandwidth=1e6", 8 },
  { "flag", "bandwidth=1e6", 8 },
};

static char *program, *folder;

/* The output of the program; NULL if it fails, which is told. */
static char *ask(const char *command, guint run, const char *options)
{
  g_autofree char *quoted = g_shell_quote(program), *out = NULL, *err = NULL;
  g_autofree char *line =
      g_strdup_printf("%s %s %s %s duration=%g --machine=here.machine %s", quoted, command,
                      runs[run].graph, runs[run].settings, runs[run].seconds, options);
  g_auto(GStrv) argv = NULL;
  int status = 1;
  if (g_shell_parse_argv(line, NULL, &argv, NULL) &&
      g_spawn_sync(folder, argv, NULL, 0, NULL, NULL, &out, &err, &status, NULL) &&
      g_spawn_check_wait_status(status, NULL))
    return g_steal_pointer(&out);
  printf("%-64s %s\n", runs[run].graph, err ? err : "cannot be run");
  return NULL;
}

/* Seconds of "192 ms". */
static double seconds_of(const char *text)
{
  char *unit;
  const double value = g_ascii_strtod(text, &unit);
  return g_str_equal(unit, " us") ? value * 1e-6 : g_str_equal(unit, " ms") ? value * 1e-3 : value;
}

/* The rows of a table by the names of their elements, as cells; titles gets the first one. */
static GHashTable *read_table(const char *text, GStrv *titles)
{
  g_autoptr(GRegex) gap = g_regex_new("  +", 0, 0, NULL);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  GHashTable *rows =
      g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)g_strfreev);
  for (guint i = 0; lines[i]; i++) {
    GStrv cells = g_regex_split(gap, g_strchomp(lines[i]), 0);
    if (cells[0] && g_str_equal(g_strstrip(cells[0]), "element") && !*titles)
      *titles = cells;
    else if (*titles && cells[0] && g_strv_length(cells) == g_strv_length(*titles))
      g_hash_table_insert(rows, cells[0], cells);
    else
      g_strfreev(cells);
  }
  return rows;
}

static const char *cell_of(GStrv titles, GStrv cells, const char *title)
{
  for (guint i = 0; titles[i]; i++)
    if (g_str_equal(titles[i], title))
      return cells[i];
  return "";
}

/* Adds up, over the stages of a plan that are told, what they should take and what they took.
 * FALSE: there is no such stage. */
static gboolean compare(guint run, const char *plan, const char *stats)
{
  g_auto(GStrv) plan_titles = NULL, stats_titles = NULL;
  g_autoptr(GHashTable) planned = read_table(plan, &plan_titles);
  g_autoptr(GHashTable) ran = read_table(stats, &stats_titles);
  GHashTableIter iter;
  gpointer name, cells;
  double predicted = 0, measured = 0;
  g_hash_table_iter_init(&iter, planned);
  while (g_hash_table_iter_next(&iter, &name, &cells)) {
    const GStrv row = g_hash_table_lookup(ran, name);
    if (!row || !g_str_equal(cell_of(plan_titles, cells, "per"), "second") ||
        strchr(cell_of(plan_titles, cells, "operations"), '?'))
      continue;
    predicted += runs[run].seconds * seconds_of(cell_of(plan_titles, cells, "time"));
    measured += seconds_of(cell_of(stats_titles, row, "busy"));
  }
  g_autofree char *what =
      g_strdup_printf("%s, %u stages, %.3g ms predicted, %.3g measured", runs[run].graph,
                      g_hash_table_size(planned), predicted * 1e3, measured * 1e3);
  if (predicted <= 0 || measured <= 0) {
    printf("%-64s nothing to compare\n", what);
    return FALSE;
  }
  bench_row(what, runs[run].seconds / measured, runs[run].seconds / predicted, "s/s", 0);
  return TRUE;
}

int main(void)
{
  guint compared = 0;
  g_autofree char *machine = NULL;
  program = g_file_test("graphs/gst-astro", G_FILE_TEST_EXISTS)
                ? g_canonicalize_filename("graphs/gst-astro", NULL)
                : astro_relocate(ASTRO_BINDIR "/gst-astro");
  folder = g_dir_make_tmp("gst-astro-bench-XXXXXX", NULL);
  g_autofree char *quoted = g_shell_quote(program),
                  *file = g_build_filename(folder, "here.machine", NULL);
  g_autofree char *line = g_strdup_printf("%s machine", quoted);
  if (!g_spawn_command_line_sync(line, &machine, NULL, NULL, NULL) ||
      !g_file_set_contents(file, machine, -1, NULL))
    return EXIT_FAILURE;
  bench_head("plans beside runs, seconds of stream a second");
  for (guint i = 0; i < G_N_ELEMENTS(runs); i++) {
    g_autofree char *plan = ask("plan", i, ""),
                    *stats = plan ? ask("run", i, "--stats --quiet") : NULL;
    compared += stats && compare(i, plan, stats);
  }
  test_remove_all(folder);
  g_free(folder);
  g_free(program);
  return compared == G_N_ELEMENTS(runs) ? EXIT_SUCCESS : EXIT_FAILURE;
}
