/* A row: the steps of time that go into a packet of each station, polarisation and group of
 * channels, put together from buffers that are cut anywhere. */
#pragma once

#include "core/packets/sender.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

typedef struct _AstroRow AstroRow;

/* time: of the end of a packet that begins at that step, for its datagrams. */
typedef GstClockTime (*AstroRowTime)(gpointer user, guint64 end);

AstroRow *astro_row_new(AstroSender *sender, const AstroStream *stream, AstroRowTime time,
                        gpointer user);
void astro_row_free(AstroRow *row);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroRow, astro_row_free)

/* Steps from skip on of a mapped buffer of so many, the first of which is the stream's step first.
 * Steps that are missing before them are none that are good. counts: NULL where all are; is_gap:
 * none is. */
gboolean astro_row_add(AstroRow *row, const guint8 *samples, guint64 steps, guint64 skip,
                       guint64 first, const AstroValidityMeta *counts, gboolean is_gap,
                       GError **error);
/* Sends what there is, which is less than a packet: its samples do not count. */
gboolean astro_row_finish(AstroRow *row, GError **error);
void astro_row_reset(AstroRow *row);

G_END_DECLS
