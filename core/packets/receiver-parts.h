/* Shared by the parts of the receiver. */
#pragma once

#include "core/packets/epoch.h"
#include "core/packets/heaps.h"
#include "core/packets/receiver.h"
#include "core/packets/results-receiver.h"
#include "core/packets/turn.h"
#include "core/packets/window.h"

G_BEGIN_DECLS

/* Kinds of warnings; each is given only once. */
typedef enum {
  ASTRO_WARNED_ALIEN,
  ASTRO_WARNED_STATION,
  ASTRO_WARNED_THREAD,
  ASTRO_WARNED_PLACE,
  ASTRO_WARNED_SAMPLES,
  ASTRO_WARNED_RATE,
  ASTRO_WARNED_OFF,
  ASTRO_WARNED_LATE,
  ASTRO_WARNED_FAR,
  ASTRO_WARNED_CLOCK,
  ASTRO_N_WARNED
} AstroReceiverWarning;

/* A block that is waiting for packets. */
typedef struct {
  GstBuffer *buffer;
  GstMapInfo map;
  guint8 *is_bad;      /* stream by stream: packets that their sender marked as invalid */
  AstroTurnRow **rows; /* by packet; those that are not in the block yet */
  gint64 begun; /* latest time at which its first sample can have been taken, by the arrival of
                 * its packets: UTC in ns since 1970; 0: unknown */
} AstroReceiverBlock;

struct _AstroReceiver {
  AstroPacketSettings settings;
  AstroReceiverFunctions functions;
  gpointer user;
  AstroPackets *packets;
  AstroIdentities *stations, *threads;
  AstroPacketEpoch epoch;
  gint rate_n, rate_d; /* set by the user; 0: not set */
  AstroHeaps *heaps;
  gboolean has_results;  /* packets are of results */
  AstroResults *results; /* from the first heap of them */

  gboolean is_ready; /* the fields up to samples are set */
  AstroPacketShape shape;
  AstroPlaceConfig place;
  AstroPacket first; /* the packet that the shape comes from */
  AstroWindow *window;
  guint8 *samples; /* one packet, unpacked */
  AstroTurn *turn; /* NULL: packets are placed one by one */

  AstroSequence sequence;
  guint off;
  guint64 origin; /* number of the packet that contains step 0 */
  gboolean has_begun;
  gsize last_bytes; /* length of the previous packet in a stream of bytes */
  gboolean is_out_of_memory;

  gint64 arrival; /* of the packets being taken: UTC in ns since 1970; 0: unknown */

  guint64 *invalid; /* one count per stream */
  AstroReceiverTotals totals;
  gboolean is_warned[ASTRO_N_WARNED];
};

void astro_receiver_warn(AstroReceiver *receiver, AstroReceiverWarning what, const char *format,
                         ...) G_GNUC_PRINTF(3, 4);
void astro_receiver_warn_late(AstroReceiver *receiver);

/* FALSE without an error: more packets are needed. */
gboolean astro_receiver_make_ready(AstroReceiver *receiver, const AstroPacket *packet,
                                   GError **error);

/* Open, close and drop blocks for the window. */
extern const AstroWindowFunctions astro_receiver_blocks;

G_END_DECLS
