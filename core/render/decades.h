/* Points of a correlation function over decades of both axes. */
#pragma once

#include "core/render/panel.h"

G_BEGIN_DECLS

/* Sets the axes of a panel whose points are set: whole decades around values above 0, from 1 to 10
 * if there are none. label: of y; it also says if points are hollow, as values below 0 are. */
void astro_panel_span_decades(AstroPanel *panel, const char *label);

G_END_DECLS
