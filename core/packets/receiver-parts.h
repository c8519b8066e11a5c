/* Shared by the parts of the receiver. */
#pragma once

#include "core/packets/epoch.h"
#include "core/packets/heaps.h"
#include "core/packets/receiver.h"
#include "core/packets/window.h"

G_BEGIN_DECLS

/* Kinds of things that are told once. */
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
  ASTRO_N_WARNED
} AstroReceiverWarning;

/* A block that waits for packets. */
typedef struct {
  GstBuffer *buffer;
  GstMapInfo map;
  guint8 *is_bad; /* stream after stream, its packets that their sender says are not good */
} AstroReceiverBlock;

struct _AstroReceiver {
  AstroPacketSettings settings;
  AstroReceiverFunctions functions;
  gpointer user;
  AstroPackets *packets;
  AstroIdentities *stations, *threads;
  AstroPacketEpoch epoch;
  gint rate_n, rate_d; /* as the user says */
  AstroHeaps *heaps;

  gboolean is_ready; /* what follows is known */
  AstroPacketShape shape;
  AstroPlaceConfig place;
  AstroPacket first; /* that it was made of */
  AstroWindow *window;
  guint8 *samples; /* of a packet */

  AstroSequence sequence;
  guint off;
  guint64 origin; /* the packet that step 0 is in */
  gboolean has_begun;
  gsize last_bytes; /* of the packet before, in a stream of bytes */
  gboolean is_out_of_memory;

  guint64 *invalid; /* of each stream */
  AstroReceiverTotals totals;
  gboolean is_warned[ASTRO_N_WARNED];
};

void astro_receiver_warn(AstroReceiver *receiver, AstroReceiverWarning what, const char *format,
                         ...) G_GNUC_PRINTF(3, 4);

/* FALSE without an error: it has to wait for more packets. */
gboolean astro_receiver_make_ready(AstroReceiver *receiver, const AstroPacket *packet,
                                   GError **error);

/* The functions by which the window opens and closes blocks. */
extern const AstroWindowFunctions astro_receiver_blocks;

G_END_DECLS
