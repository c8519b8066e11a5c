/* The part of the sky where the points of a catalogue are: a grid of cells. */
#pragma once

#include "core/lib/catalogue/placing.h"

G_BEGIN_DECLS

/* cell: degrees; 0: the finest with enough points per cell. The mask ends at borders of cells, so
 * up to one cell beyond the points. */
AstroMask *astro_mask_new(const double *ra, const double *dec, guint64 n, double cell,
                          GError **error);
void astro_mask_free(AstroMask *mask);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroMask, astro_mask_free)

gboolean astro_mask_contains(const AstroMask *mask, double ra, double dec);
double astro_mask_area(const AstroMask *mask); /* square degrees */
double astro_mask_cell(const AstroMask *mask); /* degrees */
/* Sets what random points are placed by, which the mask keeps. */
void astro_mask_place(const AstroMask *mask, AstroPlacing *placing);
/* A cap that encloses the mask. */
void astro_mask_cap(const AstroMask *mask, AstroFootprint *cap);

G_END_DECLS
