/* Files of the IERS that say how the earth stands: finals2000A (.all, .data, .daily), and finals.*,
 * which have the same columns but for nutation, which is not read. */
#pragma once

#include "core/kit/lines.h"
#include "core/stream/observation.h"

G_BEGIN_DECLS

#define ASTRO_EARTH_HELP                                                                           \
  "File of UT1 - UTC and polar motion, as the IERS publishes them (finals2000A.all), for (u,v,w) " \
  "and delays"

/* NULL and an error that names file, line and field. */
AstroEarth *astro_earth_from_lines(AstroLines *lines, GError **error);

/* Gives the observation the file's days around its start; nothing where there is no file (NULL or
 * empty). One that has others already, or was made with none, is refused: parts of a stream that
 * are computed with different ones do not fit. */
gboolean astro_earth_amend(AstroObservation *observation, const char *file, GError **error);

/* The same for what computes with what comes: where nobody says which, UT1 is taken for UTC, and so
 * it stands in the observation from there on. */
gboolean astro_earth_settle(AstroObservation *observation, const char *file, gboolean *is_assumed,
                            GError **error);

G_END_DECLS
