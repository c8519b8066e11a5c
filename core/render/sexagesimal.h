/* Right ascensions in hours, minutes and seconds, declinations in degrees, as astronomers print
 * them: steps that are round in those units, and texts with as many parts as a step needs. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A step in degrees, such that a span of degrees has at most `most` steps (more only if steps of
 * 180 degrees are too small). of_ra: round in hours, minutes and seconds of time, 24 hours to the
 * circle. */
double astro_sexagesimal_step(gboolean of_ra, double span, guint most);

/* "19ʰ26ᵐ00ˢ" (of_ra) or "+52°54′30.5″": with the parts in which steps of that many degrees differ.
 */
void astro_sexagesimal_text(char *text, gsize bytes, gboolean of_ra, double degrees, double step);

G_END_DECLS
