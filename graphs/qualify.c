/* gst-astro qualify: says what holds on this machine, with nothing but what is installed. */
#include "config.h"
#include "graphs/qualify.h"
#include "core/backend/cpu.h"
#include "core/backend/module.h"
#include "graphs/find.h"
#include "graphs/format.h"
#include "graphs/machine.h"
#include "graphs/qualify-elements.h"
#include "graphs/qualify-exact.h"
#include "graphs/qualify-meter.h"
#include "graphs/qualify-report.h"
#include "graphs/qualify-seeds.h"
#include "graphs/qualify-streams.h"
#include "graphs/table.h"

#include <gst/gst.h>
#include <math.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#define SEED 20261126
#define QUICK_CASES 4 /* of each kind of shape */
#define WHOLE_CASES 100
#define WHOLE_PIPELINES 12 /* as many, of elements that are compared in pipelines; quick: 1 */

/* ---- inventory ---- */

static char *processor(void)
{
  g_autofree char *text = NULL;
  g_autoptr(GMatchInfo) match = NULL;
  g_autoptr(GRegex) name = g_regex_new("^model name\\s*: (.*)$", G_REGEX_MULTILINE, 0, NULL);
  if (g_file_get_contents("/proc/cpuinfo", &text, NULL, NULL) &&
      g_regex_match(name, text, 0, &match))
    return g_match_info_fetch(match, 1);
  return g_strdup("a processor without a name");
}

static char *device_text(void)
{
  const AstroModule *module = astro_module_get(NULL);
  char *text = module && module->n_devices(NULL) > 0 ? module->describe(0) : NULL;
  return text ? text : g_strdup("no GPU");
}

static char *host_text(const AstroMachine *machine)
{
  g_autofree char *name = processor(), *memory = astro_format_bytes(machine->host.memory),
                  *bandwidth = astro_format_bytes(machine->host.bandwidth), *device = device_text();
  return g_strdup_printf("%s: %s, %.0f cores, kernels up to %s, %s at %s/s; %s", machine->name,
                         name, machine->cores, astro_cpu_level_name(astro_cpu_level()), memory,
                         bandwidth, device);
}

static char *version_text(void)
{
  struct utsname system;
  g_autofree char *gstreamer = gst_version_string();
  g_autoptr(GDateTime) now = g_date_time_new_now_utc();
  g_autofree char *day = g_date_time_format(now, "%FT%TZ");
  uname(&system);
  return g_strdup_printf("gst-astro %s, %s, GLib %u.%u.%u, %s %s, %s", PACKAGE_VERSION, gstreamer,
                         glib_major_version, glib_minor_version, glib_micro_version, system.sysname,
                         system.release, day);
}

/* ---- results ---- */

/* The energy of timed work is told beside each rate. */
static AstroQualifyResult *energy_result(void)
{
  AstroQualifyResult *result = astro_qualify_result_new("energy", "counters");
  result->remark = astro_qualify_meter_lacks();
  result->state = result->remark ? ASTRO_QUALIFY_NOT_RUN : ASTRO_QUALIFY_PASS;
  return result;
}

/* On a terminal alone, since nobody else waits. */
static void note(const AstroArguments *arguments, const char *what)
{
  if (!arguments->quiet && isatty(STDERR_FILENO))
    fprintf(stderr, "qualify: %s\n", what);
}

static void run_stages(const AstroArguments *arguments, const AstroMachine *machine,
                       const char *folder, GPtrArray *results)
{
  for (const AstroQualifyStage *stage = astro_qualify_stages; stage->stage; stage++) {
    note(arguments, stage->stage);
    astro_qualify_exact(stage, arguments->quick ? QUICK_CASES : WHOLE_CASES, SEED, results);
    astro_qualify_rate(stage, machine, SEED, results);
  }
  for (const AstroQualifyElement *row = astro_qualify_elements; row->element; row++) {
    note(arguments, row->element);
    astro_qualify_element_exact(row, arguments->quick ? 1 : WHOLE_PIPELINES, SEED, folder, results);
    astro_qualify_element_rate(row, machine, arguments->quick, folder, results);
  }
}

static GPtrArray *run_all(const AstroArguments *arguments, const AstroMachine *machine,
                          GError **error)
{
  g_autofree char *folder = g_dir_make_tmp("gst-astro-qualify-XXXXXX", error);
  if (!folder)
    return NULL;
  GPtrArray *results = g_ptr_array_new_with_free_func(astro_qualify_result_free);
  run_stages(arguments, machine, folder, results);
  g_ptr_array_add(results, energy_result());
  note(arguments, "images");
  astro_qualify_images(arguments->quick, SEED, folder, results);
  note(arguments, "losses");
  astro_qualify_losses(folder, SEED, results);
  note(arguments, "interrupt, kill, full disk");
  astro_qualify_stops(folder, results);
  note(arguments, "peers");
  astro_qualify_peers(folder, results);
  if (!arguments->quick) {
    note(arguments, "published experiments");
    astro_qualify_seeds(results);
  }
  astro_qualify_remove_files(folder);
  return results;
}

