/* Adds the parameters rank and ranks to a graph. */
#include "graphs/job.h"

#include "core/ranks/world.h"

/* Those of the file begin at its line 1. */
gboolean astro_parameter_is_of_job(const AstroParameter *parameter)
{
  return parameter->line == 0;
}

static void add(AstroGraph *graph, const char *name, char *value, const char *help)
{
  AstroParameter *parameter = g_new0(AstroParameter, 1);
  parameter->name = g_strdup(name);
  parameter->value = value;
  parameter->fallback = g_strdup(value);
  parameter->help = g_strdup(help);
  g_ptr_array_add(graph->parameters, parameter);
}

void astro_graph_add_job(AstroGraph *graph)
{
  const AstroWorld world = astro_world_find();
  add(graph, "rank", g_strdup_printf("%u", world.rank),
      "the number of this process in an MPI job, from 0; mpirun sets it");
  add(graph, "ranks", world.ranks > 1 ? g_strdup_printf("%u", world.ranks) : g_strdup(""),
      "the number of processes of the MPI job; mpirun sets it (empty: one)");
}

gboolean astro_graph_settle_job(AstroGraph *graph)
{
  g_autoptr(GPtrArray) used = g_ptr_array_new();
  for (guint i = 0; i < graph->parameters->len;) {
    AstroParameter *parameter = graph->parameters->pdata[i];
    if (!astro_parameter_is_of_job(parameter)) {
      i++;
    } else if (parameter->used) {
      g_ptr_array_add(used, g_ptr_array_steal_index(graph->parameters, i));
    } else {
      g_ptr_array_remove_index(graph->parameters, i);
    }
  }
  for (guint i = 0; i < used->len; i++)
    g_ptr_array_add(graph->parameters, used->pdata[i]);
  return TRUE;
}
