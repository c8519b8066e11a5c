/* Draws over a panel anew in each frame: curves, points with their errors and the fit, numbers in
 * pixels, sources, and the beam. */
#pragma once

#include "core/render/figure-layout.h"
#include "core/render/pen.h"

G_BEGIN_DECLS

/* is_bare: without texts and beams, because there is no space for them. */
void astro_panel_draw_marks(const AstroPen *pen, cairo_t *cr, const AstroPanel *panel,
                            const AstroPanelPlace *place, gboolean is_bare, gboolean red_first);

G_END_DECLS
