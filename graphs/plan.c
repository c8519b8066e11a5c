/* gst-astro plan: says what a graph needs and what bounds it on a machine, without running it. */
#include "graphs/plan.h"
#include "graphs/find.h"
#include "graphs/format.h"
#include "graphs/machine.h"
#include "graphs/plan-print.h"

#include <stdlib.h>

static int refuse(const AstroGraph *graph, const char *message)
{
  const guint line = astro_graph_locate(graph, message);
  g_autofree char *text = line ? g_strdup_printf("%s:%u: %s", graph->file, line, message)
                               : g_strdup_printf("%s: %s", graph->file, message);
  return astro_refuse(text);
}

static int plan_pipeline(GstElement *pipeline, const AstroGraph *graph, const AstroMachine *machine)
{
  g_autofree char *trouble = NULL;
  g_autoptr(AstroPlanShapes) shapes = astro_plan_shapes(pipeline, &trouble);
  if (!shapes)
    return refuse(graph, trouble);
  if (shapes->stages->len == 0)
    return refuse(graph, "no element of the graph has work that can be planned");
  g_autoptr(AstroPlanRoofs) roofs = astro_plan_roofs(shapes, machine, &trouble);
  if (!roofs)
    return refuse(graph, trouble);
  astro_plan_print(shapes, roofs, machine, stdout);
  return EXIT_SUCCESS;
}

static int plan_line(const AstroGraph *graph, const char *line, const char *plugin,
                     const AstroArguments *arguments)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroMachine) machine = astro_machine_find(arguments->machine, &error);
  if (!machine)
    return astro_refuse(error->message);
  GstElement *parsed = gst_parse_launch_full(line, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);
  if (!parsed)
    return refuse(graph, error->message);
  g_autoptr(GstElement) pipeline =
      gst_object_ref_sink(GST_IS_PIPELINE(parsed) ? parsed : gst_pipeline_new(NULL));
  if (pipeline != parsed)
    gst_bin_add(GST_BIN(pipeline), parsed);
  return plan_pipeline(pipeline, graph, machine);
}

int astro_plan(const AstroArguments *arguments)
{
  return astro_with_asked_line(arguments, plan_line);
}
