/* Whether a stream of visibilities has all that a file of rows needs. */
#pragma once

#include "core/stream/observation.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

/* MJDs on which an observation may begin: larger values are not dates. */
#define ASTRO_ROW_DAYS 100000
#define ASTRO_ROW_YEARS "1858 to 2132"

/* format: the file's kind, for messages. stations: those of the caps, or 0. */
gboolean astro_rows_check(const char *format, guint most_stations, const AstroStream *stream,
                          guint stations, const AstroObservation *observation, GError **error);

G_END_DECLS
