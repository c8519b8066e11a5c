/* Parses positions in the sky as users write them. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Plain numbers are degrees. With colons, right ascension is hours, minutes and seconds, and
 * declination is degrees, arcminutes and arcseconds. FALSE if a text is neither. */
gboolean astro_angles_parse(const char *ra, const char *dec, double *ra_degrees,
                            double *dec_degrees);
/* Parses an angle with colons, in hours if is_hours. FALSE for anything else. */
gboolean astro_sixtieths_parse(const char *text, gboolean is_hours, double *degrees);
#define ASTRO_ANGLES_EXPECTED "in degrees, or as 13:31:08.3 and +30:30:33"

G_END_DECLS
