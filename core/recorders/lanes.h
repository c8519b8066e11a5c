/* Puts the steps of one of two lanes, threads or beams, among those of the other. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Whether there is a kernel for so many lanes of so many bytes. */
gboolean astro_recorder_has_lanes(guint lanes, gsize bytes);
/* out: a block of time:lane. Puts n steps of a lane in it, from a step on; the other lane keeps
 * what it has. */
void astro_recorder_place_lane(guint8 *out, guint lane, gsize bytes, guint64 step, const guint8 *in,
                               guint64 n);

G_END_DECLS
