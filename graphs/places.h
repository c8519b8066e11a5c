/* Places on the sky as people read them, with as many digits as the beam allows; new strings. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Direction cosines from the phase centre, in an image with a beam of this width (radians): "l
 * 0.004000, m 0.003000"; if the beam is below an arcsecond: "0.2130 mas east, -0.0312 mas north".
 */
char *astro_places_offset(double l, double m, double beam);

/* From degrees: "12:30:49.4234, +12:23:28.044". */
char *astro_places_direction(double ra, double dec, double beam);

/* From radians: "1.5 arcsec". */
char *astro_places_angle(double angle);

/* From radians: "426 x 406 arcsec, position angle 56 degrees". */
char *astro_places_beam(double major, double minor, double angle);

G_END_DECLS
