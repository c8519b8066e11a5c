/* Splits a catalogue into parts of equal size at random. */
#pragma once

#include "core/lib/catalogue/held.h"

G_BEGIN_DECLS

typedef struct _AstroSplit AstroSplit;

/* Every split into parts of (as far as possible) equal size is as likely as any other, however the
 * points are ordered: points that follow one another may fall into one part. The same seed and
 * index give the same parts. */
AstroSplit *astro_split_new(guint64 points, guint parts, guint64 seed, guint64 index,
                            GError **error);
void astro_split_free(AstroSplit *split);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroSplit, astro_split_free)

/* A part of the catalogue, to be cleared. */
gboolean astro_split_part(const AstroSplit *split, const AstroCatalogue *all, guint part,
                          AstroCatalogue *catalogue, GError **error);
/* The same of one that may be in a file, as the part may be then. */
gboolean astro_split_held(const AstroSplit *split, const AstroHeld *all,
                          const AstroHeldLimit *limit, guint part, AstroHeld *held, GError **error);

G_END_DECLS
