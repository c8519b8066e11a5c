/* A row: the time steps of one packet of each station, polarisation and group of channels,
 * assembled from buffers of any length. */
#pragma once

#include "core/packets/sender.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

typedef struct _AstroRow AstroRow;

/* The time of the step at which a packet ends, for its datagrams. */
typedef GstClockTime (*AstroRowTime)(gpointer user, guint64 end);

AstroRow *astro_row_new(AstroSender *sender, const AstroStream *stream, AstroRowTime time,
                        gpointer user);
void astro_row_free(AstroRow *row);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroRow, astro_row_free)

/* Adds the steps from skip on of a mapped buffer of so many steps, whose first one is the stream's
 * step first. Steps missing before them count as not good. counts: NULL if all are good; is_gap:
 * none are. */
gboolean astro_row_add(AstroRow *row, const guint8 *samples, guint64 steps, guint64 skip,
                       guint64 first, const AstroValidityMeta *counts, gboolean is_gap,
                       GError **error);
/* Sends a row that is not full, with none of its samples marked as good. */
gboolean astro_row_finish(AstroRow *row, GError **error);
void astro_row_reset(AstroRow *row);

G_END_DECLS
