/* Times elements in pipelines beside what the machine allows, in the same run. */
#include "core/backend/module.h"
#include "graphs/bounds.h"
#include "graphs/counts.h"
#include "graphs/plan-shapes.h"
#include "graphs/qualify-elements.h"
#include "graphs/qualify-meter.h"
#include "graphs/qualify-play.h"

#include <math.h>
#include <stdlib.h>

#define RUNS 5
#define QUICK_RUNS 1
#define LEAST 0.01 /* of the bound, where there is one of arithmetic too */
/* Seconds of a pipeline: threads that start, and a GPU's first call of each kernel. */
#define OVERHEAD 0.5

typedef struct {
  const AstroMachine *machine;
  const char *backend;
  AstroBounds *bounds;
  AstroCounts *counts;
  gint64 since;
  double took, bound; /* seconds */
  const char *roof;   /* NULL: the element does not tell its work, and memory alone bounds it */
} Timing;

static void start(GstElement *pipeline, gpointer data)
{
  Timing *timing = data;
  timing->bounds = astro_bounds_new(pipeline, timing->machine);
  timing->counts = astro_counts_new(pipeline);
  timing->since = g_get_monotonic_time();
}

static void hear(GstMessage *message, gpointer data)
{
  astro_bounds_hear(((Timing *)data)->bounds, message);
}

static double bandwidth_of(const Timing *timing)
{
  return g_str_equal(timing->backend, "cuda") ? timing->machine->gpu.bandwidth
                                              : timing->machine->host.bandwidth;
}

static void end(GstElement *pipeline, gpointer data)
{
  Timing *timing = data;
  const double whole = (double)(g_get_monotonic_time() - timing->since) * 1e-6;
  g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(pipeline), "it");
  g_autoptr(GstStructure) told = astro_counts_of(timing->counts, element);
  AstroBoundWork did = { .whole = whole, .backend = timing->backend };
  guint64 busy = 0;
  gst_structure_get_uint64(told, "bytes-in", &did.bytes_in);
  gst_structure_get_uint64(told, "bytes-out", &did.bytes_out);
  did.busy = gst_structure_get_uint64(told, "busy-ns", &busy) ? (double)busy * 1e-9 : whole;
  timing->took = g_str_equal(timing->backend, "cuda") ? whole : did.busy;
  if (!astro_bounds_of(timing->bounds, element, &did, &timing->bound, &timing->roof)) {
    timing->roof = NULL;
    timing->bound = (double)(did.bytes_in + did.bytes_out) / bandwidth_of(timing);
  }
  astro_counts_free(timing->counts);
  astro_bounds_free(timing->bounds);
}

static void tell(AstroQualifyResult *result, const Timing *timing, double *seconds, guint runs,
                 const char *joules)
{
  qsort(seconds, runs, sizeof *seconds, astro_qualify_compare_doubles);
  result->limit = timing->roof ? LEAST : 0;
  result->remark = g_strdup_printf(
      "%.3g ms (%.3g to %.3g, %u runs), where the machine allows %.3g ms by %s%s",
      1e3 * seconds[runs / 2], 1e3 * seconds[0], 1e3 * seconds[runs - 1], runs, 1e3 * timing->bound,
      timing->roof ? timing->roof : "memory, and what it computes depends on the data", joules);
  astro_qualify_judge_rate(result, seconds[runs / 2], timing->bound, result->limit, OVERHEAD);
}

/* FALSE: a run failed. */
static gboolean time_runs(const AstroQualifyElement *row, Timing *timing, guint runs,
                          const char *folder, AstroQualifyResult *result)
{
  const AstroQualifyPlay play = { .hear = hear, .start = start, .end = end, .data = timing };
  g_autofree char *line = astro_qualify_element_line(row, row->timed, timing->backend, folder);
  double seconds[RUNS];
  AstroQualifyMeter *meter = astro_qualify_meter_start();
  for (guint i = 0; i < runs && !result->remark; i++) {
    result->remark = astro_qualify_play(line, &play);
    seconds[i] = timing->took;
  }
  g_autofree char *joules = astro_qualify_meter_stop(meter, runs);
  if (result->remark) {
    result->state = ASTRO_QUALIFY_SHORT;
    return FALSE;
  }
  tell(result, timing, seconds, runs, joules);
  return TRUE;
}

static void time_backend(const AstroQualifyElement *row, const AstroMachine *machine,
                         const char *backend, gboolean is_quick, const char *folder,
                         GPtrArray *results)
{
  g_autofree char *subject = g_strdup_printf("%s %s", astro_qualify_element_stage(row), backend);
  AstroQualifyResult *result = astro_qualify_result_new("rate", subject);
  Timing timing = { .machine = machine, .backend = backend };
  g_ptr_array_add(results, result);
  for (guint i = 0; i < ASTRO_QUALIFY_ROUNDS; i++) {
    g_clear_pointer(&result->remark, g_free);
    if (!time_runs(row, &timing, is_quick ? QUICK_RUNS : RUNS, folder, result) ||
        result->state != ASTRO_QUALIFY_SHORT)
      return;
  }
}

void astro_qualify_element_rate(const AstroQualifyElement *row, const AstroMachine *machine,
                                gboolean is_quick, const char *folder, GPtrArray *results)
{
  time_backend(row, machine, "cpu", is_quick, folder, results);
  if (machine->gpu.bandwidth > 0 && astro_module_backend(astro_qualify_element_stage(row)))
    time_backend(row, machine, "cuda", is_quick, folder, results);
}
