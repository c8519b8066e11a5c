/* What is drawn over a panel's pixels anew in each frame: points with their errors, and the beam.
 */
#pragma once

#include "core/render/figure-layout.h"
#include "core/render/pen.h"

G_BEGIN_DECLS

void astro_panel_draw_points(const AstroPen *pen, cairo_t *cr, const AstroPanel *panel,
                             const AstroPanelPlace *place, gboolean red_first);

/* The beam's ellipse in the lower left corner, dark and light, so that it is seen on any colour. */
void astro_panel_draw_beam(const AstroPen *pen, cairo_t *cr, const AstroPanel *panel,
                           const AstroPanelPlace *place);

G_END_DECLS
