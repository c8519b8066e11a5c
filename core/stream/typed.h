/* Rates and times as users type them. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* "1000000", "1e6", "390625/2" or "195312.5", as an exact fraction. FALSE: it is none of these, is
 * 0, or needs numbers above 2147483647. */
gboolean astro_rate_parse(const char *text, gint *rate_n, gint *rate_d);

/* A time in UTC, in ns since 1970 without leap seconds: 2026-11-20T12:00:00[.fraction][Z], or
 * seconds since 1970 with or without a fraction. */
gboolean astro_time_parse(const char *text, gint64 *ns);

G_END_DECLS
