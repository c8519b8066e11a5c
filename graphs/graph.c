/* A graph in memory: its parts, and the values of its parameters. */
#include "graphs/graph.h"
#include "graphs/near.h"
#include <string.h>

G_DEFINE_QUARK(astro_graph_error, astro_graph_error)

static void part_free(gpointer data)
{
  AstroPart *part = data;
  g_free(part->text);
  g_free(part);
}

static void token_free(gpointer data)
{
  AstroToken *token = data;
  g_ptr_array_unref(token->parts);
  g_free(token);
}

static void parameter_free(gpointer data)
{
  AstroParameter *parameter = data;
  g_free(parameter->name);
  g_free(parameter->value);
  g_free(parameter->fallback);
  g_free(parameter->help);
  g_free(parameter);
}

AstroToken *astro_token_new(AstroTokenKind kind, guint line, gboolean joined)
{
  AstroToken *token = g_new0(AstroToken, 1);
  token->kind = kind;
  token->line = line;
  token->joined = joined;
  token->parts = g_ptr_array_new_with_free_func(part_free);
  return token;
}

void astro_token_add(AstroToken *token, const char *text, gssize bytes, gboolean parameter)
{
  AstroPart *part = g_new0(AstroPart, 1);
  part->text = bytes < 0 ? g_strdup(text) : g_strndup(text, bytes);
  part->parameter = parameter;
  g_ptr_array_add(token->parts, part);
}

AstroToken *astro_token_copy(const AstroToken *token)
{
  AstroToken *copy = astro_token_new(token->kind, token->line, token->joined);
  for (guint i = 0; i < token->parts->len; i++) {
    const AstroPart *part = token->parts->pdata[i];
    astro_token_add(copy, part->text, -1, part->parameter);
  }
  copy->when = token->when;
  copy->otherwise = token->otherwise;
  return copy;
}

gboolean astro_token_is_mark(const AstroToken *token)
{
  return token->kind == ASTRO_TOKEN_ROUND || token->kind == ASTRO_TOKEN_THEN;
}

void astro_token_replace(AstroToken *token, const char *text)
{
  g_ptr_array_set_size(token->parts, 0);
  astro_token_add(token, text, -1, FALSE);
}

const char *astro_token_literal(const AstroToken *token, AstroTokenKind kind)
{
  const AstroPart *part = token->parts->len == 1 ? token->parts->pdata[0] : NULL;
  return token->kind == kind && part && !part->parameter ? part->text : NULL;
}

/* The comment lines at the top of the file, without their marks. A first line with #! is skipped.
 */
static char *find_description(const char *text)
{
  GString *description = g_string_new(NULL);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  gboolean within = FALSE;
  for (guint i = 0; lines[i]; i++) {
    const char *line = g_strstrip(lines[i]);
    if (i == 0 && g_str_has_prefix(line, "#!"))
      continue;
    if (*line != '#') {
      if (within || *line)
        break;
      continue;
    }
    within = TRUE;
    line += strspn(line, "#");
    if (description->len)
      g_string_append_c(description, '\n');
    g_string_append(description, *line == ' ' ? line + 1 : line);
  }
  return g_strstrip(g_string_free(description, FALSE));
}

/* Refuses bytes that are not text before anything else looks at them. */
static gboolean check_text(const char *file, const char *text, gsize bytes, GError **error)
{
  const char *bad = NULL, *what = NULL;
  if (bytes > ASTRO_GRAPH_MAX_BYTES) {
    g_set_error(error, ASTRO_GRAPH_ERROR, ASTRO_GRAPH_ERROR_FILE,
                "%s: larger than 1 MiB, the most that a graph may be", file);
    return FALSE;
  }
  for (gsize i = 0; i < bytes && !bad; i++)
    if (g_ascii_iscntrl(text[i]) && !strchr("\t\n\r", text[i] ? text[i] : 1)) {
      bad = text + i;
      what = "a control character";
    }
  const char *invalid;
  if (!g_utf8_validate_len(text, bytes, &invalid) && (!bad || invalid < bad)) {
    bad = invalid;
    what = "invalid UTF-8";
  }
  if (!bad)
    return TRUE;
  guint line = 1;
  for (const char *c = text; c < bad; c++)
    line += *c == '\n';
  g_set_error(error, ASTRO_GRAPH_ERROR, ASTRO_GRAPH_ERROR_SYNTAX, "%s:%u: not text: %s (0x%02x)",
              file, line, what, (guint8)*bad);
  return FALSE;
}

AstroGraph *astro_graph_empty(const char *file)
{
  AstroGraph *graph = g_new0(AstroGraph, 1);
  graph->file = g_strdup(file);
  graph->parameters = g_ptr_array_new_with_free_func(parameter_free);
  graph->rounds = g_ptr_array_new_with_free_func(parameter_free);
  graph->tokens = g_ptr_array_new_with_free_func(token_free);
  return graph;
}

/* Some editors begin UTF-8 with this mark, which is not part of the text. */
static const char byte_order_mark[] = "\xef\xbb\xbf";

AstroGraph *astro_graph_parse(const char *file, const char *text, gsize bytes, GError **error)
{
  const gsize mark = sizeof byte_order_mark - 1;
  if (!check_text(file, text, bytes, error))
    return NULL;
  if (bytes >= mark && !memcmp(text, byte_order_mark, mark)) {
    text += mark;
    bytes -= mark;
  }
  g_autoptr(AstroGraph) graph = astro_graph_empty(file);
  graph->text = g_strndup(text, bytes);
  graph->description = find_description(graph->text);
  return astro_graph_scan(graph, error) ? g_steal_pointer(&graph) : NULL;
}

