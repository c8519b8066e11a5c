/* Row filters of CFITSIO. It never sees a file from elsewhere: the rows that our own reader finds
 * in a table are put into a new table in memory, a piece at a time. */
#pragma once

#include "core/fits/table/table.h"

G_BEGIN_DECLS

typedef struct _AstroRowFilter AstroRowFilter;

/* n_rows: the largest number of rows per call. */
AstroRowFilter *astro_row_filter_new(const AstroFitsTable *table, const char *expression,
                                     guint64 n_rows, GError **error);
/* Sets keep[i] to TRUE if row i passes, else to FALSE; *n_kept is the number that pass. */
gboolean astro_row_filter_apply(AstroRowFilter *filter, const guint8 *rows, guint64 n_rows,
                                char *keep, guint64 *n_kept, GError **error);
void astro_row_filter_free(AstroRowFilter *filter);

G_END_DECLS
