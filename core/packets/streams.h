/* Divides a stream into the parts that single packets hold: groups of adjacent stations,
 * polarisations and channels. */
#pragma once

#include "core/packets/place.h"

G_BEGIN_DECLS

/* Groups are in the order of stations, then polarisations, then channels, which vary fastest. */
typedef struct {
  guint64 stations, pols, channels;       /* number of groups */
  guint64 of_station, of_pol, of_channel; /* extent of each axis in a packet */
} AstroPacketGroups;

#define ASTRO_PACKET_MOST_STREAMS 65536

/* FALSE and the error: the groups do not divide the stream evenly, or there are too many. */
gboolean astro_packet_groups_init(AstroPacketGroups *groups, const AstroStream *out,
                                  const AstroPacketSamples *samples, GError **error);
guint astro_packet_groups_n(const AstroPacketGroups *groups);
/* FALSE: no packet of the stream starts there. */
gboolean astro_packet_groups_find(const AstroPacketGroups *groups, const AstroPlaceStream *first,
                                  guint *stream);
/* Packets have to tell their station, polarisation and channel where there are several. name: that
 * of the format, for the error. */
gboolean astro_packet_groups_check(const AstroPacketGroups *groups, const AstroPacket *packet,
                                   const char *name, GError **error);
AstroPlaceStream astro_packet_groups_first(const AstroPacketGroups *groups, guint stream);

G_END_DECLS
