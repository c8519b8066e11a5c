/* Weights of stations from a text file of lines
 *
 *   STATION CHANNELS AMPLITUDE [DEGREES]
 *
 * STATION is a name, or * for all; CHANNELS a number from 0, a range FIRST-LAST, or * for all. A
 * sample is multiplied by AMPLITUDE exp(i DEGREES). Later lines replace what earlier ones say, and
 * what no line says is 1. '#' starts a comment. */
#pragma once

#include "core/kit/lines.h"
#include "core/stream/observation.h"

G_BEGIN_DECLS

/* The weights of the stations of an observation with these indices: [channel][station][re, im], to
 * be freed. NULL, with an error: among others if no station has a weight in some channel. */
float *astro_beamform_weights_read(const char *path, const AstroObservation *observation,
                                   const guint *index, guint n, guint channels, GError **error);
float *astro_beamform_weights_from_lines(AstroLines *lines, const AstroObservation *observation,
                                         const guint *index, guint n, guint channels,
                                         GError **error);

G_END_DECLS
