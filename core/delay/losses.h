/* Which samples of delayed voltages rest on samples that were lost: a loss moves with the delay of
 * its station and grows by the reach of the interpolation. */
#pragma once

#include "core/delay/model.h"
#include "core/lib/stretch/losses.h"

G_BEGIN_DECLS

/* Of all stations, from one sample on (0: all there are) and before another (G_MAXUINT64: alike).
 */
void astro_delay_losses_add(AstroLosses *losses, AstroDelayModel *model, const AstroStream *stream,
                            guint64 from, guint64 to);

/* What a block of the input says of itself: GAP, or its counts. */
void astro_delay_losses_read(AstroLosses *losses, AstroDelayModel *model, const AstroStream *stream,
                             GstBuffer *in, guint64 first, guint64 steps);

G_END_DECLS
