/* gst-astro plan: says what a graph needs and what bounds it on a machine, without running it. */
#include "graphs/plan.h"
#include "graphs/find.h"
#include "graphs/format.h"
#include "graphs/machine.h"
#include "graphs/passes.h"
#include "graphs/plan-print.h"
#include "graphs/values.h"

#include <stdio.h>
#include <stdlib.h>

static int refuse(const AstroGraph *graph, const char *message)
{
  const guint line = astro_graph_locate(graph, message);
  g_autofree char *text = line ? g_strdup_printf("%s:%u: %s", graph->file, line, message)
                               : g_strdup_printf("%s: %s", graph->file, message);
  return astro_refuse(text);
}

/* Returns what kept the pipeline from being planned, to be freed, or NULL. */
static char *plan_pipeline(GstElement *pipeline, const AstroMachine *machine)
{
  char *trouble = NULL;
  g_autoptr(AstroPlanShapes) shapes = astro_plan_shapes(pipeline, &trouble);
  if (!shapes)
    return trouble;
  if (shapes->stages->len == 0)
    return g_strdup("no element of the graph has work that can be planned");
  g_autoptr(AstroPlanRoofs) roofs = astro_plan_roofs(shapes, machine, &trouble);
  if (!roofs)
    return trouble;
  astro_plan_print(shapes, roofs, machine, stdout);
  return NULL;
}

static char *plan_pass(const AstroPass *pass, const AstroMachine *machine)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *line = astro_checked_line(pass->graph, &error);
  GstElement *parsed =
      line ? gst_parse_launch_full(line, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error) : NULL;
  if (!parsed)
    return g_strdup(error->message);
  g_autoptr(GstElement) pipeline =
      gst_object_ref_sink(GST_IS_PIPELINE(parsed) ? parsed : gst_pipeline_new(NULL));
  if (pipeline != parsed)
    gst_bin_add(GST_BIN(pipeline), parsed);
  return plan_pipeline(pipeline, machine);
}

/* In a graph with rounds each pipeline is planned once, as its first round has it. Those that read
 * what another one writes cannot be planned before that, and a line says so. */
static int plan_passes(const GPtrArray *passes, const AstroMachine *machine)
{
  guint planned = 0, last = 0;
  for (guint i = 0; i < passes->len; i++) {
    const AstroPass *pass = passes->pdata[i];
    if (pass->pipeline <= last)
      continue;
    last = pass->pipeline;
    if (pass->label)
      printf("%s:\n", pass->label);
    g_autofree char *trouble = plan_pass(pass, machine);
    if (trouble && !pass->label)
      return refuse(pass->graph, trouble);
    if (trouble)
      printf("not planned: %s\n", trouble);
    planned += !trouble;
  }
  return planned ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int plan_graph(const AstroGraph *graph, const char *plugin, const AstroArguments *arguments)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroMachine) machine = astro_machine_find(arguments->machine, &error);
  g_autoptr(GPtrArray) passes = machine ? astro_passes_of(graph, "rounds", &error) : NULL;
  return passes ? plan_passes(passes, machine) : astro_refuse(error->message);
}

int astro_plan(const AstroArguments *arguments)
{
  return astro_with_asked_graph(arguments, plan_graph);
}
