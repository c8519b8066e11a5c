/* From samples to packets, the other way of receiver.h: a packet's worth of time at once, of each
 * station, polarisation and group of channels a packet, over a network as bad as is wished. */
#pragma once

#include "core/packets/lossy.h"
#include "core/packets/packets.h"
#include "core/stream/observation.h"

G_BEGIN_DECLS

typedef struct {
  char *packet;   /* a format's name or @FILE */
  char *stations; /* identifiers, core/packets/identities.h; NULL: 0 to n - 1 */
  guint bits;     /* 0: by the description, or as many as the stream's format has */
  guint packet_steps, packet_channels; /* 0: by the format */
  guint packet_bytes;                  /* of samples in one packet, at most, where it is free */
  guint64 first_channel, sequence_step;
  AstroLossyConfig network;
} AstroSenderSettings;

/* A datagram, to be kept. */
typedef void (*AstroSenderSend)(gpointer user, GstBuffer *datagram);

typedef struct {
  guint64 packets, bytes; /* that went on */
  guint64 dropped, duplicated, reordered;
  guint64 invalid;  /* marked as such */
  guint64 withheld; /* not sent, since samples were not valid and no header can say so */
  guint64 clipped;  /* values that the packets' bits do not have */
} AstroSenderCounts;

typedef struct _AstroSender AstroSender;

AstroSender *astro_sender_new(const AstroSenderSettings *settings, AstroSenderSend send,
                              gpointer user, GError **error);
void astro_sender_free(AstroSender *sender);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroSender, astro_sender_free)
const char *astro_sender_packet(const AstroSender *sender);

/* Another stream, or the same of another observation, NULL where none came. */
gboolean astro_sender_begin(AstroSender *sender, const AstroStream *stream,
                            const AstroObservation *observation, GError **error);
/* Steps of time of a packet; and the first from which on a packet begins, at a step or after it. */
guint64 astro_sender_steps(const AstroSender *sender);
guint64 astro_sender_next(const AstroSender *sender, guint64 step);
/* Streams of packets, and which samples each has: the first, and how many. */
typedef struct {
  guint64 station, pol, channel, stations, pols, channels;
} AstroSenderPart;
guint astro_sender_streams(const AstroSender *sender);
AstroSenderPart astro_sender_part(const AstroSender *sender, guint stream);

/* The packets of the steps from one at which they begin on, in the layout of the stream; is_good:
 * of each stream. time: of all of them. */
gboolean astro_sender_send(AstroSender *sender, guint64 step, const guint8 *samples,
                           const guint8 *is_good, GstClockTime time, GError **error);
void astro_sender_finish(AstroSender *sender); /* sends what the network holds back */
void astro_sender_reset(AstroSender *sender);  /* drops it */
AstroSenderCounts astro_sender_counts(const AstroSender *sender);

G_END_DECLS
