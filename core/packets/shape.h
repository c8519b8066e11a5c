/* The stream that packets make, found from one of them and from the settings of the user. */
#pragma once

#include "core/packets/identities.h"
#include "core/packets/sequence.h"
#include "core/packets/settings.h"
#include "core/packets/streams.h"

G_BEGIN_DECLS

typedef struct {
  AstroPacketSamples samples; /* of each packet, complete */
  AstroStream out;
  AstroPacketGroups groups;
  AstroPlaceStream *streams;
  guint64 steps;       /* of a packet */
  guint block, window; /* packets */
  gsize block_bytes;
} AstroPacketShape;

/* Completes what a header leaves out of its samples. */
gboolean astro_packet_shape_samples(const AstroPacketSettings *settings, const AstroPacket *packet,
                                    AstroPacketSamples *samples, GError **error);
/* n_stations: identifiers, of which each has as many stations as a packet. rate_n 0: the user did
 * not say it. packets_a_second: learned; 0: not needed, or not yet known. FALSE without an error:
 * the rate is not known yet. */
gboolean astro_packet_shape_init(AstroPacketShape *shape, const AstroPacketSettings *settings,
                                 guint n_stations, const AstroPacket *packet, gint rate_n,
                                 gint rate_d, guint64 packets_a_second, GError **error);
void astro_packet_shape_clear(AstroPacketShape *shape);
AstroPlaceConfig astro_packet_shape_place(const AstroPacketShape *shape);

G_END_DECLS
