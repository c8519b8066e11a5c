/* gst-astro list, show and print. */
#include "graphs/explain.h"
#include "graphs/find.h"
#include "graphs/format.h"
#include "graphs/next.h"
#include "graphs/passes.h"
#include "graphs/values.h"
#include <gst/gst.h>
#include <stdio.h>
#include <stdlib.h>

int astro_list(const AstroArguments *arguments)
{
  int status = EXIT_SUCCESS;
  gsize width = 0;
  g_auto(GStrv) names = astro_find_graph_names();
  for (guint i = 0; names[i]; i++)
    width = MAX(width, strlen(names[i]));
  for (guint i = 0; names[i]; i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(AstroGraph) graph = astro_find_graph(names[i], &error);
    if (!graph) {
      status = astro_refuse(error->message);
      continue;
    }
    int first = strcspn(graph->description, "\n");
    if (first)
      printf("%-*s  %.*s\n", (int)width, names[i], first, graph->description);
    else
      printf("%s\n", names[i]);
  }
  return status;
}

static void print_parameters(const AstroGraph *graph)
{
  gsize width = 0;
  g_autoptr(GPtrArray) shown = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < graph->parameters->len; i++) {
    const AstroParameter *parameter = graph->parameters->pdata[i];
    g_autofree char *quoted = astro_format_word(astro_parameter_value(parameter));
    g_ptr_array_add(shown, g_strdup_printf("%s=%s", parameter->name, quoted));
    width = MAX(width, strlen(shown->pdata[i]));
  }
  g_autofree char *description = astro_next_description(graph);
  printf("%s%s", description, *description ? "\n\n" : "");
  printf(shown->len ? "Parameters:\n" : "No parameters.\n");
  for (guint i = 0; i < shown->len; i++)
    printf("  %-*s  %s\n", (int)width, (char *)shown->pdata[i],
           ((AstroParameter *)graph->parameters->pdata[i])->help);
}

int astro_explain(const AstroArguments *arguments)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroGraph) graph = astro_find_graph(arguments->graph, &error);
  if (!graph)
    return astro_refuse(error->message);
  print_parameters(graph);
  return EXIT_SUCCESS;
}

static gboolean declares(const AstroGraph *graph, guint line)
{
  for (guint i = 0; i < graph->parameters->len; i++)
    if (((AstroParameter *)graph->parameters->pdata[i])->line == line)
      return TRUE;
  return FALSE;
}

/* Prints the text of a graph without what was shown already: its first comment and parameters. */
static void print_pipeline(const AstroGraph *graph)
{
  g_auto(GStrv) lines = g_strsplit(graph->text, "\n", -1);
  guint i = 0;
  gboolean begun = FALSE;
  while (lines[i] &&
         (!lines[i][strspn(lines[i], " \t\r")] || lines[i][strspn(lines[i], " \t\r")] == '#'))
    i++;
  for (; lines[i]; i++) {
    begun |= lines[i][strspn(lines[i], " \t\r")] && !declares(graph, i + 1);
    if (begun && !declares(graph, i + 1) && (*lines[i] || lines[i + 1]))
      printf("%s\n", lines[i]);
  }
}

int astro_show(const AstroArguments *arguments)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroGraph) graph = astro_find_graph(arguments->graph, &error);
  if (!graph)
    return astro_refuse(error->message);
  print_parameters(graph);
  printf("\n%s:\n", graph->file);
  print_pipeline(graph);
  return EXIT_SUCCESS;
}

/* If GStreamer does not find our plugin by itself, gst-launch-1.0 has to be told its directory. */
static char *plugin_path(const char *directory)
{
  if (!directory)
    return g_strdup("");
  const char *others = g_getenv("GST_PLUGIN_PATH");
  g_autofree char *path = g_strjoin(others && *others ? ":" : NULL, directory, others, NULL);
  g_autofree char *quoted = g_shell_quote(path);
  return g_strdup_printf("GST_PLUGIN_PATH=%s ", quoted);
}

/* The folder for files between pipelines is made for the run, as gst-astro run does, so that an
 * older one with other files in it is not taken for it and removed. */
static int print_passes(const AstroGraph *graph, const char *plugin,
                        const AstroArguments *arguments)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *name = astro_graph_name(graph), *path = plugin_path(plugin);
  g_autofree char *folder = g_strconcat(name, ".rounds", NULL);
  const gboolean has_folder = astro_passes_need_folder(graph);
  g_autoptr(GPtrArray) passes = astro_passes_of(graph, folder, &error);
  g_autoptr(GString) text = g_string_new(NULL);
  g_autofree char *quoted = g_shell_quote(folder);
  if (passes && has_folder)
    g_string_append_printf(text, "mkdir %s && \\\n", quoted);
  for (guint i = 0; passes && i < passes->len && !error; i++) {
    const AstroPass *pass = passes->pdata[i];
    g_autofree char *line = astro_checked_line(pass->graph, &error);
    g_autofree char *shell = line ? astro_graph_shell_arguments(line) : NULL;
    g_string_append_printf(text, "%s%sgst-launch-1.0 %s", i ? " && \\\n" : "", path,
                           shell ? shell : "");
  }
  if (error)
    return astro_refuse(error->message);
  if (has_folder)
    g_string_append_printf(text, " && \\\nrm -r %s", quoted);
  printf("%s\n", text->str);
  return EXIT_SUCCESS;
}

int astro_print(const AstroArguments *arguments)
{
  return astro_with_asked_graph(arguments, print_passes);
}
