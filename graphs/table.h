/* Prints tables of text in columns. */
#pragma once

#include <glib.h>
#include <stdio.h>

G_BEGIN_DECLS

/* cells: rows of n_columns each, of which the first has the titles; left: which columns are flush
 * left. */
void astro_table_print(const GPtrArray *cells, guint n_columns, const gboolean *left, FILE *out);

G_END_DECLS