static void print_results(const GPtrArray *results)
{
  static const gboolean left[] = { TRUE, TRUE, FALSE, FALSE, TRUE, TRUE };
  static const char *const heads[] = { "requirement", "subject", "measured",
                                       "limit",       "state",   "remark" };
  g_autoptr(GPtrArray) cells = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < G_N_ELEMENTS(heads); i++)
    g_ptr_array_add(cells, g_strdup(heads[i]));
  for (guint i = 0; i < results->len; i++) {
    const AstroQualifyResult *result = results->pdata[i];
    const gboolean ran = result->state != ASTRO_QUALIFY_NOT_RUN;
    g_ptr_array_add(cells, g_strdup(result->requirement));
    g_ptr_array_add(cells, g_strdup(result->subject));
    g_ptr_array_add(cells, !ran                      ? g_strdup("-")
                           : isfinite(result->value) ? g_strdup_printf("%.3g", result->value)
                                                     : g_strdup("differs"));
    g_ptr_array_add(cells, ran ? g_strdup_printf("%.3g", result->limit) : g_strdup("-"));
    g_ptr_array_add(cells, g_strdup(astro_qualify_state_name(result->state)));
    g_ptr_array_add(cells, g_strdup(result->remark ? result->remark : ""));
  }
  astro_table_print(cells, G_N_ELEMENTS(heads), left, stdout);
}

static guint count_state(const GPtrArray *results, AstroQualifyState state)
{
  guint n = 0;
  for (guint i = 0; i < results->len; i++)
    n += ((const AstroQualifyResult *)results->pdata[i])->state == state;
  return n;
}

static int tell(const AstroQualifyReport *report, const char *output)
{
  g_autoptr(GError) error = NULL;
  const guint falls_short = count_state(report->results, ASTRO_QUALIFY_SHORT);
  print_results(report->results);
  for (guint i = 0; report->worse && i < report->worse->len; i++)
    printf("worse: %s\n", (char *)report->worse->pdata[i]);
  printf("%u pass, %u short, %u not run, in %.0f s\n",
         count_state(report->results, ASTRO_QUALIFY_PASS), falls_short,
         count_state(report->results, ASTRO_QUALIFY_NOT_RUN), report->seconds);
  if (output && !astro_qualify_write(report, output, &error))
    return astro_refuse(error->message);
  if (output)
    printf("%s.html\n%s.json\n", output, output);
  return falls_short || (report->worse && report->worse->len) ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Mistakes are told before the work: an old report is compared with nothing, and the folder of the
 * new one must be there. */
static gboolean check_arguments(const AstroArguments *arguments, GError **error)
{
  g_autofree char *folder = g_path_get_dirname(arguments->output ? arguments->output : ".");
  g_autoptr(GPtrArray) none = g_ptr_array_new(), worse = NULL;
  if (!g_file_test(folder, G_FILE_TEST_IS_DIR)) {
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOENT,
                "the report would be %s.html, but folder %s does not exist", arguments->output,
                folder);
    return FALSE;
  }
  return !arguments->compare || (worse = astro_qualify_compare(none, arguments->compare, error));
}

int astro_qualify(const AstroArguments *arguments)
{
  const gint64 start = g_get_monotonic_time();
  g_autoptr(GError) error = NULL;
  if (!check_arguments(arguments, &error))
    return astro_refuse(error->message);
  gst_init(NULL, NULL);
  g_autofree char *plugin = astro_find_plugin();
  g_autoptr(AstroMachine) machine = astro_machine_find(NULL, &error);
  g_autofree char *host = host_text(machine), *versions = version_text();
  g_autoptr(GPtrArray) results = run_all(arguments, machine, &error), worse = NULL;
  if (!results)
    return astro_refuse(error->message);
  if (arguments->compare && !(worse = astro_qualify_compare(results, arguments->compare, &error)))
    return astro_refuse(error->message);
  const AstroQualifyReport report = { .machine = machine,
                                      .host = host,
                                      .versions = versions,
                                      .seed = SEED,
                                      .is_quick = arguments->quick,
                                      .seconds = (double)(g_get_monotonic_time() - start) * 1e-6,
                                      .results = results,
                                      .worse = worse };
  const int status = tell(&report, arguments->output);
  gst_deinit();
  return status;
}
