/* The Earth orientation for elements that compute delays or (u,v,w) of a stream that comes in: the
 * stream's own, or that of a file, or none, with a warning if that could matter. */
#pragma once

#include <gst/gst.h>
#include "core/lib/sky/earth-file.h"
#include "core/stream/observation.h"
#include "core/stream/stream.h"
#include "elements/base/astrofields.h"

G_BEGIN_DECLS

/* Lives from start to stop, and begins as zeros. */
typedef struct {
  gboolean is_assumed; /* no orientation was given, so UT1 = UTC was assumed */
  gboolean is_told;
} AstroEarthUse;

/* Sets the Earth orientation of an observation that came, by the file that is a property of the
 * element. */
gboolean astro_earth_use(AstroEarthUse *use, gconstpointer element, char *const *file,
                         AstroObservation *observation, GError **error);

/* If UT1 = UTC was assumed and the error (in arcsec, core/lib/sky/earth-error.h) may exceed a tenth
 * of the beam, warns once. where: the place in the image with that error, " in the image's
 * corners". */
void astro_earth_use_tell(AstroEarthUse *use, GstElement *element,
                          const AstroObservation *observation, const AstroStream *stream,
                          double error, const char *where);

/* The row of the property for the file. */
#define ASTRO_EARTH_FIELD(type, member)                                                            \
  ASTRO_TEXT(type, member, "earth-orientation", "Earth orientation",                               \
             ASTRO_EARTH_HELP " (unset: the stream's own, else UT1 = UTC, with no polar motion)",  \
             NULL)

G_END_DECLS
