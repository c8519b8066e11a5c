/* When a time step of a stage's input begins and ends, for who computes (u,v,w). */
#pragma once

#include "elements/base/astrostage.h"

G_BEGIN_DECLS

/* Of time step first + i of a block of so many that begins at first: from the stream's zero, which
 * is the observation's start. FALSE: neither caps nor buffer say. */
gboolean astro_stage_step_times(AstroStage *stage, GstBuffer *in, guint64 first, guint64 i,
                                guint64 steps, GstClockTime times[2], GError **error);

G_END_DECLS
