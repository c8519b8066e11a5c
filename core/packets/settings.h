/* Facts about packets that are not in their headers and that a user gives, and parsers for them. */
#pragma once

#include "core/packets/packets.h"

G_BEGIN_DECLS

typedef struct {
  char *packet;   /* a format's name or @FILE */
  char *stations; /* core/packets/identities.h */
  char *threads;  /* the same */
  char *layout;   /* the stream's order of axes; NULL: time slowest */
  char *rate;     /* time steps a second, a fraction or a decimal number */
  char *sync_epoch, *start_time;
  guint channels, pols; /* in the stream; 0: as many as a packet has */
  guint packet_steps;   /* 0: from headers or descriptions */
  guint64 first_channel, sequence_step;
  double frequency, bandwidth; /* 0: unknown */
  guint block_ms, latency_ms;
} AstroPacketSettings;

/* "1000000", "390625/2" or "195312.5", as an exact fraction. 0/1 if the text is empty; FALSE: it is
 * none of these. */
gboolean astro_packet_rate_parse(const char *text, gint *rate_n, gint *rate_d, GError **error);

/* A time in UTC, in ns since 1970 without leap seconds: 2026-11-20T12:00:00[.fraction][Z], or
 * seconds since 1970 with or without a fraction. */
gboolean astro_packet_time_parse(const char *property, const char *text, gint64 *ns,
                                 GError **error);

G_END_DECLS
