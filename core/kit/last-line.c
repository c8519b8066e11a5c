/* Tells a file that was cut off from one that just lacks the last newline. */
#include "core/kit/last-line.h"
#include "core/kit/values.h"
#include "core/kit/angle.h"

#include <string.h>

#define LINES_ABOVE 100 /* how many of them to look at */
#define ENOUGH_LINES 3  /* this many with equal numbers of digits show how the file is written */

typedef struct {
  guint columns;
  char *last; /* the last value; to be freed */
} Line;

static gboolean is_end(char letter)
{
  return letter == '\n' || letter == '\r';
}

/* Reads the line before *at and moves *at to its start; FALSE if there is none. A line without
 * values holds only a comment. */
static gboolean take_line_before(const char *text, const char **at, char separator, Line *line)
{
  const char *end = *at, *begin;
  while (end > text && is_end(end[-1]))
    end--;
  for (begin = end; begin > text && !is_end(begin[-1]);)
    begin--;
  if (begin == end)
    return FALSE;
  g_autofree char *copy = g_strndup(begin, (gsize)(end - begin));
  char *comment = (char *)astro_values_find(copy, '#');
  if (comment)
    *comment = 0;
  g_autoptr(GPtrArray) values = astro_values_split(
      copy, astro_values_find(copy, separator) ? separator : astro_values_separator(copy));
  *line = (Line){ values->len,
                  g_strdup(values->len && !comment ? values->pdata[values->len - 1] : "") };
  *at = begin;
  return TRUE;
}

static gboolean is_number(const char *text)
{
  char *end;
  double degrees;
  g_ascii_strtod(text, &end);
  return (end != text && *end == 0) || astro_sixtieths_parse(text, FALSE, &degrees);
}

/* The number of characters after the decimal point, including an exponent: programs write as many
 * in each line. */
static gsize decimals(const char *number)
{
  const char *point = strchr(number, '.');
  return point ? strlen(point + 1) : 0;
}

/* The lines above that end with a number: the fewest values in any of them, and their decimals if
 * all have as many. */
typedef struct {
  guint lines, least_columns;
  gsize decimals;
  gboolean alike;
} Above;

static Above look_above(const char *text, const char *at, char separator)
{
  Above above = { .least_columns = G_MAXUINT, .alike = TRUE };
  Line line;
  for (guint i = 0; i < LINES_ABOVE && take_line_before(text, &at, separator, &line); i++) {
    if (is_number(line.last)) {
      const gsize found = decimals(line.last);
      above.least_columns = MIN(above.least_columns, line.columns);
      above.alike = above.alike && (above.lines == 0 || found == above.decimals);
      above.decimals = found;
      above.lines++;
    }
    g_free(line.last);
  }
  return above;
}

AstroLastLine astro_last_line_judge(const char *text, gsize length, char separator,
                                    const gint *wanted, guint n_wanted, char **told)
{
  const char *at = text + length;
  gboolean is_wanted = FALSE;
  Line last;
  *told = NULL;
  if (length == 0 || is_end(at[-1]) || !take_line_before(text, &at, separator, &last))
    return ASTRO_LAST_LINE_WHOLE;
  g_autofree char *value = last.last;
  for (guint w = 0; w < n_wanted; w++)
    is_wanted = is_wanted || (wanted[w] >= 0 && (guint)wanted[w] + 1 == last.columns);
  const Above above = look_above(text, at, separator);
  if (above.lines && last.columns < above.least_columns) {
    *told = g_strdup_printf("%u values without a newline at the end, where lines above have %u",
                            last.columns, above.least_columns);
    return ASTRO_LAST_LINE_CUT;
  }
  if (!is_wanted || !is_number(value))
    return ASTRO_LAST_LINE_WHOLE;
  const gboolean has_form = above.lines >= ENOUGH_LINES && above.alike && above.decimals > 0;
  if (has_form && decimals(value) == above.decimals)
    return ASTRO_LAST_LINE_WHOLE;
  if (has_form && decimals(value) < above.decimals) {
    *told =
        g_strdup_printf("\"%.40s\" and no newline after it, where lines above have %" G_GSIZE_FORMAT
                        " digits after the decimal point",
                        value, above.decimals);
    return ASTRO_LAST_LINE_CUT;
  }
  *told =
      g_strdup_printf("\"%.40s\" and no newline after it: if the file was cut there, digits are "
                      "missing; if not, add the newline",
                      value);
  return ASTRO_LAST_LINE_DOUBTFUL;
}
