/* Units in headers, such as mJy/beam or GHz. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The factor between the first word of text and unit, from its prefix; upper and lower case are the
 * same, as AIPS writes HZ. 0: another unit. *rest is what follows the word; rest may be NULL. */
double astro_fits_unit_factor(const char *text, const char *unit, const char **rest);

G_END_DECLS
