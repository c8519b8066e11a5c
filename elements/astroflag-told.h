/* Says how much astroflag flagged: in a message, and in fields of its statistics. */
#pragma once

#include <gst/gst.h>
#include "core/flag/apply.h"

G_BEGIN_DECLS

/* Kept under the lock of the element. */
typedef struct {
  AstroFlagTally tally;
  guint channels;
  gint64 told_at; /* monotonic time of the last message; 0: none yet */
  guint64 told;   /* flagged values then */
} AstroFlagTold;

/* Begins anew, for a stream of so many channels; 0: for none. */
void astro_flag_told_reset(AstroFlagTold *told, GstElement *element, guint channels);
void astro_flag_told_add(AstroFlagTold *told, GstElement *element, const guint8 *flags,
                         guint64 rows, guint64 units);
/* Adds flagged-values, flagged-percent and so on. */
void astro_flag_told_fill(const AstroFlagTold *told, GstElement *element, GstStructure *to);

/* Posts the message `flagged`: at the end of a stream, and else once a second at most, if more was
 * flagged. */
void astro_flag_told_post(AstroFlagTold *told, GstElement *element, gboolean ends);

G_END_DECLS
