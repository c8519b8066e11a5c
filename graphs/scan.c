/* From text to tokens. Values of properties are decoded as GStreamer's parser does it, so that
 * expand.c can write them in its one safe form. */
#include "graphs/job.h"
#include "graphs/scan-parts.h"

#include <stdarg.h>
#include <string.h>

gboolean astro_scan_fail(AstroScanner *s, guint line, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *reason = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_set_error(s->error, ASTRO_GRAPH_ERROR, ASTRO_GRAPH_ERROR_SYNTAX, "%s:%u: %s", s->graph->file,
              line, reason);
  return FALSE;
}

AstroToken *astro_scan_add_token(AstroScanner *s, AstroTokenKind kind, gboolean joined)
{
  AstroToken *token = astro_token_new(kind, s->line, joined);
  token->when = s->when;
  token->otherwise = s->otherwise;
  g_ptr_array_add(s->graph->tokens, token);
  return token;
}

void astro_scan_step(AstroScanner *s)
{
  s->at++;
  s->line_start = FALSE;
}

static void take(AstroScanner *s, GString *text)
{
  if (*s->at == '\n') {
    s->line++;
    g_string_append_c(text, ' ');
  } else if (*s->at != '\r') {
    g_string_append_c(text, *s->at);
  }
  astro_scan_step(s);
}

static void flush_literal(AstroToken *token, GString *text)
{
  if (text->len)
    astro_token_add(token, text->str, text->len, FALSE);
  g_string_truncate(text, 0);
}

gsize astro_scan_name_length(const char *at)
{
  gsize n = 0;
  if (g_ascii_isalpha(*at))
    while (g_ascii_isalnum(at[n]) || at[n] == '-' || at[n] == '_')
      n++;
  return n;
}

/* Scans a reference, at "${". */
static gboolean scan_reference(AstroScanner *s, AstroToken *token, GString *text)
{
  gsize n = astro_scan_name_length(s->at + 2);
  if (!n || s->at[2 + n] != '}')
    return astro_scan_fail(s, s->line, "${ is not followed by a parameter's name and }");
  flush_literal(token, text);
  astro_token_add(token, s->at + 2, n, TRUE);
  s->at += n + 3;
  s->line_start = FALSE;
  return TRUE;
}

void astro_scan_skip_comment(AstroScanner *s)
{
  while (*s->at && *s->at != '\n')
    s->at++;
}

/* Skips white space, comments and declarations. Sets *any if there were any. */
static gboolean skip_space(AstroScanner *s, gboolean *any)
{
  *any = s->line_start;
  for (;; *any = TRUE) {
    if (*s->at == '\n') {
      s->line++;
      s->at++;
      s->line_start = TRUE;
    } else if (astro_scan_is_blank(*s->at)) {
      s->at++;
    } else if (*s->at == '#' && (*any || s->line_start)) {
      astro_scan_skip_comment(s);
    } else if (*s->at == '@' && s->line_start) {
      if (!astro_scan_line(s))
        return FALSE;
    } else {
      return TRUE;
    }
  }
}

/* Scans a property's value up to end (a quote) or, if end is 0, to white space. As in GStreamer a
 * backslash takes the next character literally, but not within double quotes inside the value. */
static gboolean scan_value_text(AstroScanner *s, AstroToken *token, char end)
{
  g_autoptr(GString) text = g_string_new(NULL);
  gboolean within = FALSE;
  guint start = s->line;
  while (end ? *s->at != end : !g_ascii_isspace(*s->at) && *s->at) {
    if (!*s->at)
      return astro_scan_fail(s, start, "the quote %c that begins here is not closed", end);
    if (*s->at == '\\' && (!s->at[1] || s->at[1] == '\n' || s->at[1] == '\r'))
      return astro_scan_fail(s, s->line, "a backslash at the end of a line");
    if (astro_scan_is_reference(s->at)) {
      if (!scan_reference(s, token, text))
        return FALSE;
      continue;
    }
    if (*s->at == '\\') {
      if (within)
        g_string_append_c(text, '\\');
      astro_scan_step(s);
    } else if (*s->at == '"') {
      within = !within;
    }
    take(s, text);
  }
  if (end)
    astro_scan_step(s);
  flush_literal(token, text);
  return TRUE;
}

/* Whether the quoted string is the whole value; a value may also merely begin with a quote. */
static gboolean is_quoted(const char *at)
{
  char quote = *at;
  if (quote != '"' && quote != '\'')
    return FALSE;
  for (at++; *at && *at != quote; at++)
    if (*at == '\\' && at[1])
      at++;
  return !*at || !at[1] || g_ascii_isspace(at[1]);
}

static gboolean scan_value(AstroScanner *s)
{
  AstroToken *token = astro_scan_add_token(s, ASTRO_TOKEN_VALUE, TRUE);
  char quote = is_quoted(s->at) ? *s->at : 0;
  if (quote)
    astro_scan_step(s);
  return scan_value_text(s, token, quote);
}

