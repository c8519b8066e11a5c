/* Right ascensions in hours, minutes and seconds, declinations in degrees, as astronomers print
 * them: steps that are whole in those units, and texts with as many parts as a step needs. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Degrees, so that a span of degrees has at most that many steps (more only where 180 degrees are
 * too little). of_ra: whole in hours, minutes and seconds of time, of which 24 hours are a turn. */
double astro_sexagesimal_step(gboolean of_ra, double span, guint most);

/* "19ʰ26ᵐ00ˢ" (of_ra) or "+52°54′30.5″": the parts that steps of so many degrees tell apart. */
void astro_sexagesimal_text(char *text, gsize bytes, gboolean of_ra, double degrees, double step);

G_END_DECLS
