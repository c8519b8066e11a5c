/* From a graph with rounds to pipelines that run one after another. */
#include "graphs/passes.h"

/* Part of the graph's tokens: one pipeline, without the line that it begins after. */
typedef struct {
  const AstroToken *mark; /* that line; NULL: the graph begins with a pipeline */
  guint first, end;
} Span;

static void pass_free(gpointer data)
{
  AstroPass *pass = data;
  astro_graph_free(pass->graph);
  g_free(pass->label);
  g_free(pass);
}

static GArray *find_spans(const AstroGraph *graph)
{
  GArray *spans = g_array_new(FALSE, FALSE, sizeof(Span));
  Span span = { 0 };
  for (guint i = 0; i <= graph->tokens->len; i++) {
    const AstroToken *token = i < graph->tokens->len ? graph->tokens->pdata[i] : NULL;
    if (token && !astro_token_is_mark(token))
      continue;
    span.end = i;
    if (span.end > span.first)
      g_array_append_val(spans, span);
    span = (Span){ .mark = token, .first = i + 1 };
  }
  return spans;
}

static gboolean begins_rounds(const Span *span)
{
  return !span->mark || span->mark->kind == ASTRO_TOKEN_ROUND;
}

static const AstroPart *count_of(const Span *span)
{
  return span->mark ? span->mark->parts->pdata[0] : NULL;
}

static gboolean read_rounds(const AstroGraph *graph, const Span *span, guint *rounds,
                            GError **error)
{
  const AstroPart *count = count_of(span);
  *rounds = 1;
  if (!count || !*count->text)
    return TRUE;
  const AstroParameter *parameter =
      count->parameter ? astro_graph_parameter(graph, count->text) : NULL;
  const char *text = parameter ? astro_parameter_value(parameter) : count->text;
  guint64 value;
  if (g_ascii_string_to_unsigned(text, 10, 0, ASTRO_ROUNDS_MOST, &value, NULL)) {
    *rounds = (guint)value;
    return TRUE;
  }
  g_autofree char *what =
      parameter ? g_strdup_printf("parameter %s", parameter->name) : g_strdup("@round");
  g_set_error(error, ASTRO_GRAPH_ERROR, ASTRO_GRAPH_ERROR_PARAMETER,
              "%s:%u: %s is \"%s\", expected a whole number from 0 to %u%s%s", graph->file,
              span->mark->line, what, text, ASTRO_ROUNDS_MOST, parameter ? ": " : "",
              parameter ? parameter->help : "");
  return FALSE;
}

static void add_value(GPtrArray *values, const AstroParameter *like, const char *value)
{
  AstroParameter *parameter = g_new0(AstroParameter, 1);
  parameter->name = g_strdup(like->name);
  parameter->value = g_strdup(value);
  parameter->set = TRUE;
  g_ptr_array_add(values, parameter);
}

/* The values of ${round}, ${last} and ${folder}, in the order of graph->rounds. */
static void add_values(const AstroGraph *graph, guint round, const char *folder, GPtrArray *values)
{
  g_autofree char *this = g_strdup_printf("%u", round), *last = g_strdup_printf("%u", round - 1);
  const char *const all[] = { this, last, folder };
  for (guint i = 0; i < graph->rounds->len; i++)
    add_value(values, graph->rounds->pdata[i], all[i]);
}

static AstroGraph *graph_of(const AstroGraph *graph, const Span *span, guint round,
                            const char *folder)
{
  AstroGraph *part = astro_graph_empty(graph->file);
  part->text = g_strdup(graph->text);
  g_ptr_array_unref(part->parameters);
  part->parameters = g_ptr_array_ref(graph->parameters);
  add_values(graph, round, folder, part->rounds);
  for (guint i = span->first; i < span->end; i++)
    g_ptr_array_add(part->tokens, astro_token_copy(graph->tokens->pdata[i]));
  return part;
}

/* rounds: how many there are; 0: the file does not say, so that the label need not either. */
static char *label_of(const Span *span, guint pipeline, guint round, guint rounds)
{
  const GPtrArray *parts = span->mark ? span->mark->parts : NULL;
  const AstroPart *purpose = parts ? parts->pdata[parts->len - 1] : NULL;
  g_autofree char *name = purpose && *purpose->text ? g_strdup(purpose->text)
                                                    : g_strdup_printf("pipeline %u", pipeline);
  return rounds ? g_strdup_printf("%s, round %u of %u", name, round, rounds)
                : g_steal_pointer(&name);
}

/* Adds the pipelines from first to end, which are repeated together. */
static void add_rounds(const AstroGraph *graph, const GArray *spans, guint first, guint end,
                       guint rounds, const char *folder, GPtrArray *passes)
{
  const AstroPart *count = count_of(&g_array_index(spans, Span, first));
  const guint told = count && *count->text ? rounds : 0;
  for (guint round = 1; round <= rounds; round++)
    for (guint i = first; i < end; i++) {
      const Span *span = &g_array_index(spans, Span, i);
      AstroPass *pass = g_new0(AstroPass, 1);
      pass->graph = graph_of(graph, span, round, folder);
      pass->pipeline = i + 1;
      pass->label = spans->len > 1 || span->mark ? label_of(span, i + 1, round, told) : NULL;
      g_ptr_array_add(passes, pass);
    }
}

GPtrArray *astro_passes_of(const AstroGraph *graph, const char *folder, GError **error)
{
  g_autoptr(GPtrArray) passes = g_ptr_array_new_with_free_func(pass_free);
  g_autoptr(GArray) spans = find_spans(graph);
  for (guint first = 0, end; first < spans->len; first = end) {
    guint rounds;
    for (end = first + 1; end < spans->len; end++)
      if (begins_rounds(&g_array_index(spans, Span, end)))
        break;
    if (!read_rounds(graph, &g_array_index(spans, Span, first), &rounds, error))
      return NULL;
    add_rounds(graph, spans, first, end, rounds, folder, passes);
  }
  if (passes->len)
    return g_steal_pointer(&passes);
  g_set_error(error, ASTRO_GRAPH_ERROR, ASTRO_GRAPH_ERROR_PARAMETER,
              "%s: all its pipelines are repeated 0 times, expected one that runs", graph->file);
  return NULL;
}

gboolean astro_passes_need_folder(const AstroGraph *graph)
{
  for (guint i = 0; graph->rounds->len && i < graph->tokens->len; i++) {
    const AstroToken *token = graph->tokens->pdata[i];
    for (guint j = 0; j < token->parts->len; j++) {
      const AstroPart *part = token->parts->pdata[j];
      if (part->parameter && g_str_equal(part->text, "folder"))
        return TRUE;
    }
  }
  return FALSE;
}
