/* Lines of a graph that begin with @: declarations of parameters, conditions and rounds. */
#include "graphs/job.h"
#include "graphs/scan-parts.h"

#include <string.h>

static void skip_blanks(AstroScanner *s)
{
  while (astro_scan_is_blank(*s->at))
    s->at++;
}

/* Scans and decodes a quoted string in a declaration. */
static char *scan_declared_string(AstroScanner *s)
{
  g_autoptr(GString) text = g_string_new(NULL);
  char quote = *s->at;
  for (astro_scan_step(s); *s->at != quote; astro_scan_step(s)) {
    if (*s->at == '\\' && (s->at[1] == quote || s->at[1] == '\\'))
      astro_scan_step(s);
    if (!*s->at || *s->at == '\n') {
      astro_scan_fail(s, s->line, "the quote is not closed on this line");
      return NULL;
    }
    g_string_append_c(text, *s->at);
  }
  astro_scan_step(s);
  return g_strdup(text->str);
}

/* A default may be another parameter that was declared above; the order excludes circles. */
static gboolean follow(AstroScanner *s, AstroParameter *parameter)
{
  const char *text = parameter->fallback;
  if (!strstr(text, "${"))
    return TRUE;
  gsize n = astro_scan_is_reference(text) ? astro_scan_name_length(text + 2) : 0;
  if (!n || strcmp(text + 2 + n, "}") != 0)
    return astro_scan_fail(s, s->line,
                           "the default of %s uses another parameter: expected plain text, or "
                           "${name} and nothing else",
                           parameter->name);
  g_autofree char *name = g_strndup(text + 2, n);
  parameter->follows = astro_graph_parameter(s->graph, name);
  if (!parameter->follows || parameter->follows == parameter)
    return astro_scan_fail(s, s->line,
                           "the default of %s is %s, expected a parameter that is declared above",
                           parameter->name, text);
  parameter->follows->used = TRUE;
  return TRUE;
}

static gboolean scan_default(AstroScanner *s, AstroParameter *parameter)
{
  if (*s->at == '"' || *s->at == '\'') {
    parameter->fallback = scan_declared_string(s);
    if (!parameter->fallback)
      return FALSE;
  } else {
    gsize n = strcspn(s->at, " \t\r\n");
    parameter->fallback = g_strndup(s->at, n);
    s->at += n;
  }
  parameter->value = g_strdup(parameter->fallback);
  return follow(s, parameter);
}

/* Scans a declaration, at its @: @name default "help" */
static gboolean scan_declaration(AstroScanner *s)
{
  AstroParameter *parameter = g_new0(AstroParameter, 1);
  gsize n = astro_scan_name_length(s->at + 1);
  parameter->name = g_strndup(s->at + 1, n);
  parameter->line = s->line;
  const AstroParameter *other = astro_graph_parameter(s->graph, parameter->name);
  g_ptr_array_add(s->graph->parameters, parameter);
  s->at += n + 1;
  if (!n || !astro_scan_is_blank(*s->at))
    return astro_scan_fail(s, s->line, "a parameter is declared as: @name default \"help\"");
  if (other && astro_parameter_is_of_job(other))
    return astro_scan_fail(
        s, s->line,
        "parameter %s: ${%s} has a meaning of its own in every graph, expected another "
        "name",
        other->name, other->name);
  if (other)
    return astro_scan_fail(s, s->line, "parameter %s is already declared on line %u", other->name,
                           other->line);
  skip_blanks(s);
  if (!scan_default(s, parameter))
    return FALSE;
  skip_blanks(s);
  if (*s->at != '"' && *s->at != '\'')
    return astro_scan_fail(s, s->line, "parameter %s has no help: @%s default \"help\"",
                           parameter->name, parameter->name);
  parameter->help = scan_declared_string(s);
  if (!parameter->help)
    return FALSE;
  if (!parameter->help[strspn(parameter->help, " \t")])
    return astro_scan_fail(s, s->line, "parameter %s has an empty help text", parameter->name);
  skip_blanks(s);
  if (*s->at == '#')
    astro_scan_skip_comment(s);
  if (*s->at && *s->at != '\n')
    return astro_scan_fail(s, s->line, "text after the help of parameter %s", parameter->name);
  return TRUE;
}

