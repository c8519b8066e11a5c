/* Facts about packets that their headers leave out and a user gives, and how these are written. */
#pragma once

#include "core/packets/packets.h"

G_BEGIN_DECLS

typedef struct {
  char *packet;   /* a format's name or @FILE */
  char *stations; /* core/packets/identities.h */
  char *threads;  /* the same */
  char *layout;   /* of the stream; NULL: time slowest */
  char *rate;     /* steps a second, a fraction or a decimal number */
  char *sync_epoch, *start_time;
  guint channels, pols; /* of the stream; 0: those of a packet */
  guint packet_steps;   /* 0: headers or descriptions tell */
  guint64 first_channel, sequence_step;
  double frequency, bandwidth; /* 0: not known */
  guint block_ms, latency_ms;
} AstroPacketSettings;

/* "1000000", "390625/2" or "195312.5", exactly. 0/1 of nothing; FALSE: it is none of these. */
gboolean astro_packet_rate_parse(const char *text, gint *rate_n, gint *rate_d, GError **error);

/* A time in UTC, ns since 1970 without leap seconds: 2026-11-20T12:00:00[.fraction][Z], or seconds
 * since 1970 with or without a fraction. */
gboolean astro_packet_time_parse(const char *property, const char *text, gint64 *ns,
                                 GError **error);

G_END_DECLS
