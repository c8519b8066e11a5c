/* Earth orientation in what computes delays or (u,v,w) of a stream that comes: the stream's own, a
 * file's, or none, with a warning where that may be seen. */
#pragma once

#include <gst/gst.h>
#include "core/lib/sky/earth-file.h"
#include "core/stream/observation.h"
#include "core/stream/stream.h"
#include "elements/base/astrofields.h"

G_BEGIN_DECLS

/* From start to stop; to begin with all of it is 0. */
typedef struct {
  gboolean is_assumed; /* UT1 was taken for UTC since nobody said anything else */
  gboolean is_told;
} AstroEarthUse;

/* Settles the Earth orientation of an observation that came, by the file that is a property of the
 * element. */
gboolean astro_earth_use(AstroEarthUse *use, gconstpointer element, char *const *file,
                         AstroObservation *observation, GError **error);

/* Warns once where UT1 was taken for UTC and that may be more than a tenth of the beam: the error
 * in arcsec (core/lib/sky/earth-error.h), and where it is that, " at the image's corners". */
void astro_earth_use_tell(AstroEarthUse *use, GstElement *element,
                          const AstroObservation *observation, const AstroStream *stream,
                          double error, const char *where);

/* The row of that property. */
#define ASTRO_EARTH_FIELD(type, member)                                                            \
  ASTRO_TEXT(type, member, "earth-orientation", "Earth orientation",                               \
             ASTRO_EARTH_HELP " (unset: the stream's own, else UT1 = UTC, with no polar motion)",  \
             NULL)

G_END_DECLS
