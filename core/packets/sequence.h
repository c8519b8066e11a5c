/* The number of a packet among all that its senders send, of counts that wrap and of frames of
 * seconds. */
#pragma once

#include "core/packets/packets.h"

G_BEGIN_DECLS

typedef enum {
  ASTRO_SEQUENCE_KNOWN,
  /* How many frames a second has has to be seen first, or counts_a_packet be said. */
  ASTRO_SEQUENCE_UNKNOWN,
  ASTRO_SEQUENCE_OFF, /* the packet lies between two others: it is of another stream */
} AstroSequenceAnswer;

/* All zero at first. */
typedef struct {
  guint64 packets_a_second; /* set where a rate says; else learned, where headers do not tell */
  guint64 counts_a_packet;  /* set where only the user knows it */

  gboolean is_begun;
  guint64 last;  /* count of the last packet that was followed, as if it never wrapped */
  guint64 phase; /* of counts within a packet's */
  struct {
    gboolean is_begun;
    guint64 thread, station, count; /* of the packet before */
    gint64 second;
    guint64 packets; /* that the last second that was seen to end had */
  } learned;
} AstroSequence;

AstroSequenceAnswer astro_sequence_find(AstroSequence *sequence, const AstroPacket *packet,
                                        guint64 *number);
/* The packet was where it belongs: counts that wrap are taken as the nearest to it from here on. A
 * gap of half of what they count, or more, cannot be told from a sender that began anew. */
void astro_sequence_follow(AstroSequence *sequence, const AstroPacket *packet);

G_END_DECLS
