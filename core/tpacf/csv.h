/* Tables as text. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A heading, then a line each row. names: "theta:w"; table: one column after the other. What is not
 * a number is an empty field. Returns how many bytes the text has; it ends with no 0. */
gsize astro_table_write_csv(const char *names, const double *table, guint rows, char *text);

/* At least as many bytes as the text has. */
gsize astro_table_csv_bytes(const char *names, guint rows);

G_END_DECLS
