/* Points in a temporary file that has no name, a row of doubles each: a catalogue that memory does
 * not hold. The file lies in the folder for temporary files (TMPDIR), and is gone with the process.
 */
#pragma once

#include "core/lib/catalogue/columns.h"

G_BEGIN_DECLS

typedef struct _AstroSpill AstroSpill;

/* columns: bit c for a column c, as astro_catalogue_column_set() gives it. */
AstroSpill *astro_spill_new(guint columns, GError **error);
void astro_spill_free(AstroSpill *spill);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroSpill, astro_spill_free)

guint64 astro_spill_points(const AstroSpill *spill);
guint astro_spill_columns(const AstroSpill *spill);
guint astro_spill_n_columns(const AstroSpill *spill);

/* Adds the points of a catalogue that has these columns. */
gboolean astro_spill_append(AstroSpill *spill, const AstroCatalogue *part, GError **error);
/* Writes n rows of points, from point `first` on. */
gboolean astro_spill_put(AstroSpill *spill, guint64 first, const double *rows, guint64 n,
                         GError **error);
/* Reads n points into a new catalogue. */
gboolean astro_spill_read(const AstroSpill *spill, guint64 first, guint64 n,
                          AstroCatalogue *catalogue, GError **error);

/* Calls visit for all points in the order in which they came, at most ASTRO_SPILL_CHUNK at a time.
 * first: the first point of the chunk. FALSE if a visit was. */
#define ASTRO_SPILL_CHUNK 16384
typedef gboolean (*AstroSpillVisit)(gpointer data, const AstroCatalogue *chunk, guint64 first,
                                    GError **error);
gboolean astro_spill_visit(const AstroSpill *spill, AstroSpillVisit visit, gpointer data,
                           GError **error);

G_END_DECLS
