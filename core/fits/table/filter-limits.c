/* Reads the words of a filter: its columns, constants and divisors of %. */
#include "core/fits/table/filter-limits.h"

#include <math.h>
#include <string.h>

#define MOST_EXACT 0x1p53    /* integers below are all doubles */
#define MOST_QUOTIENT 0x1p31 /* of % */
#define UNSIGNED_ZERO 0x1p63 /* TZERO of unsigned integers */

struct _AstroFilterLimits {
  const AstroFitsTable *table;
  guint8 *is_named; /* by columns of the table */
  char *too_large;  /* a constant */
  double most;      /* below which values have to be for %; INFINITY: there is none */
};

static gboolean is_part_of_name(char c)
{
  return g_ascii_isalnum(c) || c == '_';
}

static void see_name(AstroFilterLimits *l, const char *name, gsize length)
{
  for (guint i = 0; i < l->table->n_columns; i++) {
    const char *column = l->table->columns[i].name;
    if (strlen(column) == length && g_ascii_strncasecmp(column, name, length) == 0)
      l->is_named[i] = TRUE;
  }
}

/* Digits alone are an integer; with a point or an exponent they are a double. */
static const char *see_number(AstroFilterLimits *l, const char *c, gboolean is_divisor)
{
  const gsize digits = strspn(c, "0123456789");
  const char *end = c + digits;
  const gboolean is_whole = digits > 0 && *end != '.' && !is_part_of_name(*end);
  g_autofree char *text = g_strndup(c, digits);
  if (is_whole && !l->too_large && !g_ascii_string_to_unsigned(text, 10, 0, G_MAXINT64, NULL, NULL))
    l->too_large = g_strdup(text);
  if (is_divisor)
    l->most = MIN(l->most, MOST_QUOTIENT * g_ascii_strtod(c, NULL));
  while (*end == '.' || is_part_of_name(*end))
    end++;
  return end;
}

static const char *see_word(AstroFilterLimits *l, const char *c, gboolean is_divisor)
{
  if (*c == '\'' || *c == '"' || *c == '$') {
    const char *end = strchr(c + 1, *c);
    if (end && *c == '$')
      see_name(l, c + 1, (gsize)(end - c - 1));
    return end ? end + 1 : c + strlen(c);
  }
  if (g_ascii_isdigit(*c) || *c == '.')
    return see_number(l, c, is_divisor);
  if (is_divisor)
    l->most = MIN(l->most, MOST_QUOTIENT);
  if (!is_part_of_name(*c))
    return c + 1;
  const char *end = c;
  while (is_part_of_name(*end))
    end++;
  see_name(l, c, (gsize)(end - c));
  return end;
}

AstroFilterLimits *astro_filter_limits_new(const AstroFitsTable *table, const char *expression)
{
  AstroFilterLimits *l = g_new0(AstroFilterLimits, 1);
  gboolean is_divisor = FALSE;
  l->table = table;
  l->is_named = g_malloc0(table->n_columns + 1);
  l->most = INFINITY;
  for (const char *c = expression; *c;) {
    const gboolean is_space = g_ascii_isspace(*c), is_modulo = *c == '%';
    c = is_space || is_modulo ? c + 1 : see_word(l, c, is_divisor);
    is_divisor = is_modulo || (is_space && is_divisor);
  }
  return l;
}

char *astro_filter_limits_constant(const AstroFilterLimits *l)
{
  return l->too_large ? g_strdup_printf("%s is larger than integers of 64 bits: expected %s.0, "
                                        "which is taken as a double",
                                        l->too_large, l->too_large)
                      : NULL;
}

/* ---- values ---- */

static char *wrong(const AstroFitsColumn *column, const char *value, guint64 row, double most)
{
  return g_strdup_printf("column %s has %s in row %" G_GUINT64_FORMAT
                         ", and filters compute with doubles: expected numbers below %.0f, %s",
                         column->name, value, row, most,
                         most < MOST_EXACT ? "where % gives the right rest"
                                           : "where doubles tell integers apart");
}

static char *wrong_integer(const AstroFitsColumn *column, const guint8 *cell, guint64 row,
                           double most)
{
  for (guint64 i = 0; i < column->repeat; i++) {
    gint64 value;
    memcpy(&value, cell + i * sizeof value, sizeof value);
    value = GINT64_FROM_BE(value);
    const guint64 whole = (guint64)value ^ (guint64)1 << 63;
    const gboolean is_unsigned = column->zero == UNSIGNED_ZERO;
    if ((column->has_blank && value == column->blank) ||
        (is_unsigned ? (double)whole : fabs((double)value)) < most)
      continue;
    g_autofree char *text = is_unsigned ? g_strdup_printf("%" G_GUINT64_FORMAT, whole)
                                        : g_strdup_printf("%" G_GINT64_FORMAT, value);
    return wrong(column, text, row, most);
  }
  return NULL;
}

static char *find_integer(const AstroFilterLimits *l, const AstroFitsColumn *column,
                          const guint8 *rows, guint64 n_rows, guint64 first)
{
  char *found = NULL;
  for (guint64 i = 0; i < n_rows && !found; i++)
    found = wrong_integer(column, rows + i * l->table->row_bytes + column->offset, first + i + 1,
                          MIN(l->most, MOST_EXACT));
  return found;
}

static char *find_double(const AstroFilterLimits *l, const AstroFitsColumn *column,
                         const guint8 *rows, guint64 n_rows, guint64 first)
{
  g_autofree double *values = g_new(double, n_rows);
  astro_fits_table_values(l->table, column, rows, n_rows, values);
  for (guint64 i = 0; i < n_rows; i++)
    if (fabs(values[i]) >= l->most) {
      g_autofree char *text = g_strdup_printf("%.12g", values[i]);
      return wrong(column, text, first + i + 1, l->most);
    }
  return NULL;
}

char *astro_filter_limits_value(const AstroFilterLimits *l, const guint8 *rows, guint64 n_rows,
                                guint64 first)
{
  char *found = NULL;
  for (guint k = 0; k < l->table->n_columns && !found; k++) {
    const AstroFitsColumn *column = &l->table->columns[k];
    if (!l->is_named[k])
      continue;
    if (column->type == 'K' && column->scale == 1)
      found = find_integer(l, column, rows, n_rows, first);
    else if (isfinite(l->most) && astro_fits_column_is_number(column) && column->repeat == 1)
      found = find_double(l, column, rows, n_rows, first);
  }
  return found;
}

void astro_filter_limits_free(AstroFilterLimits *l)
{
  g_free(l->is_named);
  g_free(l->too_large);
  g_free(l);
}
