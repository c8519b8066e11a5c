/* Copies the samples of packets to their positions in a block, in the stream's order of axes, and
 * makes the block's counts of samples received. */
#pragma once

#include "core/packets/packets.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

/* The first station, pol and channel of a stream of packets, as indices in the block. 0 for axes
 * that the block does not have. */
typedef struct {
  guint64 station, pol, channel;
} AstroPlaceStream;

typedef struct {
  AstroStream out;
  AstroPacketSamples samples; /* in each packet; their layout only has axes of out */
  guint n_streams;
  const AstroPlaceStream *streams;
} AstroPlaceConfig;

/* Whether the packets fill the block: their samples have its format, and each station, pol and
 * channel is in exactly one stream. The functions below require this. */
gboolean astro_place_check(const AstroPlaceConfig *config, GError **error);

/* Copies the unpacked samples of a packet into a block of so many packets a stream. */
void astro_place_samples(const AstroPlaceConfig *config, guint stream, guint packet,
                         gconstpointer samples, gpointer block, guint packets);

/* The reverse, for senders: collects a packet's samples in its own order. */
void astro_place_gather(const AstroPlaceConfig *config, guint stream, guint packet,
                        gconstpointer block, gpointer samples, guint packets);

/* Zeros the samples of a packet that did not come. */
void astro_place_zeros(const AstroPlaceConfig *config, guint stream, guint packet, gpointer block,
                       guint packets);

/* Adds the block's counts: 1 for samples that came and 0 for lost ones. came: for each stream, its
 * packets. */
AstroValidityMeta *astro_place_validity(const AstroPlaceConfig *config, const guint8 *came,
                                        guint packets, GstBuffer *block);

G_END_DECLS
