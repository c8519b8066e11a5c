/* Which samples a packet has, for who sends: as the format says it, or as a user does. */
#pragma once

#include "core/packets/packets.h"

G_BEGIN_DECLS

typedef struct {
  guint bits, steps, channels; /* 0: by the format */
  guint bytes;                 /* of a packet's samples, at most */
} AstroPayloadWish;

/* common: of astro_packets_common. FALSE and the error: packets of the format cannot hold the
 * stream so. */
gboolean astro_payload_choose(const AstroPacket *common, const char *name,
                              const AstroPayloadWish *wish, const AstroStream *stream,
                              AstroPacketSamples *samples, GError **error);

/* How many of a packet's values its bits do not have; packing takes the nearest for them. Levels
 * have all values. */
guint64 astro_payload_clipped(const AstroPacketSamples *samples, gconstpointer values);

G_END_DECLS