void astro_graph_free(AstroGraph *graph)
{
  g_free(graph->file);
  g_free(graph->text);
  g_free(graph->description);
  g_ptr_array_unref(graph->parameters);
  g_ptr_array_unref(graph->rounds);
  g_ptr_array_unref(graph->tokens);
  g_free(graph);
}

char *astro_graph_name(const AstroGraph *graph)
{
  g_autofree char *base = g_path_get_basename(graph->file);
  if (g_str_has_suffix(base, ".graph"))
    base[strlen(base) - strlen(".graph")] = 0;
  return g_steal_pointer(&base);
}

static AstroParameter *find(const GPtrArray *parameters, const char *name)
{
  for (guint i = 0; i < parameters->len; i++) {
    AstroParameter *parameter = parameters->pdata[i];
    if (g_str_equal(parameter->name, name))
      return parameter;
  }
  return NULL;
}

AstroParameter *astro_graph_parameter(const AstroGraph *graph, const char *name)
{
  return find(graph->parameters, name);
}

AstroParameter *astro_graph_reference(const AstroGraph *graph, const char *name)
{
  AstroParameter *own = find(graph->rounds, name);
  return own ? own : find(graph->parameters, name);
}

const AstroParameter *astro_parameter_source(const AstroParameter *parameter)
{
  while (parameter->follows && !parameter->set)
    parameter = parameter->follows;
  return parameter;
}

const char *astro_parameter_value(const AstroParameter *parameter)
{
  return astro_parameter_source(parameter)->value;
}

static void unknown_parameter(const AstroGraph *graph, const char *name, GError **error)
{
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i < graph->parameters->len; i++)
    g_ptr_array_add(names, ((AstroParameter *)graph->parameters->pdata[i])->name);
  g_ptr_array_add(names, NULL);
  const char *const *list = (const char *const *)names->pdata;
  g_autofree char *hint = astro_near_hint(name, list);
  g_autofree char *joined = g_strjoinv(", ", (char **)names->pdata);
  g_set_error(error, ASTRO_GRAPH_ERROR, ASTRO_GRAPH_ERROR_PARAMETER, "%s: no parameter %s%s%s%s",
              graph->file, name, hint, *list ? (*hint ? " It has " : "; it has ") : "; it has none",
              joined);
}

gboolean astro_graph_set(AstroGraph *graph, const char *assignment, GError **error)
{
  const char *value = strchr(assignment, '=');
  g_autofree char *name = value ? g_strndup(assignment, value - assignment) : g_strdup(assignment);
  g_autofree char *shown = g_utf8_make_valid(name, -1);
  AstroParameter *parameter = astro_graph_parameter(graph, name);
  const char *reason = NULL;
  if (!parameter) {
    unknown_parameter(graph, shown, error);
    return FALSE;
  }
  if (!value)
    reason = "needs a value, as in name=value";
  else if (parameter->set)
    reason = "is given twice";
  else if (!g_utf8_validate(value, -1, NULL))
    reason = "has a value that is not valid UTF-8";
  else if (strpbrk(value, "\n\r"))
    reason = "has a value with a line break";
  if (reason) {
    g_set_error(error, ASTRO_GRAPH_ERROR, ASTRO_GRAPH_ERROR_PARAMETER, "%s: parameter %s %s",
                graph->file, name, reason);
    return FALSE;
  }
  g_free(parameter->value);
  parameter->value = g_strdup(value + 1);
  parameter->set = TRUE;
  return TRUE;
}

/* ---- lines that are there for some values only ---- */

static gboolean is_there(const AstroToken *token)
{
  return !token->when || (*astro_parameter_value(token->when) == 0) == token->otherwise;
}

static gboolean refers_to(const AstroToken *token, const AstroParameter *parameter)
{
  for (guint i = 0; i < token->parts->len; i++) {
    const AstroPart *part = token->parts->pdata[i];
    if (part->parameter && g_str_equal(part->text, parameter->name))
      return TRUE;
  }
  return FALSE;
}

/* The condition of a token that is not there and refers to the parameter, if no other token does;
 * else NULL. */
static const AstroToken *find_unused(const AstroGraph *graph, const AstroParameter *parameter)
{
  const AstroToken *unused = NULL;
  for (guint i = 0; i < graph->parameters->len; i++)
    if (((AstroParameter *)graph->parameters->pdata[i])->follows == parameter)
      return NULL;
  for (guint i = 0; i < graph->tokens->len; i++) {
    const AstroToken *token = graph->tokens->pdata[i];
    if (token->when == parameter || (refers_to(token, parameter) && is_there(token)))
      return NULL;
    if (refers_to(token, parameter))
      unused = token;
  }
  return unused;
}

gboolean astro_graph_settle(AstroGraph *graph, GError **error)
{
  for (guint i = 0; i < graph->parameters->len; i++) {
    const AstroParameter *parameter = graph->parameters->pdata[i];
    const AstroToken *unused = parameter->set ? find_unused(graph, parameter) : NULL;
    if (unused) {
      g_set_error(error, ASTRO_GRAPH_ERROR, ASTRO_GRAPH_ERROR_PARAMETER,
                  "%s: parameter %s is not used %s %s", graph->file, parameter->name,
                  unused->otherwise ? "with" : "without", unused->when->name);
      return FALSE;
    }
  }
  for (guint i = graph->tokens->len; i-- > 0;) {
    AstroToken *token = graph->tokens->pdata[i];
    if (is_there(token))
      token->when = NULL;
    else
      g_ptr_array_remove_index(graph->tokens, i);
  }
  return astro_graph_check_links(graph, error);
}
