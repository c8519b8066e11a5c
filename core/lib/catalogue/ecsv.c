/* The header of ECSV (Astropy's text tables): YAML in comments, from which the units of the columns
 * are read. A column is an item of a list, "- {name: ra, unit: rad, ...}" or one line for each of
 * its keys.
 */
#include "core/lib/catalogue/units.h"

#include <string.h>

#define MARK " %ECSV "

/* text is after an opening quote. Two quotes are one within the text. */
static char *skip_quoted(char *text, char quote)
{
  for (; *text && (*text != quote || text[1] == quote); text++)
    text += *text == quote;
  return text;
}

/* Cuts out the next "key: value". It ends with a comma before a blank, outside quotes. Blanks,
 * commas and braces before it are skipped. */
static char *next_pair(char **rest)
{
  char *at = *rest + strspn(*rest, " ,{"), *end = at;
  if (*at == 0)
    return NULL;
  while (*end && *end != '}' && !(end[0] == ',' && (end[1] == ' ' || end[1] == 0))) {
    if ((*end == '"' || *end == '\'') && end[-1] == ' ')
      end = skip_quoted(end + 1, *end);
    end += *end != 0;
  }
  *rest = end + (*end != 0);
  *end = 0;
  return at;
}

static char *unquote(char *value)
{
  gsize n = strlen(g_strstrip(value));
  if (n < 2 || !strchr("'\"", value[0]) || value[n - 1] != value[0])
    return value;
  value[n - 1] = 0;
  return value + 1;
}

static char *unit_of(char *item)
{
  for (char *pair; (pair = next_pair(&item));)
    if (g_str_has_prefix(pair, "unit:"))
      return g_strdup(unquote(pair + strlen("unit:")));
  return g_strdup("");
}

static gboolean is_ecsv(const GPtrArray *comments)
{
  return comments->len > 0 && g_str_has_prefix(comments->pdata[0], MARK);
}

GPtrArray *astro_catalogue_ecsv_units(const GPtrArray *comments)
{
  gboolean in_columns = FALSE;
  g_autoptr(GString) item = g_string_new(NULL);
  if (!is_ecsv(comments))
    return NULL;
  GPtrArray *units = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i <= comments->len; i++) {
    const char *line = i < comments->len ? comments->pdata[i] : "";
    line += *line == ' ';
    if (*line != ' ') { /* an item begins, or the list ends */
      if (item->len)
        g_ptr_array_add(units, unit_of(item->str));
      g_string_truncate(item, 0);
      if (*line != '-')
        in_columns = g_str_has_prefix(line, "datatype:");
    }
    if (in_columns && (*line == '-' || *line == ' ')) /* within braces a line continues */
      g_string_append_printf(item, "%s%s", strchr(item->str, '{') ? " " : ", ", line + 1);
  }
  return units;
}
