/* When packets were sampled, in UTC, by what their headers count and what a user knows of it. */
#pragma once

#include "core/packets/sequence.h"
#include "core/packets/shape.h"
#include "core/stream/observation.h"

G_BEGIN_DECLS

typedef struct {
  gboolean has_sync, has_start;
  gint64 sync_ns, start_ns; /* since 1970 */
} AstroPacketEpoch;

/* Reads the user's sync-epoch and start-time. */
gboolean astro_packet_epoch_read(AstroPacketEpoch *epoch, const AstroPacketSettings *settings,
                                 GError **error);
/* Refuses what a user says of packets that tell the time themselves. */
gboolean astro_packet_epoch_check(const AstroPacketEpoch *epoch, const AstroPacket *packet,
                                  GError **error);

/* Counts of a packet; 0: nobody says. */
guint64 astro_packet_counts(const AstroPacket *packet, guint64 sequence_step);

/* packet: any of them. number: as astro_sequence_find gives it. first: of the earliest packet,
 * which is the one that start-time is of. FALSE: not known. */
gboolean astro_packet_epoch_time(const AstroPacketEpoch *epoch, const AstroPacketShape *shape,
                                 const AstroSequence *sequence, const AstroPacket *packet,
                                 guint64 number, guint64 first, gint64 *ns);

/* An observation of no stations that starts then. */
AstroObservation *astro_packet_observation(gboolean has_start, gint64 ns);

G_END_DECLS
