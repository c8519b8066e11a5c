/* How a correlation function was made, for those who write it down. Travels as a sticky custom
 * downstream event before it. */
#pragma once

#include <gst/gst.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

#define ASTRO_ABOUT_EVENT "astro-correlation"

gboolean astro_event_is_about(GstEvent *event);

/* What the event may tell, up to a field NULL: a string, a double or an unsigned 64-bit number. */
typedef struct {
  const char *field;
  const char *key; /* of a FITS header */
  const char *meaning;
} AstroAboutField;
extern const AstroAboutField astro_about_fields[];

ASTRO_END_DECLS
