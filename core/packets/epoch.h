/* When packets were sampled, in UTC, from the counts in their headers and the user's settings. */
#pragma once

#include "core/packets/sequence.h"
#include "core/packets/shape.h"
#include "core/stream/observation.h"

G_BEGIN_DECLS

typedef struct {
  gboolean has_sync, has_start;
  gint64 sync_ns, start_ns; /* since 1970 */
} AstroPacketEpoch;

/* Reads the user's sync-epoch or start-time. */
gboolean astro_packet_epoch_read(AstroPacketEpoch *epoch, const AstroPacketSettings *settings,
                                 GError **error);
/* Refuses these settings if packets tell the time themselves. */
gboolean astro_packet_epoch_check(const AstroPacketEpoch *epoch, const AstroPacket *packet,
                                  GError **error);

/* How much the count rises from one packet to the next; 0: unknown. */
guint64 astro_packet_counts(const AstroPacket *packet, guint64 sequence_step);

/* packet: any of them. number: from astro_sequence_find. first: number of the earliest packet,
 * which was sampled at start-time. FALSE: the time is unknown. */
gboolean astro_packet_epoch_time(const AstroPacketEpoch *epoch, const AstroPacketShape *shape,
                                 const AstroSequence *sequence, const AstroPacket *packet,
                                 guint64 number, guint64 first, gint64 *ns);

/* An observation without stations that starts at ns, if has_start. */
AstroObservation *astro_packet_observation(gboolean has_start, gint64 ns);

G_END_DECLS
