/* Tables of text. */
#include "graphs/table.h"

void astro_table_print(const GPtrArray *cells, guint n_columns, const gboolean *left, FILE *out)
{
  g_autofree int *widths = g_new0(int, n_columns);
  for (guint i = 0; i < cells->len; i++)
    widths[i % n_columns] = MAX(widths[i % n_columns], (int)g_utf8_strlen(cells->pdata[i], -1));
  for (guint i = 0; i < cells->len; i += n_columns) {
    g_autoptr(GString) line = g_string_new(NULL);
    for (guint j = 0; j < n_columns; j++) {
      const char *text = cells->pdata[i + j];
      const int space = widths[j] - (int)g_utf8_strlen(text, -1);
      g_string_append_printf(line, "%*s%s%*s  ", left[j] ? 0 : space, "", text, left[j] ? space : 0,
                             "");
    }
    fprintf(out, "%s\n", g_strchomp(line->str));
  }
}
