/* Places in the sky as a user writes them. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Numbers are degrees; with colons right ascension is hours, minutes and seconds, and declination
 * degrees, minutes and seconds of arc. FALSE where a text is neither. */
gboolean astro_angles_parse(const char *ra, const char *dec, double *ra_degrees,
                            double *dec_degrees);
/* One with colons: of hours where is_hours. FALSE for anything else. */
gboolean astro_sixtieths_parse(const char *text, gboolean is_hours, double *degrees);
#define ASTRO_ANGLES_EXPECTED "in degrees, or as 13:31:08.3 and +30:30:33"

G_END_DECLS
