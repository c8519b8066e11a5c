/* Points and curves of panels that have axes for their values. */
#pragma once

#include "core/render/figure-layout.h"
#include "core/render/pen.h"

G_BEGIN_DECLS

/* With error bars; hollow if values are below 0 on a logarithmic axis. */
void astro_panel_draw_points(const AstroPen *pen, cairo_t *cr, const AstroPanel *panel,
                             const AstroPanelPlace *place, gboolean red_first);

/* The power law that fits the points, and its numbers if there is space (not is_bare). */
void astro_panel_draw_fit(const AstroPen *pen, cairo_t *cr, const AstroPanel *panel,
                          const AstroPanelPlace *place, gboolean is_bare, gboolean red_first);

/* A line for each row of values, with names if there are only a few (not is_bare). */
void astro_panel_draw_curves(const AstroPen *pen, cairo_t *cr, const AstroPanel *panel,
                             const AstroPanelPlace *place, gboolean is_bare, gboolean red_first);

G_END_DECLS
