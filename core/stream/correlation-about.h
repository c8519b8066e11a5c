/* How a correlation function was made, for elements that write it to files. It travels ahead of the
 * function as a sticky custom downstream event. */
#pragma once

#include <gst/gst.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

#define ASTRO_ABOUT_EVENT "astro-correlation"

gboolean astro_event_is_about(GstEvent *event);

/* Fields that the event may have: a string, a double or an unsigned 64-bit number. The list ends
 * with field NULL. */
typedef struct {
  const char *field;
  const char *key; /* keyword in a FITS header */
  const char *meaning;
} AstroAboutField;
extern const AstroAboutField astro_about_fields[];

ASTRO_END_DECLS
