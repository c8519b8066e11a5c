/* Writes tables as CSV text. */
#include "core/tpacf/csv.h"
#include "core/kit/values.h"

#include <string.h>

#define FIELD_BYTES (ASTRO_VALUES_NUMBER_BYTES + 1) /* with a comma */

static guint n_columns(const char *names)
{
  guint n = 1;
  for (; *names; names++)
    n += *names == ':';
  return n;
}

gsize astro_table_write_csv(const char *names, const double *table, guint rows, char *text)
{
  g_autoptr(GString) line = g_string_new(names);
  guint columns = n_columns(names);
  g_string_replace(line, ":", ",", 0);
  g_string_append_c(line, '\n');
  gsize bytes = line->len;
  memcpy(text, line->str, bytes);
  for (guint row = 0; row < rows; row++) {
    g_string_truncate(line, 0);
    for (guint column = 0; column < columns; column++) {
      astro_values_append(line, table[(gsize)column * rows + row]);
      g_string_append_c(line, column + 1 < columns ? ',' : '\n');
    }
    memcpy(text + bytes, line->str, line->len);
    bytes += line->len;
  }
  return bytes;
}

gsize astro_table_csv_bytes(const char *names, guint rows)
{
  return strlen(names) + 1 + (gsize)n_columns(names) * rows * FIELD_BYTES;
}
