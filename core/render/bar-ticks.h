/* Round numbers beside a colour bar, where the stretch puts their colours. */
#pragma once

#include "core/render/stretch.h"
#include "core/render/ticks.h"

G_BEGIN_DECLS

/* At most ASTRO_MAX_TICKS, from the lowest to the highest, none nearer to another than least_gap of
 * the bar's length. Texts are of the values divided by `unit`. */
guint astro_bar_ticks(const AstroColouring *c, gboolean is_angle, double unit, double least_gap,
                      AstroTick *ticks);

/* By how much numbers are divided so that they are short, and what is written above them for it:
 * "mJy/beam" and 0.001 of Jy/beam, "×10⁻⁵ power" and 1e-5. name: NULL where there is none. */
double astro_bar_unit(const AstroColouring *c, const char *name, char *text, gsize bytes);

G_END_DECLS
