/* The directions of beams as a user writes them. */
#pragma once

#include "core/kit/lines.h"
#include "core/stream/observation.h"

G_BEGIN_DECLS

/* text: "a,b;a,b;...", or the name of a file of lines "ra dec [name]" and "lm l m [name]". A pair
 * with colons, or outside the unit circle, is ra,dec; another one is l,m. A list has pairs of one
 * kind, so that a small ra,dec in degrees is not taken for l,m among others that are not.
 *
 * Beams without a name are called B and their number, from 0. Returns an observation that has the
 * beams and nothing else; NULL with an error. */
AstroObservation *astro_beamform_beams_read(const char *text, GError **error);
AstroObservation *astro_beamform_beams_from_lines(AstroLines *lines, GError **error);

G_END_DECLS
