/* Finds the line of an error. GStreamer's parser says what is wrong but not where; its messages
 * name elements and properties, and the graph knows on which lines these are. */
#include "graphs/graph.h"
#include <string.h>

/* The index of the token that makes the element of that name; -1 if none does. Elements without
 * a name are numbered by factory: identity1 is the second identity. */
static int find_element(const AstroGraph *graph, const char *name)
{
  gsize stem = strlen(name);
  while (stem && g_ascii_isdigit(name[stem - 1]))
    stem--;
  g_autofree char *factory = g_strndup(name, stem);
  guint64 number = g_ascii_strtoull(name + stem, NULL, 10);
  const char *before = "";
  for (guint i = 0; i < graph->tokens->len; i++) {
    const AstroToken *token = graph->tokens->pdata[i];
    const char *word = astro_token_literal(token, ASTRO_TOKEN_WORD);
    const char *value = astro_token_literal(token, ASTRO_TOKEN_VALUE);
    if (g_str_equal(before, "name=") && !g_strcmp0(value, name))
      return i;
    if (!g_strcmp0(word, name) || (!g_strcmp0(word, factory) && number-- == 0))
      return i;
    before = word ? word : "";
  }
  return -1;
}

/* The index of the property's first token from this one on; -1 if there is none. */
static int find_property(const AstroGraph *graph, const char *name, int from)
{
  g_autofree char *assignment = g_strconcat(name, "=", NULL);
  for (guint i = MAX(from, 0); i < graph->tokens->len; i++)
    if (!g_strcmp0(astro_token_literal(graph->tokens->pdata[i], ASTRO_TOKEN_WORD), assignment))
      return i;
  return -1;
}

guint astro_graph_locate(const AstroGraph *graph, const char *message)
{
  g_auto(GStrv) words = g_strsplit_set(message, "\" ,:", -1);
  int element = -1, property = -1;
  for (guint i = 0; words[i] && element < 0; i++)
    if (*words[i])
      element = find_element(graph, words[i]);
  for (guint i = 0; words[i] && property < 0; i++)
    if (*words[i])
      property = find_property(graph, words[i], element);
  int found = property >= 0 ? property : element;
  return found >= 0 ? ((AstroToken *)graph->tokens->pdata[found])->line : 0;
}
