/* From tokens to gst-launch syntax. Each kind of token is written in one way that no value can
 * break. */
#include "graphs/graph.h"
#include <string.h>

static const char *part_text(const AstroGraph *graph, const AstroPart *part)
{
  return part->parameter ? astro_parameter_value(astro_graph_reference(graph, part->text))
                         : part->text;
}

static gboolean is_plain(const char *text, const char *also)
{
  for (; *text; text++)
    if (!g_ascii_isalnum(*text) && !strchr(also, *text))
      return FALSE;
  return TRUE;
}

char *astro_token_text(const AstroGraph *graph, const AstroToken *token)
{
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < token->parts->len; i++)
    g_string_append(text, part_text(graph, token->parts->pdata[i]));
  return g_string_free(text, FALSE);
}

static gboolean write_word(const AstroGraph *graph, const AstroToken *token, const char *text,
                           GString *out, GError **error)
{
  for (guint i = 0; i < token->parts->len; i++) {
    const AstroPart *part = token->parts->pdata[i];
    const char *value = part_text(graph, part);
    if (part->parameter && (!g_ascii_isalnum(*value) || !is_plain(value, "-_"))) {
      g_set_error(error, ASTRO_GRAPH_ERROR, ASTRO_GRAPH_ERROR_PARAMETER,
                  "%s:%u: parameter %s: \"%s\" cannot be an element or a part of its name",
                  graph->file, token->line, part->text, value);
      return FALSE;
    }
  }
  g_string_append(out, text);
  return TRUE;
}

static gboolean edge_is_inserted(const AstroGraph *graph, const AstroToken *token, gboolean last)
{
  for (guint i = 0; i < token->parts->len; i++) {
    const AstroPart *part = token->parts->pdata[last ? token->parts->len - 1 - i : i];
    if (*part_text(graph, part))
      return part->parameter;
  }
  return FALSE;
}

/* Writes a bare word, with a backslash before every character that could have a meaning. That
 * includes a - after a space, which gst-launch-1.0 would take for an option. */
static void write_escaped(const char *text, GString *out)
{
  for (char before = 0; *text; before = *text++) {
    gboolean plain = g_ascii_isalnum(*text) || *text & 0x80 || strchr("_./:+,@%=", *text) ||
                     (*text == '-' && before != ' ');
    if (!plain)
      g_string_append_c(out, '\\');
    g_string_append_c(out, *text);
  }
}

#define STRING_PLAIN "_-+/:."

/* Writes a string as GStreamer serializes it, between double quotes with octal bytes. */
static void write_wrapped(const char *text, GString *out)
{
  g_string_append_c(out, '"');
  for (; *text; text++) {
    if (g_ascii_isalnum(*text) || strchr(STRING_PLAIN, *text))
      g_string_append_c(out, *text);
    else
      g_string_append_printf(out, "\\%03o", (guint8)*text);
  }
  g_string_append_c(out, '"');
}

/* GStreamer strips quotes from a property's string if it has them at both ends, which must not
 * happen to quotes in the user's value. And its parser takes the space after a final backslash,
 * escaped or not, as part of the value. A wrapped string has neither problem. */
static gboolean needs_wrapping(const AstroGraph *graph, const AstroToken *token, const char *text)
{
  gsize bytes = strlen(text);
  return g_str_has_suffix(text, "\\") ||
         (bytes && text[0] == '"' && text[bytes - 1] == '"' &&
          (edge_is_inserted(graph, token, FALSE) || edge_is_inserted(graph, token, TRUE)));
}

static gboolean write_value(const AstroGraph *graph, const AstroToken *token, const char *text,
                            GString *out, GError **error)
{
  g_autoptr(GString) wrapped = g_string_new(NULL);
  if (needs_wrapping(graph, token, text))
    write_wrapped(text, wrapped);
  if (*text)
    write_escaped(wrapped->len ? wrapped->str : text, out);
  else
    g_string_append(out, "\"\"");
  return TRUE;
}

