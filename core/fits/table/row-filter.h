/* CFITSIO's row filters. It never sees a file that came from elsewhere: what our own reader found
 * in a table is put into a fresh one in memory, a piece of rows at a time. */
#pragma once

#include "core/fits/table/table.h"

G_BEGIN_DECLS

typedef struct _AstroRowFilter AstroRowFilter;

/* n_rows: the most that come at once. */
AstroRowFilter *astro_row_filter_new(const AstroFitsTable *table, const char *expression,
                                     guint64 n_rows, GError **error);
/* keep[i] becomes TRUE where row i passes; *n_kept counts those. */
gboolean astro_row_filter_apply(AstroRowFilter *filter, const guint8 *rows, guint64 n_rows,
                                char *keep, guint64 *n_kept, GError **error);
void astro_row_filter_free(AstroRowFilter *filter);

G_END_DECLS