/* ---- lines that are there for some values only ---- */

static gboolean scan_if(AstroScanner *s, const char *name)
{
  if (s->when)
    return astro_scan_fail(s, s->line, "@if within the @if of line %u, expected its @end first",
                           s->when_line);
  s->when = astro_graph_parameter(s->graph, name);
  if (!s->when)
    return astro_scan_fail(s, s->line, "@if %s: expected a parameter that is declared above", name);
  s->when->used = TRUE;
  s->when_line = s->line;
  s->otherwise = FALSE;
  return TRUE;
}

static gboolean scan_else(AstroScanner *s, const char *rest)
{
  if (!s->when || s->otherwise || *rest)
    return astro_scan_fail(s, s->line,
                           "@else, expected it alone on a line between @if and @end, once");
  s->otherwise = TRUE;
  return TRUE;
}

static gboolean scan_end(AstroScanner *s, const char *rest)
{
  if (!s->when || *rest)
    return astro_scan_fail(s, s->line, "@end, expected it alone on a line after an @if");
  s->when = NULL;
  s->otherwise = FALSE;
  return TRUE;
}

/* ---- several pipelines, one after another ---- */

/* Adds the text in quotes that says what a pipeline does, or "". */
static gboolean add_purpose(AstroScanner *s, AstroToken *mark, const char *rest)
{
  const gsize n = strlen(rest);
  if (!n) {
    astro_token_add(mark, "", 0, FALSE);
    return TRUE;
  }
  if (n < 3 || rest[0] != '"' || memchr(rest + 1, '"', n - 1) != rest + n - 1)
    return astro_scan_fail(
        s, s->line, "expected a text in double quotes that says what the pipeline does: %s", rest);
  astro_token_add(mark, rest + 1, n - 2, FALSE);
  return TRUE;
}

static gboolean scan_round(AstroScanner *s, const char *rest)
{
  AstroToken *mark = astro_scan_add_token(s, ASTRO_TOKEN_ROUND, FALSE);
  gsize n = strspn(rest, "0123456789");
  if (astro_scan_is_reference(rest)) {
    const gsize name = astro_scan_name_length(rest + 2);
    g_autofree char *text = g_strndup(rest + 2, name);
    AstroParameter *parameter = astro_graph_parameter(s->graph, text);
    if (!name || rest[2 + name] != '}' || !parameter)
      return astro_scan_fail(s, s->line, "@round %s: expected a parameter that is declared above",
                             rest);
    astro_token_add(mark, text, -1, TRUE);
    n = name + 3;
  } else {
    astro_token_add(mark, rest, n, FALSE);
  }
  if (rest[n] && !astro_scan_is_blank(rest[n]) && rest[n] != '"')
    return astro_scan_fail(s, s->line, "@round %s: expected how often, as a number or ${parameter}",
                           rest);
  rest += n;
  return add_purpose(s, mark, rest + strspn(rest, " \t\r"));
}

static gboolean scan_then(AstroScanner *s, const char *rest)
{
  return add_purpose(s, astro_scan_add_token(s, ASTRO_TOKEN_THEN, FALSE), rest);
}

static const struct {
  const char *word;
  gboolean (*scan)(AstroScanner *s, const char *rest);
} marks[] = { { "@if", scan_if },
              { "@else", scan_else },
              { "@end", scan_end },
              { "@round", scan_round },
              { "@then", scan_then } };

gboolean astro_scan_line(AstroScanner *s)
{
  for (guint i = 0; i < G_N_ELEMENTS(marks); i++) {
    const gsize n = strlen(marks[i].word);
    if (strncmp(s->at, marks[i].word, n) || (s->at[n] && !g_ascii_isspace(s->at[n])))
      continue;
    g_autofree char *line = g_strndup(s->at + n, strcspn(s->at + n, "\n"));
    char *comment = strstr(line, " #");
    if (comment)
      *comment = 0;
    s->at += n + strcspn(s->at + n, "\n");
    return marks[i].scan(s, g_strstrip(line));
  }
  return scan_declaration(s);
}
