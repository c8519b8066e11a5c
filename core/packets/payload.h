/* Chooses the samples of packets to be sent, as the format or the user specifies them. */
#pragma once

#include "core/packets/packets.h"

G_BEGIN_DECLS

typedef struct {
  guint bits, steps, channels; /* 0: as the format has it */
  guint bytes;                 /* most bytes of samples in a packet */
} AstroPayloadWish;

/* common: from astro_packets_common. FALSE and the error: packets of the format cannot hold the
 * stream that way. */
gboolean astro_payload_choose(const AstroPacket *common, const char *name,
                              const AstroPayloadWish *wish, const AstroStream *stream,
                              AstroPacketSamples *samples, GError **error);

/* Counts the values that are out of range for the packet's bits; packing replaces them by the
 * nearest in range. Levels cover all values. */
guint64 astro_payload_clipped(const AstroPacketSamples *samples, gconstpointer values);

G_END_DECLS
