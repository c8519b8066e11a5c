/* Tracks which samples of delayed voltages depend on lost samples: a loss moves with the delay of
 * its station and grows by the reach of the interpolation. */
#pragma once

#include "core/delay/model.h"
#include "core/lib/stretch/losses.h"

G_BEGIN_DECLS

/* Adds a loss of all stations, from one sample (0: everything before) to another (G_MAXUINT64:
 * everything after). */
void astro_delay_losses_add(AstroLosses *losses, AstroDelayModel *model, const AstroStream *stream,
                            guint64 from, guint64 to);

/* Adds the losses of an input block: its GAP flag, or its counts. */
void astro_delay_losses_read(AstroLosses *losses, AstroDelayModel *model, const AstroStream *stream,
                             GstBuffer *in, guint64 first, guint64 steps);

G_END_DECLS
