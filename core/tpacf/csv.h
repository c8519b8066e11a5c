/* Writes tables as CSV text. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Writes a heading, then a line per row. names: "theta:w"; table: by columns. NaN and infinite
 * values become empty fields. Returns the length of the text, which has no terminating 0. */
gsize astro_table_write_csv(const char *names, const double *table, guint rows, char *text);

/* An upper limit for the length of the text. */
gsize astro_table_csv_bytes(const char *names, guint rows);

G_END_DECLS
