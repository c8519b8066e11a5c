/* Where on the sky the points of a catalogue lie: a grid of cells. */
#pragma once

#include "core/lib/catalogue/catalogue.h"

G_BEGIN_DECLS

/* cell: degrees; 0: as fine as it may be with points enough in the cells. The mask ends where cells
 * do, up to one past the points. */
AstroMask *astro_mask_new(const double *ra, const double *dec, guint64 n, double cell,
                          GError **error);
void astro_mask_free(AstroMask *mask);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroMask, astro_mask_free)

gboolean astro_mask_contains(const AstroMask *mask, double ra, double dec);
double astro_mask_area(const AstroMask *mask); /* square degrees */
double astro_mask_cell(const AstroMask *mask); /* degrees */
/* A point anywhere within, evenly. */
void astro_mask_random(const AstroMask *mask, AstroRandom *random, double *ra, double *dec);
/* A cap that holds the mask. */
void astro_mask_cap(const AstroMask *mask, AstroFootprint *cap);

G_END_DECLS
