/* Splits lines into values, with quotes as in CSV. */
#include "core/kit/values.h"

#include <math.h>
#include <string.h>

/* Finds the closing quote, or the end; text is just after the opening one. Two quotes in a row
 * stand for one within the value. */
static const char *closing_quote(const char *text)
{
  for (; *text; text++)
    if (*text == '"' && *++text != '"')
      return text - 1;
  return text;
}

const char *astro_values_find(const char *text, char letter)
{
  char before = ' ';
  for (; *text && *text != letter; before = *text, text += *text != 0)
    if (*text == '"' && strchr(ASTRO_VALUES_SEPARATORS, before))
      text = closing_quote(text + 1);
  return *text ? text : NULL;
}

char astro_values_separator(const char *line)
{
  static const char strongest_first[] = { ';', ',', '\t' };
  for (guint i = 0; i < G_N_ELEMENTS(strongest_first); i++)
    if (astro_values_find(line, strongest_first[i]))
      return strongest_first[i];
  return ' ';
}

char *astro_values_next(char **rest, char separator)
{
  const char one[] = { separator, 0 };
  const char *ends = separator == ' ' ? ASTRO_VALUES_SEPARATORS : one,
             *blanks = separator == '\t' ? " " : " \t";
  char *at = *rest + strspn(*rest, blanks);
  if (*at == 0)
    return NULL;
  gboolean is_quoted = *at == '"';
  at += is_quoted;
  char *end = is_quoted ? (char *)closing_quote(at) : at + strcspn(at, ends);
  char *after = end + (is_quoted && *end);
  after += strcspn(after, ends);
  after += strspn(after, blanks);
  if (*after && strchr(separator == ' ' ? ",;" : one, *after))
    after++;
  *end = 0;
  *rest = after;
  return is_quoted ? at : g_strchomp(at);
}

GPtrArray *astro_values_split(char *line, char separator)
{
  GPtrArray *values = g_ptr_array_new();
  for (char *value; (value = astro_values_next(&line, separator));)
    g_ptr_array_add(values, value);
  return values;
}

/* 15 digits suffice for a double that was made from so few; 17 tell any double from its neighbours.
 */
void astro_values_append(GString *text, double value)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE] = "";
  if (isfinite(value) &&
      g_ascii_strtod(g_ascii_formatd(number, sizeof number, "%.15g", value), NULL) != value)
    g_ascii_formatd(number, sizeof number, "%.17g", value);
  g_string_append(text, number);
}