/* Length of "name =" here, with white space around =; 0 if there is no assignment. */
static gsize assignment_length(const char *at, gsize *name)
{
  gsize n = 0;
  if (g_ascii_isalnum(*at) || *at == '_')
    while (g_ascii_isalnum(at[n]) || (at[n] && strchr("-_%:", at[n])))
      n++;
  *name = n;
  if (!n)
    return 0;
  while (g_ascii_isspace(at[n]))
    n++;
  if (at[n] != '=')
    return 0;
  for (n++; g_ascii_isspace(at[n]);)
    n++;
  return n;
}

static gboolean scan_assignment(AstroScanner *s, gsize name, gsize bytes)
{
  g_autofree char *text = g_strdup_printf("%.*s=", (int)name, s->at);
  astro_token_add(astro_scan_add_token(s, ASTRO_TOKEN_WORD, FALSE), text, -1, FALSE);
  for (gsize i = 0; i < bytes; i++) {
    s->line += *s->at == '\n';
    astro_scan_step(s);
  }
  return scan_value(s);
}

#define CAPS_PUNCTUATION ",;=(){}[]<>"

static gsize mime_length(const char *at)
{
  const char *mime = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
  gsize type = strspn(at, mime);
  gsize subtype = at[type] == '/' ? strspn(at + type + 1, mime) : 0;
  gsize n = type + 1 + subtype;
  return type && subtype &&
                 (!at[n] || g_ascii_isspace(at[n]) || strchr(CAPS_PUNCTUATION "!", at[n]))
             ? n
             : 0;
}

static gboolean is_octal(const char *at)
{
  return at[0] >= '0' && at[0] <= '3' && at[1] >= '0' && at[1] <= '7' && at[2] >= '0' &&
         at[2] <= '7';
}

/* At a backslash in a string in caps: \ooo is a byte, any other character stands for itself. */
static gboolean take_escaped(AstroScanner *s, GString *text)
{
  astro_scan_step(s);
  if (!is_octal(s->at)) {
    if (*s->at)
      take(s, text);
    return TRUE;
  }
  char byte = (s->at[0] - '0') << 6 | (s->at[1] - '0') << 3 | (s->at[2] - '0');
  if (!byte)
    return astro_scan_fail(s, s->line, "\\000 in a string");
  g_string_append_c(text, byte);
  s->at += 3;
  return TRUE;
}

static gboolean scan_caps_string(AstroScanner *s, gboolean joined)
{
  AstroToken *token = astro_scan_add_token(s, ASTRO_TOKEN_CAPS_STRING, joined);
  g_autoptr(GString) text = g_string_new(NULL);
  guint start = s->line;
  for (astro_scan_step(s); *s->at != '"';) {
    if (!*s->at)
      return astro_scan_fail(s, start, "the quote that begins here is not closed");
    if (*s->at == '\\') {
      if (!take_escaped(s, text))
        return FALSE;
    } else if (astro_scan_is_reference(s->at)) {
      if (!scan_reference(s, token, text))
        return FALSE;
    } else {
      take(s, text);
    }
  }
  astro_scan_step(s);
  flush_literal(token, text);
  return TRUE;
}

static gboolean scan_caps_value(AstroScanner *s, gboolean joined)
{
  AstroToken *token = astro_scan_add_token(s, ASTRO_TOKEN_CAPS, joined);
  g_autoptr(GString) text = g_string_new(NULL);
  while (*s->at && !g_ascii_isspace(*s->at) && !strchr(CAPS_PUNCTUATION "!\"", *s->at)) {
    if (astro_scan_is_reference(s->at)) {
      if (!scan_reference(s, token, text))
        return FALSE;
      continue;
    }
    if (*s->at == '\\' || *s->at == '$')
      return astro_scan_fail(s, s->line, "%c in caps, outside quotes", *s->at);
    take(s, text);
  }
  flush_literal(token, text);
  return TRUE;
}

static gboolean scan_caps(AstroScanner *s, gsize mime)
{
  guint start = s->line;
  gboolean space, joined = FALSE;
  astro_token_add(astro_scan_add_token(s, ASTRO_TOKEN_WORD, FALSE), s->at, mime, FALSE);
  for (gsize i = 0; i < mime; i++)
    astro_scan_step(s);
  for (;;) {
    if (!skip_space(s, &space))
      return FALSE;
    if (!*s->at)
      return astro_scan_fail(s, start, "caps need a ! and an element after them");
    if (*s->at == '!')
      return TRUE;
    if (strchr(CAPS_PUNCTUATION, *s->at)) {
      astro_token_add(astro_scan_add_token(s, ASTRO_TOKEN_CAPS, TRUE), s->at, 1, FALSE);
      astro_scan_step(s);
      joined = TRUE;
      continue;
    }
    if (!(*s->at == '"' ? scan_caps_string : scan_caps_value)(s, joined || !space))
      return FALSE;
    joined = FALSE;
  }
}

