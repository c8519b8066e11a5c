/* Gives names to elements that have none. */
#include "graphs/names.h"

#include <gst/gst.h>

static gboolean is_element(const char *word)
{
  g_autoptr(GstElementFactory) known = word ? gst_element_factory_find(word) : NULL;
  return known != NULL;
}

static const char *word_at(const AstroGraph *graph, guint at)
{
  return astro_token_literal(graph->tokens->pdata[at], ASTRO_TOKEN_WORD);
}

/* Whether name= is among the assignments after the element. */
static gboolean has_name(const AstroGraph *graph, guint element)
{
  for (guint i = element + 1; i < graph->tokens->len; i++) {
    const char *word = word_at(graph, i);
    if (!g_strcmp0(word, "name="))
      return TRUE;
    if (word && !g_str_has_suffix(word, "="))
      return FALSE;
  }
  return FALSE;
}

static GHashTable *given_names(const AstroGraph *graph)
{
  GHashTable *names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i + 1 < graph->tokens->len; i++)
    if (!g_strcmp0(word_at(graph, i), "name="))
      g_hash_table_add(names, astro_token_text(graph, graph->tokens->pdata[i + 1]));
  return names;
}

static void insert(AstroGraph *graph, guint at, AstroTokenKind kind, const char *text)
{
  const AstroToken *element = graph->tokens->pdata[at - 1];
  AstroToken *token = astro_token_new(kind, element->line, kind == ASTRO_TOKEN_VALUE);
  astro_token_add(token, text, -1, FALSE);
  g_ptr_array_insert(graph->tokens, (gint)at, token);
}

void astro_graph_name_elements(AstroGraph *graph)
{
  g_autoptr(GHashTable) given = given_names(graph);
  g_autoptr(GHashTable) counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < graph->tokens->len; i++) {
    const char *word = word_at(graph, i);
    if (!is_element(word) || has_name(graph, i))
      continue;
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(counts, word));
    g_autofree char *name = g_strdup_printf("%s%u", word, number++);
    while (g_hash_table_contains(given, name)) {
      g_free(name);
      name = g_strdup_printf("%s%u", word, number++);
    }
    g_hash_table_insert(counts, g_strdup(word), GUINT_TO_POINTER(number));
    insert(graph, i + 1, ASTRO_TOKEN_WORD, "name=");
    insert(graph, i + 2, ASTRO_TOKEN_VALUE, name);
    i += 2;
  }
}
