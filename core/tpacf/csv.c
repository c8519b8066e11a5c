#include "core/tpacf/csv.h"

#include <math.h>
#include <string.h>

#define NUMBER_BYTES 24 /* of "%.15g" and a comma, at most */

static guint n_columns(const char *names)
{
  guint n = 1;
  for (; *names; names++)
    n += *names == ':';
  return n;
}

char *astro_table_to_csv(const char *names, const double *table, guint rows)
{
  GString *text = g_string_new(names);
  guint columns = n_columns(names);
  g_string_replace(text, ":", ",", 0);
  g_string_append_c(text, '\n');
  for (guint row = 0; row < rows; row++)
    for (guint column = 0; column < columns; column++) {
      double value = table[(gsize)column * rows + row];
      char number[G_ASCII_DTOSTR_BUF_SIZE] = "";
      if (isfinite(value))
        g_ascii_formatd(number, sizeof number, "%.15g", value);
      g_string_append(text, number);
      g_string_append_c(text, column + 1 < columns ? ',' : '\n');
    }
  return g_string_free(text, FALSE);
}

gsize astro_table_csv_bytes(const char *names, guint rows)
{
  return strlen(names) + 1 + (gsize)n_columns(names) * rows * NUMBER_BYTES;
}
