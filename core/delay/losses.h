/* Which samples of delayed voltages rest on samples that were lost: a loss moves with the delay of
 * its station and grows by the reach of the interpolation. */
#pragma once

#include "core/delay/model.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

typedef struct AstroDelayLosses AstroDelayLosses;

AstroDelayLosses *astro_delay_losses_new(void);
void astro_delay_losses_free(AstroDelayLosses *losses);
void astro_delay_losses_clear(AstroDelayLosses *losses);

/* Of all stations, from one sample on and before another. */
void astro_delay_losses_add(AstroDelayLosses *losses, AstroDelayModel *model,
                            const AstroStream *stream, gint64 from, gint64 to);
/* What a block of the input says of itself: GAP, or its counts. */
void astro_delay_losses_read(AstroDelayLosses *losses, AstroDelayModel *model,
                             const AstroStream *stream, GstBuffer *in, guint64 first,
                             guint64 steps);
/* Gives a block of the output counts where it lost anything, and forgets what lies before its end.
 */
void astro_delay_losses_mark(AstroDelayLosses *losses, const AstroStream *stream, GstBuffer *out,
                             guint64 first, guint64 steps);

G_END_DECLS
