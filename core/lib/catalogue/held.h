/* A catalogue as it comes: in memory up to a limit, and all of it in a temporary file beyond. */
#pragma once

#include "core/lib/catalogue/spill.h"

G_BEGIN_DECLS

typedef struct {
  guint64 bytes;      /* for columns and what is made of them; 0: no limit */
  guint64 of_a_point; /* for what is made of a point, and there together with its columns */
} AstroHeldLimit;

/* Begins as { 0 }. */
typedef struct {
  guint64 n;
  guint columns;      /* bits, as in spill.h */
  AstroCatalogue all; /* without points once they are in the file */
  AstroSpill *spill;  /* NULL: they are in memory */
  gboolean is_lent;   /* the columns are someone else's */
} AstroHeld;

/* Holds a catalogue that stays its owner's. NULL: an empty one. */
AstroHeld astro_held_lend(const AstroCatalogue *catalogue);
void astro_held_clear(AstroHeld *held);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AstroHeld, astro_held_clear)

/* Adds n points; FALSE if earlier points have other columns. */
gboolean astro_held_append(AstroHeld *held, const AstroHeldLimit *limit,
                           const AstroColumnPlaces *places, const double *data, guint64 n,
                           GError **error);
/* Adds the points of a catalogue, in the same way. */
gboolean astro_held_add(AstroHeld *held, const AstroHeldLimit *limit, const AstroCatalogue *part,
                        GError **error);

/* Calls visit for the points in their order: for all at once if they are in memory. */
gboolean astro_held_visit(const AstroHeld *held, AstroSpillVisit visit, gpointer data,
                          GError **error);

/* Whether both have the same points in the same order, as one file read twice does. Files that
 * cannot be read count as different ones. */
gboolean astro_held_is_same(const AstroHeld *a, const AstroHeld *b);

G_END_DECLS
