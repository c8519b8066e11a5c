/* Samples of a packet into their places of a block, in the order that the stream has, and the
 * block's counts of those that came. */
#pragma once

#include "core/packets/packets.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

/* The first station, pol and channel of a stream of packets, as the block counts them. Of axes that
 * the block does not have it is 0. */
typedef struct {
  guint64 station, pol, channel;
} AstroPlaceStream;

typedef struct {
  AstroStream out;
  AstroPacketSamples samples; /* of each packet; their layout has axes of out alone */
  guint n_streams;
  const AstroPlaceStream *streams;
} AstroPlaceConfig;

/* Whether packets fill the block: the format is that of their samples, and each station, pol and
 * channel is in one stream. All below takes that for granted. */
gboolean astro_place_check(const AstroPlaceConfig *config, GError **error);

/* Puts samples of a packet, unpacked, in a block of so many packets a stream. */
void astro_place_samples(const AstroPlaceConfig *config, guint stream, guint packet,
                         gconstpointer samples, gpointer block, guint packets);

/* The other way, for who sends: a packet's samples in its own order. */
void astro_place_gather(const AstroPlaceConfig *config, guint stream, guint packet,
                        gconstpointer block, gpointer samples, guint packets);

/* Zeros where a packet did not come. */
void astro_place_zeros(const AstroPlaceConfig *config, guint stream, guint packet, gpointer block,
                       guint packets);

/* The block's counts: 1 behind what came and 0 behind what is lost. came: stream after stream, its
 * packets. */
AstroValidityMeta *astro_place_validity(const AstroPlaceConfig *config, const guint8 *came,
                                        guint packets, GstBuffer *block);

G_END_DECLS