static gboolean scan_word(AstroScanner *s)
{
  AstroToken *token = astro_scan_add_token(s, ASTRO_TOKEN_WORD, FALSE);
  g_autoptr(GString) text = g_string_new(NULL);
  gboolean slash = FALSE;
  if (*s->at == '-')
    return astro_scan_fail(s, s->line,
                           "an option of gst-launch: a graph may hold only the pipeline");
  if (*s->at == '#' || *s->at == '@')
    return astro_scan_fail(s, s->line, "%s",
                           *s->at == '#'
                               ? "a comment needs a space before its #"
                               : "a declaration (@name default \"help\") needs a line of its own");
  do {
    if (*s->at == '"' || *s->at == '\'' || *s->at == '\\')
      return astro_scan_fail(
          s, s->line,
          "%c where an element, a link or caps should be (caps need no quotes around them)",
          *s->at);
    if (*s->at == '=')
      return astro_scan_fail(s, s->line, "= without a property's name before it");
    if (astro_scan_is_reference(s->at)) {
      if (!scan_reference(s, token, text))
        return FALSE;
    } else {
      slash |= *s->at == '/';
      take(s, text);
    }
  } while (*s->at && !g_ascii_isspace(*s->at) && !strchr("!()", *s->at));
  flush_literal(token, text);
  if (slash && !astro_token_literal(token, ASTRO_TOKEN_WORD))
    return astro_scan_fail(s, token->line, "a parameter cannot be part of a media type");
  return TRUE;
}

static gboolean scan_operator(AstroScanner *s, gboolean *after_link)
{
  *after_link = *s->at == '!' || *s->at == ':';
  astro_token_add(astro_scan_add_token(s, ASTRO_TOKEN_WORD, FALSE), s->at, 1, FALSE);
  astro_scan_step(s);
  return TRUE;
}

static gboolean is_operator(const char *at)
{
  return strchr("!()", *at) || (*at == ':' && (!at[1] || g_ascii_isspace(at[1])));
}

static gboolean scan_tokens(AstroScanner *s)
{
  gboolean space, after_link = FALSE;
  gsize n, name;
  for (;;) {
    if (!skip_space(s, &space))
      return FALSE;
    if (!*s->at)
      return TRUE;
    if (is_operator(s->at)) {
      if (!scan_operator(s, &after_link))
        return FALSE;
      continue;
    }
    gboolean done;
    if (after_link && (n = mime_length(s->at)))
      done = scan_caps(s, n);
    else if ((n = assignment_length(s->at, &name)))
      done = scan_assignment(s, name, n);
    else
      done = scan_word(s);
    if (!done)
      return FALSE;
    after_link = FALSE;
  }
}

static gboolean check_parameters(AstroScanner *s)
{
  for (guint i = 0; i < s->graph->tokens->len; i++) {
    const AstroToken *token = s->graph->tokens->pdata[i];
    for (guint j = 0; j < token->parts->len; j++) {
      const AstroPart *part = token->parts->pdata[j];
      AstroParameter *parameter =
          part->parameter ? astro_graph_reference(s->graph, part->text) : NULL;
      if (part->parameter && !parameter)
        return astro_scan_fail(s, token->line,
                               "${%s} is not declared: @%s default \"help\" declares it",
                               part->text, part->text);
      if (parameter)
        parameter->used = TRUE;
    }
  }
  for (guint i = 0; i < s->graph->parameters->len; i++) {
    const AstroParameter *parameter = s->graph->parameters->pdata[i];
    if (!parameter->used && !astro_parameter_is_of_job(parameter))
      return astro_scan_fail(s, parameter->line, "parameter %s is declared but never used",
                             parameter->name);
  }
  return TRUE;
}

static gboolean has_rounds(const AstroGraph *graph)
{
  for (guint i = 0; i < graph->tokens->len; i++)
    if (astro_token_is_mark(graph->tokens->pdata[i]))
      return TRUE;
  return FALSE;
}

/* Makes the names that a graph with rounds can refer to. */
static gboolean add_rounds(AstroScanner *s)
{
  static const char *const names[] = { "round", "last", "folder" };
  for (guint i = 0; has_rounds(s->graph) && i < G_N_ELEMENTS(names); i++) {
    const AstroParameter *other = astro_graph_parameter(s->graph, names[i]);
    if (other)
      return astro_scan_fail(
          s, other->line,
          "parameter %s: in a graph with rounds ${%s} has a meaning of its own, expected "
          "another name",
          names[i], names[i]);
    AstroParameter *parameter = g_new0(AstroParameter, 1);
    parameter->name = g_strdup(names[i]);
    parameter->value = g_strdup("");
    parameter->set = TRUE;
    g_ptr_array_add(s->graph->rounds, parameter);
  }
  return TRUE;
}

gboolean astro_graph_scan(AstroGraph *graph, GError **error)
{
  AstroScanner s = {
    .graph = graph, .at = graph->text, .line = 1, .line_start = TRUE, .error = error
  };
  astro_graph_add_job(graph);
  if (!scan_tokens(&s))
    return FALSE;
  if (s.when)
    return astro_scan_fail(&s, s.when_line, "@if without an @end");
  return astro_graph_check_branch(graph, FALSE, error) &&
         astro_graph_check_branch(graph, TRUE, error) && add_rounds(&s) && check_parameters(&s) &&
         astro_graph_settle_job(graph);
}
