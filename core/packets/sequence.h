/* Numbers the packets of all senders consistently, from counts that wrap or from frames of
 * seconds. */
#pragma once

#include "core/packets/packets.h"

G_BEGIN_DECLS

typedef enum {
  ASTRO_SEQUENCE_KNOWN,
  /* until the number of frames a second is learned, or counts_a_packet is set */
  ASTRO_SEQUENCE_UNKNOWN,
  ASTRO_SEQUENCE_OFF, /* the packet is between two packets, so it belongs to another stream */
} AstroSequenceAnswer;

/* Initially all zero. */
typedef struct {
  guint64 packets_a_second; /* set if a rate is given; otherwise learned if headers do not tell */
  guint64 counts_a_packet;  /* set if only the user knows it */

  gboolean is_begun;
  guint64 last;  /* unwrapped count of the last packet followed */
  guint64 phase; /* remainder of counts divided by the counts in a packet */
  struct {
    gboolean is_begun;
    guint64 thread, station, count; /* from the previous packet */
    gint64 second;
    guint64 packets; /* how many the last complete second had */
  } learned;
} AstroSequence;

AstroSequenceAnswer astro_sequence_find(AstroSequence *sequence, const AstroPacket *packet,
                                        guint64 *number);
/* The packet was accepted: from here on, counts that wrap are taken as the nearest to its count. A
 * gap of half the counter's range or more cannot be told from a sender's restart. */
void astro_sequence_follow(AstroSequence *sequence, const AstroPacket *packet);

G_END_DECLS
