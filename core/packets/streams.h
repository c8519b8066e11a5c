/* Which part of a stream each sender's packets are: groups of stations, polarisations and channels
 * that a packet holds, side by side. */
#pragma once

#include "core/packets/place.h"

G_BEGIN_DECLS

/* Each station's groups follow each other, polarisations first, then channels the fastest. */
typedef struct {
  guint64 stations, pols, channels;       /* how many groups there are */
  guint64 of_station, of_pol, of_channel; /* how much of each axis a packet has */
} AstroPacketGroups;

#define ASTRO_PACKET_MOST_STREAMS 65536

/* FALSE and the error: packets do not make up the stream, or are too many. */
gboolean astro_packet_groups_init(AstroPacketGroups *groups, const AstroStream *out,
                                  const AstroPacketSamples *samples, GError **error);
guint astro_packet_groups_n(const AstroPacketGroups *groups);
/* FALSE: no packet of the stream begins there. */
gboolean astro_packet_groups_find(const AstroPacketGroups *groups, const AstroPlaceStream *first,
                                  guint *stream);
/* Whether packets tell what there is more than one of. name: of the format, for the error. */
gboolean astro_packet_groups_check(const AstroPacketGroups *groups, const AstroPacket *packet,
                                   const char *name, GError **error);
AstroPlaceStream astro_packet_groups_first(const AstroPacketGroups *groups, guint stream);

G_END_DECLS
