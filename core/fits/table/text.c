/* Reads fields of ASCII tables (XTENSION = 'TABLE'). */
#include "core/fits/table/table.h"

#include <math.h>
#include <string.h>

#define LONGEST_NUMBER 63

const char *astro_fits_text_column(const AstroFitsTable *table, guint n, AstroFitsColumn *column)
{
  const char *form = "";
  char *end;
  gint64 place = 0;
  g_autofree char *key = g_strdup_printf("TBCOL%u", n);
  astro_fits_get_string_n(table->header, "TFORM", n, &form);
  if (!form[0] || !strchr("AIFED", form[0]) || !g_ascii_isdigit(form[1]))
    return "TFORM has an unknown type";
  if (!astro_fits_get_integer(table->header, key, &place) || place < 1)
    return "TBCOL is missing or invalid: it must be 1 or more";
  column->offset = (guint64)place - 1;
  column->width = g_ascii_strtoull(form + 1, &end, 10);
  column->decimals = *end == '.' ? g_ascii_strtoull(end + 1, NULL, 10) : 0;
  if (column->offset > table->row_bytes || column->width > table->row_bytes - column->offset)
    return "columns are wider than a row";
  column->type = form[0] == 'A' ? 'A' : 'D';
  column->repeat = form[0] == 'A' ? column->width : 1;
  if (astro_fits_get_string_n(table->header, "TNULL", n, &column->none))
    column->none += strspn(column->none, " ");
  return NULL;
}

/* Copies a field without the blanks around it. FALSE if nothing is left, or if it is too long for a
 * number. */
static gboolean get_text(const AstroFitsColumn *column, const guint8 *row, char *text)
{
  const char *at = (const char *)row + column->offset, *end = at + column->width;
  while (at < end && *at == ' ')
    at++;
  while (end > at && end[-1] == ' ')
    end--;
  if (at == end || end - at > LONGEST_NUMBER)
    return FALSE;
  memcpy(text, at, (gsize)(end - at));
  text[end - at] = 0;
  return TRUE;
}

/* According to the standard a blank field is 0. But authors of catalogues leave unknown values
 * blank, and a position or weight that nobody gave must not be made up. */
double astro_fits_text_number(const AstroFitsColumn *column, const guint8 *row)
{
  char text[LONGEST_NUMBER + 1], *end;
  if (!get_text(column, row, text) || g_strcmp0(text, column->none) == 0 ||
      text[strspn(text, "+-.0123456789EeDd")])
    return NAN;
  g_strdelimit(text, "Dd", 'E');
  double value = g_ascii_strtod(text, &end);
  if (end == text || *end)
    return NAN;
  return strchr(text, '.') ? value : value / pow(10, (double)column->decimals);
}
