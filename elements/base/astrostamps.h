/* For sources that read files: numbers and times of the integrations, images or tables in them. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Begins as zeros. */
typedef struct {
  guint64 n;    /* stamped so far */
  guint64 next; /* the OFFSET after the last one */
  gint64 epoch; /* the time of OFFSET 0, as of the last DISCONT */
} AstroStamps;

/* start_ns: since the observation's start; duration_ns: 0 if it is unknown; step_ns: from one to
 * the next, 0 if there are no steps. One that begins between two steps starts a new count, marked
 * as DISCONT: other elements count steps, and look at the time again only after a jump. */
void astro_stamps_put(AstroStamps *stamps, GstBuffer *buffer, gint64 start_ns, guint64 duration_ns,
                      guint64 step_ns);

G_END_DECLS
