/* Finds links and brackets for which GStreamer would report a syntax error without its place. */
#include "graphs/graph.h"
#include <stdarg.h>

G_GNUC_PRINTF(4, 5)
static gboolean fail(const AstroGraph *graph, guint line, GError **error, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *reason = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_set_error(error, ASTRO_GRAPH_ERROR, ASTRO_GRAPH_ERROR_SYNTAX, "%s:%u: %s", graph->file, line,
              reason);
  return FALSE;
}

static gboolean is_link(const char *text)
{
  return !g_strcmp0(text, "!") || !g_strcmp0(text, ":");
}

/* The elements and links seen so far of the pipeline that is being checked. */
typedef struct {
  const AstroToken *mark; /* the line that it begins after; NULL: it is the first */
  const AstroToken *before, *open;
  int depth;
} Pipeline;

static gboolean check_token(const AstroGraph *graph, const AstroToken *token, Pipeline *pipeline,
                            GError **error)
{
  const AstroToken *before = pipeline->before;
  const char *text = astro_token_literal(token, ASTRO_TOKEN_WORD);
  const char *last = before ? astro_token_literal(before, ASTRO_TOKEN_WORD) : "(";
  if (is_link(text) && (is_link(last) || !g_strcmp0(last, "(")))
    return fail(graph, token->line, error, "%s has no element before it", text);
  if (!g_strcmp0(text, ")") && is_link(last))
    return fail(graph, before->line, error, "%s has no element after it", last);
  if (!g_strcmp0(text, "(") && pipeline->depth++ == 0)
    pipeline->open = token;
  if (!g_strcmp0(text, ")") && pipeline->depth-- == 0)
    return fail(graph, token->line, error, ") without a ( before it");
  pipeline->before = token;
  return TRUE;
}

static guint count_lines(const char *text)
{
  guint lines = 1;
  for (; *text; text++)
    lines += *text == '\n';
  return lines;
}

/* A graph may begin with a line @round, before which there need be no pipeline. */
static gboolean check_end(const AstroGraph *graph, const Pipeline *pipeline, gboolean is_last,
                          GError **error)
{
  const AstroToken *before = pipeline->before;
  if (!before && pipeline->mark)
    return fail(graph, pipeline->mark->line, error, "no pipeline after this line");
  if (!before)
    return is_last ? fail(graph, count_lines(graph->text), error,
                          "no pipeline: only comments and parameters")
                   : TRUE;
  const char *last = astro_token_literal(before, ASTRO_TOKEN_WORD);
  if (is_link(last))
    return fail(graph, before->line, error, "%s has no element after it", last);
  return pipeline->depth ? fail(graph, pipeline->open->line, error, "( is not closed") : TRUE;
}

gboolean astro_graph_check_branch(const AstroGraph *graph, gboolean otherwise, GError **error)
{
  Pipeline pipeline = { 0 };
  for (guint i = 0; i < graph->tokens->len; i++) {
    const AstroToken *token = graph->tokens->pdata[i];
    if (token->when && token->otherwise != otherwise)
      continue;
    if (!astro_token_is_mark(token)) {
      if (!check_token(graph, token, &pipeline, error))
        return FALSE;
      continue;
    }
    if (!check_end(graph, &pipeline, FALSE, error))
      return FALSE;
    if (token->kind == ASTRO_TOKEN_THEN && !pipeline.mark && !pipeline.before)
      return fail(graph, token->line, error, "@then without a pipeline before it");
    pipeline = (Pipeline){ .mark = token };
  }
  return check_end(graph, &pipeline, TRUE, error);
}

gboolean astro_graph_check_links(const AstroGraph *graph, GError **error)
{
  return astro_graph_check_branch(graph, FALSE, error);
}
