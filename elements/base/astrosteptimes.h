/* When a time step of a stage's input begins and ends, for stages that compute (u,v,w). */
#pragma once

#include "elements/base/astrostage.h"

G_BEGIN_DECLS

/* Times of step first + i, in a block of `steps` steps that begins at `first`: counted from the
 * observation's start. FALSE: neither the caps nor the buffer say it. */
gboolean astro_stage_step_times(AstroStage *stage, GstBuffer *in, guint64 first, guint64 i,
                                guint64 steps, GstClockTime times[2], GError **error);

G_END_DECLS
