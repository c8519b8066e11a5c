/* Round numbers beside a colour bar, at the positions of their colours. */
#pragma once

#include "core/render/stretch.h"
#include "core/render/ticks.h"

G_BEGIN_DECLS

/* Writes at most ASTRO_MAX_TICKS, from the lowest to the highest, at least least_gap of the bar's
 * length apart. Texts are of the values divided by `unit`. */
guint astro_bar_ticks(const AstroColouring *c, gboolean is_angle, double unit, double least_gap,
                      AstroTick *ticks);

/* The unit by which numbers are divided so that they are short, and the text above them: "mJy/beam"
 * and 0.001 for Jy/beam, "×10⁻⁵ power" and 1e-5. name: NULL if there is none. */
double astro_bar_unit(const AstroColouring *c, const char *name, char *text, gsize bytes);

G_END_DECLS
