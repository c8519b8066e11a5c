#include "core/tpacf/csv.h"
#include "core/catalogue/values.h"

#include <string.h>

#define FIELD_BYTES (ASTRO_VALUES_NUMBER_BYTES + 1) /* and a comma */

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
      astro_values_append(text, table[(gsize)column * rows + row]);
      g_string_append_c(text, column + 1 < columns ? ',' : '\n');
    }
  return g_string_free(text, FALSE);
}

gsize astro_table_csv_bytes(const char *names, guint rows)
{
  return strlen(names) + 1 + (gsize)n_columns(names) * rows * FIELD_BYTES;
}
