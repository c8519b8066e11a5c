/* The colour bar beside a panel: its colours, round numbers, and the unit above them. */
#pragma once

#include "core/render/figure-layout.h"
#include "core/render/pen.h"
#include "core/render/stretch.h"

G_BEGIN_DECLS

/* Draws the bar unless `key` says that it is already there; key is then set for this one. */
void astro_figure_draw_bar(const AstroPen *pen, cairo_surface_t *page, const AstroPanel *panel,
                           const AstroPanelPlace *p, const AstroColouring *c, char **key);

G_END_DECLS