static gboolean write_caps_string(const AstroGraph *graph, const AstroToken *token,
                                  const char *text, GString *out, GError **error)
{
  write_wrapped(text, out);
  return TRUE;
}

static gboolean write_caps(const AstroGraph *graph, const AstroToken *token, const char *text,
                           GString *out, GError **error)
{
  gboolean plain = *text != 0;
  for (guint i = 0; i < token->parts->len; i++) {
    const AstroPart *part = token->parts->pdata[i];
    plain &= !part->parameter || is_plain(part_text(graph, part), STRING_PLAIN);
  }
  if (!plain)
    return write_caps_string(graph, token, text, out, error);
  g_string_append(out, text);
  return TRUE;
}

static gboolean (*const writers[])(const AstroGraph *, const AstroToken *, const char *, GString *,
                                   GError **) = {
  [ASTRO_TOKEN_WORD] = write_word,
  [ASTRO_TOKEN_VALUE] = write_value,
  [ASTRO_TOKEN_CAPS] = write_caps,
  [ASTRO_TOKEN_CAPS_STRING] = write_caps_string,
};

/* Index after a token and all that belongs to it: a media type is followed by its fields. */
static guint find_end(const AstroGraph *graph, guint first)
{
  guint i = first + 1;
  for (; i < graph->tokens->len; i++) {
    const AstroToken *token = graph->tokens->pdata[i];
    if (token->kind != ASTRO_TOKEN_CAPS && token->kind != ASTRO_TOKEN_CAPS_STRING)
      break;
  }
  return i;
}

static gboolean write_tokens(const AstroGraph *graph, guint first, guint end, GString *out,
                             GError **error)
{
  for (guint i = first; i < end; i++) {
    const AstroToken *token = graph->tokens->pdata[i];
    g_autofree char *text = astro_token_text(graph, token);
    if (i > first && !token->joined)
      g_string_append_c(out, ' ');
    if (!writers[token->kind](graph, token, text, out, error))
      return FALSE;
  }
  return TRUE;
}

/* GStreamer 1.26 and possibly earlier ones unwrap strings in caps between two ! twice: quotes and
 * backslashes do not survive that. They do in a property. */
static gboolean has_bytes_to_lose(const char *caps)
{
  return strstr(caps, "\\042") || strstr(caps, "\\134");
}

static gboolean write_part(const AstroGraph *graph, guint first, guint end, GString *out,
                           GError **error)
{
  const gboolean is_filter = end > first + 1;
  g_autoptr(GString) part = g_string_new(NULL);
  if (!write_tokens(graph, first, end, part, error))
    return FALSE;
  if (is_filter && has_bytes_to_lose(part->str)) {
    g_string_append(out, "capsfilter caps=");
    write_escaped(part->str, out);
  } else
    g_string_append(out, part->str);
  return TRUE;
}

char *astro_graph_line(const AstroGraph *graph, GError **error)
{
  g_autoptr(GString) out = g_string_new(NULL);
  for (guint i = 0, end; i < graph->tokens->len; i = end) {
    const AstroToken *token = graph->tokens->pdata[i];
    end = find_end(graph, i);
    if (i && !token->joined)
      g_string_append_c(out, ' ');
    if (!write_part(graph, i, end, out, error))
      return NULL;
  }
  return g_strdup(out->str);
}

/* gst-launch-1.0 joins its arguments with spaces and escapes the spaces within them, without regard
 * to backslashes already there. If the line is cut at every space, it comes out unchanged. */
char *astro_graph_shell_arguments(const char *line)
{
  g_autoptr(GString) out = g_string_new(NULL);
  g_auto(GStrv) arguments = g_strsplit(line, " ", -1);
  for (guint i = 0; arguments[i]; i++) {
    gboolean bare =
        g_str_equal(arguments[i], "!") || (*arguments[i] && is_plain(arguments[i], "_-+/:.,=%@"));
    g_autofree char *quoted = bare ? g_strdup(arguments[i]) : g_shell_quote(arguments[i]);
    g_string_append_printf(out, "%s%s", i ? " " : "", quoted);
  }
  return g_strdup(out->str);
}
