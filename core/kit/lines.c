/* Reads text files of numbers line by line. */
#include "config.h"
#include "core/kit/lines.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

G_DEFINE_QUARK(astro_sky_error, astro_sky_error)

#define BYTE_ORDER_MARK "\xef\xbb\xbf" /* UTF-8; some editors put it at the start of files */

void astro_lines_init(AstroLines *lines, const char *name, char *text)
{
  *lines = (AstroLines){ .name = name, .text = text, .next = text };
  if (g_str_has_prefix(text, BYTE_ORDER_MARK))
    lines->next += strlen(BYTE_ORDER_MARK);
}

gboolean astro_lines_open(AstroLines *lines, const char *path, GError **error)
{
  g_autoptr(GError) cause = NULL;
  struct stat there;
  char *text;
  gsize length;
  if (stat(path, &there) == 0 && (S_ISCHR(there.st_mode) || S_ISBLK(there.st_mode))) {
    g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_FILE,
                "%s is a device, expected a text file",
                path); /* reading one such as /dev/zero would never end */
    return FALSE;
  }
  if (!g_file_get_contents(path, &text, &length, &cause)) {
    g_set_error_literal(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_FILE, cause->message);
    return FALSE;
  }
  if (strlen(text) != length) {
    g_free(text);
    g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_FILE, "%s is not a text file", path);
    return FALSE;
  }
  astro_lines_init(lines, path, text);
  return TRUE;
}

void astro_lines_clear(AstroLines *lines)
{
  g_clear_pointer(&lines->text, g_free);
}

char *astro_lines_next_whole(AstroLines *lines)
{
  if (!*lines->next)
    return NULL;
  char *line = lines->next, *end = line + strcspn(line, "\n");
  lines->next = *end ? end + 1 : end;
  lines->line++;
  *end = '\0';
  if (end > line && end[-1] == '\r')
    end[-1] = '\0';
  return line;
}

char **astro_lines_next(AstroLines *lines)
{
  char *line;
  while ((line = astro_lines_next_whole(lines))) {
    line[strcspn(line, "#")] = '\0';

    GPtrArray *fields = g_ptr_array_new();
    for (char *field = line + strspn(line, " \t\r"); *field;) {
      gsize length = strcspn(field, " \t\r");
      g_ptr_array_add(fields, g_strndup(field, length));
      field += length;
      field += strspn(field, " \t\r");
    }
    g_ptr_array_add(fields, NULL);
    if (fields->len > 1)
      return (char **)g_ptr_array_free(fields, FALSE);
    g_ptr_array_free(fields, TRUE);
  }
  return NULL;
}

void astro_lines_error(const AstroLines *lines, GError **error, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *what = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_SYNTAX, "%s:%u: %s", lines->name, lines->line,
              what);
}

gboolean astro_number_parse(const char *text, double *value)
{
  char *end;
  if (!*text || g_ascii_isspace(*text))
    return FALSE;
  *value = g_ascii_strtod(text, &end);
  return *end == '\0' && isfinite(*value);
}
