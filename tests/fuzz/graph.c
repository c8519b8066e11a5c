/* Any bytes are either a graph or one error. A graph expands to a graph that expands to the same,
 * so that no value and no quoting can change a pipeline's shape. */
#include "graphs/passes.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(gboolean right)
{
  if (!right)
    abort();
}

static guint count_links(const AstroGraph *graph)
{
  guint n = 0;
  for (guint i = 0; i < graph->tokens->len; i++) {
    const AstroToken *token = graph->tokens->pdata[i];
    g_autofree char *text = astro_token_text(graph, token);
    n += token->kind == ASTRO_TOKEN_WORD && g_str_equal(text, "!");
  }
  return n;
}

static void check_expansion(const AstroGraph *graph)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *line = astro_graph_line(graph, &error);
  check((line != NULL) != (error != NULL));
  if (!line)
    return;
  check(!strchr(line, '\n'));
  /* A line that begins with a byte order mark would lose it when read as a file. */
  if (g_str_has_prefix(line, "\xef\xbb\xbf"))
    return;
  g_autoptr(AstroGraph) again = astro_graph_parse("again", line, strlen(line), &error);
  check(again && !error && count_links(again) == count_links(graph));
  /* A filter that became a property is a single token. */
  check(again->tokens->len == graph->tokens->len || strstr(line, "capsfilter caps="));
  g_autofree char *twice = astro_graph_line(again, &error);
  check(twice && g_str_equal(line, twice));
  g_autofree char *arguments = astro_graph_shell_arguments(line);
  g_auto(GStrv) words = NULL;
  check(g_shell_parse_argv(arguments, NULL, &words, NULL));
  g_autofree char *joined = g_strjoinv(" ", words);
  check(g_str_equal(joined, line));
}

/* Each pipeline of a graph is one that a graph of its own could hold. */
static void check_passes(const AstroGraph *graph)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) passes = astro_passes_of(graph, "/folder", &error);
  check((passes != NULL) != (error != NULL));
  for (guint i = 0; passes && i < MIN(passes->len, 8); i++)
    check_expansion(((AstroPass *)passes->pdata[i])->graph);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const char *const hostile[] = { "",   "a b",       "\"",         "\"x\"", "'",
                                         "\\", "x\\\" ! y", "! fakesink", "${x}",  " -v # \xc3\xa9",
                                         "=",  ";",         "a=b c=d" };
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroGraph) graph = astro_graph_parse("file", (const char *)data, size, &error);
  check((graph != NULL) != (error != NULL));
  if (!graph) {
    check(g_str_has_prefix(error->message, "file:") && !strchr(error->message, '\n'));
    return 0;
  }
  g_autoptr(AstroGraph) plain = astro_graph_parse("file", (const char *)data, size, NULL);
  if (astro_graph_settle(plain, NULL))
    check_passes(plain);
  for (guint i = 0; i < graph->parameters->len; i++) {
    AstroParameter *parameter = graph->parameters->pdata[i];
    g_autofree char *assignment =
        g_strconcat(parameter->name, "=", hostile[(i + size) % G_N_ELEMENTS(hostile)], NULL);
    check(astro_graph_set(graph, assignment, NULL));
  }
  if (!astro_graph_settle(graph, NULL))
    return 0;
  check_passes(graph);
  astro_graph_locate(graph, "no property \"location\" in element \"fakesrc0\"");
  return 0;
}
