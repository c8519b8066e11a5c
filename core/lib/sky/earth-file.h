/* Files of the IERS with the orientation of the Earth: finals2000A (.all, .data, .daily), and
 * finals.*, which have the same columns except for nutation, which is not read. */
#pragma once

#include "core/kit/lines.h"
#include "core/stream/observation.h"

G_BEGIN_DECLS

#define ASTRO_EARTH_HELP                                                                           \
  "File of UT1 - UTC and polar motion, as the IERS publishes them (finals2000A.all), for (u,v,w) " \
  "and delays"

/* NULL and an error that names file, line and field. */
AstroEarth *astro_earth_from_lines(AstroLines *lines, GError **error);

/* Gives the observation the file's days around its start; does nothing without a file (NULL or
 * empty). An observation that has other days already, or was computed without any, is refused:
 * parts of a stream that are computed with different ones do not match. */
gboolean astro_earth_amend(AstroObservation *observation, const char *file, GError **error);

/* The same for elements that compute with the observation that arrives: if there is no file either,
 * UT1 is taken as UTC, and the observation says so from there on. */
gboolean astro_earth_settle(AstroObservation *observation, const char *file, gboolean *is_assumed,
                            GError **error);

G_END_DECLS
