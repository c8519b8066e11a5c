/* Adds the parameters rank and ranks to a graph, and checks that ranks share its work. */
#include "config.h"
#include "graphs/job.h"

#include "core/ranks/world.h"
#include "graphs/passes.h"

#include <string.h>

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

/* ---- running in a job ---- */

static gboolean refuse(const AstroGraph *graph, GError **error, const char *why)
{
  g_set_error(error, ASTRO_GRAPH_ERROR, ASTRO_GRAPH_ERROR_PARAMETER, "%s: %s", graph->file, why);
  return FALSE;
}

/* A parameter that was typed, and is not what mpirun said. */
static gboolean check_number(const AstroGraph *graph, const char *name, guint expected,
                             GError **error)
{
  const AstroParameter *parameter = astro_graph_parameter(graph, name);
  const char *value = parameter ? astro_parameter_value(parameter) : "";
  g_autofree char *number = g_strdup_printf("%u", expected);
  if (!parameter || g_str_equal(value, number))
    return TRUE;
  g_autofree char *why = g_strdup_printf(
      "%s=%s, and in this job it is %s: expected to leave it to mpirun", name, value, number);
  return refuse(graph, error, why);
}

/* Elements that exchange streams with other ranks. */
static gboolean has_exchange(const AstroGraph *graph)
{
  for (guint i = 0; i < graph->tokens->len; i++) {
    const char *word = astro_token_literal(graph->tokens->pdata[i], ASTRO_TOKEN_WORD);
    if (word && (g_str_equal(word, "astroalltoall") || g_str_equal(word, "astroreduce")))
      return TRUE;
  }
  return FALSE;
}

gboolean astro_graph_check_job(const AstroGraph *graph, GError **error)
{
  const AstroWorld world = astro_world_find();
  const gboolean is_spread = astro_graph_parameter(graph, "rank") ||
                             astro_graph_parameter(graph, "ranks") || has_exchange(graph);
  const AstroParameter *ranks = astro_graph_parameter(graph, "ranks");
  if (world.ranks == 1 && (!ranks || !*astro_parameter_value(ranks)))
    return TRUE;
  if (!is_spread)
    return refuse(graph, error,
                  "it does not say how ranks share its work, so that each would do all of it: run "
                  "it without mpirun (gst-astro show GRAPH: those that can are said to)");
  if (world.ranks > 1 && astro_passes_need_folder(graph))
    return refuse(graph, error,
                  "with these parameters it passes files between pipelines in a folder of one "
                  "process, so that ranks cannot share it: run it without mpirun");
  return check_number(graph, "ranks", world.ranks, error) &&
         check_number(graph, "rank", world.rank, error);
}

char *astro_graph_job_text(const AstroGraph *graph)
{
  g_autofree char *name = astro_graph_name(graph);
  g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, graph->text, -1);
  GString *text = g_string_new("gst-astro " PACKAGE_VERSION "\n");
  g_string_append_printf(text, "graph %s (%.8s)\n", name, sum);
  for (guint i = 0; i < graph->parameters->len; i++) {
    const AstroParameter *parameter = graph->parameters->pdata[i];
    if (!astro_parameter_is_of_job(parameter))
      g_string_append_printf(text, "%s=%s\n", parameter->name, astro_parameter_value(parameter));
  }
  return g_string_free(text, FALSE);
}

/* ---- a GPU for each rank ---- */

char *astro_job_order_gpus(const char *visible, guint n, guint local_rank)
{
  g_auto(GStrv) given = visible ? g_strsplit(visible, ",", -1) : NULL;
  GString *order = g_string_new(NULL);
  n = given ? g_strv_length(given) : n;
  for (guint i = 0; i < n; i++) {
    const guint at = (local_rank + i) % n;
    g_string_append(order, i ? "," : "");
    if (given)
      g_string_append(order, given[at]);
    else
      g_string_append_printf(order, "%u", at);
  }
  return g_string_free(order, FALSE);
}

/* By the files of NVIDIA's driver, /dev/nvidia0 and so on: a container may have any of them. */
static guint count_gpus(void)
{
  static const char prefix[] = "nvidia";
  g_autoptr(GDir) folder = g_dir_open("/dev", 0, NULL);
  guint n = 0;
  for (const char *name; folder && (name = g_dir_read_name(folder));)
    n += g_str_has_prefix(name, prefix) &&
         g_ascii_string_to_unsigned(name + strlen(prefix), 10, 0, G_MAXUINT, NULL, NULL);
  return n;
}

void astro_job_take_gpu(void)
{
  const guint local_rank = astro_world_local_rank();
  g_autofree char *order =
      astro_job_order_gpus(g_getenv("CUDA_VISIBLE_DEVICES"), count_gpus(), local_rank);
  if (local_rank > 0 && *order)
    g_setenv("CUDA_VISIBLE_DEVICES", order, TRUE);
}
