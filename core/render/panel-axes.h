/* The surroundings of a panel, axes with their ticks, and grid lines over it. */
#pragma once

#include "core/render/figure-layout.h"
#include "core/render/pen.h"

G_BEGIN_DECLS

/* The width that numbers and label take on the left of a panel of at most that height, in units of
 * the letters' height (em pixels). */
double astro_panel_left(const AstroPanel *panel, guint em, gint height);

void astro_panel_draw_x_axis(const AstroPen *pen, cairo_t *cr, const AstroPanel *panel,
                             const AstroPanelPlace *place);
void astro_panel_draw_y_axis(const AstroPen *pen, cairo_t *cr, const AstroPanel *panel,
                             const AstroPanelPlace *place);

/* The origin is the panel's upper left corner. */
void astro_panel_draw_grid(const AstroPen *pen, cairo_t *cr, const AstroPanel *panel,
                           const AstroPanelPlace *place);

G_END_DECLS
