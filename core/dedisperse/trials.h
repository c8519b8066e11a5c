/* Trial dispersion measures as users type them. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Reads numbers and ranges FROM:TO:STEP, joined by commas, which rise: "56.7", "0,10,20",
 * "0:100:0.5". A range ends with TO if STEP divides it. NULL and an error: expected something
 * else. */
GArray *astro_dedisperse_trials_read(const char *text, GError **error);

G_END_DECLS
