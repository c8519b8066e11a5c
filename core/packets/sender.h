/* From samples to packets, the reverse of receiver.h: a packet's worth of time at once makes a
 * packet of each station, polarisation and group of channels, sent over a simulated network. */
#pragma once

#include "core/packets/lossy.h"
#include "core/packets/packets.h"
#include "core/stream/observation.h"

G_BEGIN_DECLS

typedef struct {
  char *packet;   /* a format's name or @FILE */
  char *stations; /* identifiers (core/packets/identities.h); NULL: 0 to n - 1 */
  guint bits;     /* 0: from the description, or as many as the stream's format has */
  guint packet_steps, packet_channels; /* 0: from the format */
  guint packet_bytes; /* most bytes of samples in a packet, if the format leaves it open */
  guint64 first_channel, sequence_step;
  AstroLossyConfig network;
} AstroSenderSettings;

/* Receives a datagram, and takes ownership of it. */
typedef void (*AstroSenderSend)(gpointer user, GstBuffer *datagram);

typedef struct {
  guint64 packets, bytes; /* sent */
  guint64 dropped, duplicated, reordered;
  guint64 invalid;  /* packets marked as invalid */
  guint64 withheld; /* not sent, because samples were invalid and headers cannot say so */
  guint64 clipped;  /* values out of range for the packets' bits */
} AstroSenderCounts;

typedef struct _AstroSender AstroSender;

AstroSender *astro_sender_new(const AstroSenderSettings *settings, AstroSenderSend send,
                              gpointer user, GError **error);
void astro_sender_free(AstroSender *sender);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroSender, astro_sender_free)
const char *astro_sender_packet(const AstroSender *sender);
const AstroSenderSettings *astro_sender_settings(const AstroSender *sender);

/* Begins another stream, or the same one with another observation (NULL if there is none). */
gboolean astro_sender_begin(AstroSender *sender, const AstroStream *stream,
                            const AstroObservation *observation, GError **error);
/* Time steps in a packet; and the first step, at or after the given one, at which a packet
 * begins. */
guint64 astro_sender_steps(const AstroSender *sender);
guint64 astro_sender_next(const AstroSender *sender, guint64 step);
/* Streams of packets, and the samples of each: the first ones, and how many. */
typedef struct {
  guint64 station, pol, channel, stations, pols, channels;
} AstroSenderPart;
guint astro_sender_streams(const AstroSender *sender);
AstroSenderPart astro_sender_part(const AstroSender *sender, guint stream);

/* Sends the packets that begin at a step. samples: in the stream's layout; is_good: for each stream
 * of packets; time: for all of them. */
gboolean astro_sender_send(AstroSender *sender, guint64 step, const guint8 *samples,
                           const guint8 *is_good, GstClockTime time, GError **error);
/* Sends a datagram that was made elsewhere, and takes ownership of it. */
void astro_sender_put(AstroSender *sender, GstBuffer *datagram);
/* Counts packets, or heaps, that are not sent since nothing in them is good. */
void astro_sender_withhold(AstroSender *sender, guint64 n);
void astro_sender_finish(AstroSender *sender); /* sends what the network holds back */
void astro_sender_reset(AstroSender *sender);  /* drops it */
AstroSenderCounts astro_sender_counts(const AstroSender *sender);

G_END_DECLS
