/* Reads the commands to try next from a graph's description. */
#include "graphs/next.h"
#include "graphs/find.h"
#include "graphs/format.h"
#include <string.h>

#define MARK "  gst-astro "

/* At "${": finds the parameter named there, and the text after it; NULL: none is named. */
static const AstroParameter *named_at(const AstroGraph *graph, const char *at, const char **behind)
{
  const char *end = strchr(at, '}');
  if (!end)
    return NULL;
  g_autofree char *name = g_strndup(at + 2, (gsize)(end - at - 2));
  *behind = end + 1;
  return astro_graph_parameter(graph, name);
}

/* line: the text after the mark. */
static char *command_of(const AstroGraph *graph, const char *line)
{
  g_autofree char *program = astro_find_command();
  GString *command = g_string_new(program);
  g_string_append_c(command, ' ');
  while (*line) {
    const char *behind;
    const AstroParameter *parameter =
        g_str_has_prefix(line, "${") ? named_at(graph, line, &behind) : NULL;
    if (!parameter) {
      g_string_append_c(command, *line++);
      continue;
    }
    g_autofree char *value = astro_format_word(astro_parameter_value(parameter));
    g_string_append(command, value);
    line = behind;
  }
  return g_string_free(command, FALSE);
}

char **astro_next_commands(const AstroGraph *graph)
{
  g_autoptr(GStrvBuilder) commands = g_strv_builder_new();
  g_auto(GStrv) lines = g_strsplit(graph->description, "\n", -1);
  for (guint i = 0; lines[i]; i++) {
    if (!g_str_has_prefix(lines[i], MARK))
      continue;
    g_autofree char *command = command_of(graph, lines[i] + strlen(MARK));
    g_strv_builder_add(commands, command);
  }
  return g_strv_builder_end(commands);
}

char *astro_next_description(const AstroGraph *graph)
{
  g_auto(GStrv) lines = g_strsplit(graph->description, "\n", -1);
  for (guint i = 0; lines[i]; i++) {
    if (!g_str_has_prefix(lines[i], MARK))
      continue;
    g_autofree char *command = command_of(graph, lines[i] + strlen(MARK));
    g_free(lines[i]);
    lines[i] = g_strconcat("  ", command, NULL);
  }
  return g_strjoinv("\n", lines);
}
