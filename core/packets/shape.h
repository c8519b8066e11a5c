/* The stream that packets make up, derived from one of them and the user's settings. */
#pragma once

#include "core/packets/identities.h"
#include "core/packets/sequence.h"
#include "core/packets/settings.h"
#include "core/packets/streams.h"

G_BEGIN_DECLS

typedef struct {
  AstroPacketSamples samples; /* those of a packet, complete */
  AstroStream out;
  AstroPacketGroups groups;
  AstroPlaceStream *streams;
  guint64 steps;       /* time steps per packet */
  guint block, window; /* in packets */
  gsize block_bytes;
} AstroPacketShape;

/* Fills in what the header does not tell about the samples. */
gboolean astro_packet_shape_samples(const AstroPacketSettings *settings, const AstroPacket *packet,
                                    AstroPacketSamples *samples, GError **error);
/* n_stations: number of identifiers, each for as many stations as a packet has. rate_n 0: not set
 * by the user. packets_a_second: as learned; 0: not needed, or not known yet. FALSE without an
 * error: the rate is not known yet. */
gboolean astro_packet_shape_init(AstroPacketShape *shape, const AstroPacketSettings *settings,
                                 guint n_stations, const AstroPacket *packet, gint rate_n,
                                 gint rate_d, guint64 packets_a_second, GError **error);
void astro_packet_shape_clear(AstroPacketShape *shape);
AstroPlaceConfig astro_packet_shape_place(const AstroPacketShape *shape);

G_END_DECLS
