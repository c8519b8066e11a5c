/* The sky cut into regions, for jackknife errors. */
#pragma once

#include "core/backend/threads.h"
#include "core/histogram/halve.h"

#include <glib-object.h>

G_BEGIN_DECLS

/* Compact regions that hold equally many points of the catalogue they are made from, to within one
 * unless points coincide. Together they cover the sky. */
typedef struct _AstroRegions AstroRegions;
AstroRegions *astro_regions_new(const double *ra, const double *dec, guint64 n, guint n_regions,
                                const AstroStop *stop, GError **error);
/* The same from unit vectors, which are reordered. */
AstroRegions *astro_regions_of_places(AstroVector *places, guint64 n, guint n_regions,
                                      const AstroStop *stop, GError **error);
void astro_regions_free(AstroRegions *regions);
guint astro_regions_find(const AstroRegions *regions, double ra, double dec);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroRegions, astro_regions_free)

G_END_DECLS
