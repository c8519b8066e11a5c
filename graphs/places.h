/* Places in the sky as people read them, with as many digits as the beam allows; new strings. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Direction cosines from the phase centre, of an image whose beam is so wide (radians): "l
 * 0.004000, m 0.003000"; where that is below an arcsecond "0.2130 mas east, -0.0312 mas north". */
char *astro_places_offset(double l, double m, double beam);

/* Degrees: "12:30:49.4234, +12:23:28.044". */
char *astro_places_direction(double ra, double dec, double beam);

/* Radians: "1.5 arcsec". */
char *astro_places_angle(double angle);

/* Radians: "426 x 406 arcsec, position angle 56 degrees". */
char *astro_places_beam(double major, double minor, double angle);

G_END_DECLS
