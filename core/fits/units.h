/* Units in headers: mJy/beam, GHz. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* How many of unit (in any case: AIPS writes HZ) the text's first word is, whatever prefix it has;
 * 0: it is another unit. *rest: what follows it; rest may be NULL. */
double astro_fits_unit_factor(const char *text, const char *unit, const char **rest);

G_END_DECLS
