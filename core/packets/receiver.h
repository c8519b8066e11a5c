/* Turns packets into blocks: finds out from the first packets what stream they make up, assigns
 * each to its sender, puts samples in position, and counts missing packets. Blocks carry the
 * validity of each packet. The time of the first sample becomes the start of the observation if the
 * headers or the user's settings tell it.
 *
 * Only one thread at a time may call these functions. */
#pragma once

#include "core/packets/settings.h"
#include "core/stream/observation.h"

G_BEGIN_DECLS

typedef struct {
  /* Describes the stream: called once, before the others. FALSE and the error: not wanted. */
  gboolean (*describe)(gpointer user, GstCaps *caps, GError **error);
  /* Allocates memory for a block. NULL: there is none. */
  GstBuffer *(*allocate)(gpointer user, gsize bytes);
  /* The senders started or restarted: steps count from 0 at the start of this observation.
   * is_by_arrival: its start is known only from when packets arrived. */
  void (*begin)(gpointer user, const AstroObservation *observation, gboolean is_by_arrival);
  /* Takes a block; its OFFSET and OFFSET_END are in steps. */
  void (*take_block)(gpointer user, GstBuffer *block);
  /* Something unexpected came; each kind is reported only once. */
  void (*warn)(gpointer user, const char *text);
} AstroReceiverFunctions;

/* In packets, or in heaps for SPEAD. */
typedef struct {
  guint64 packets, lost, late, duplicate, far, invalid;
} AstroReceiverCounts;

typedef struct {
  AstroReceiverCounts sum;
  guint64 bytes;      /* everything received */
  guint64 alien;      /* wrong format, station not in the list, or different samples */
  guint64 aside;      /* right format, but without samples */
  guint64 unplaced;   /* came before their position could be known */
  guint64 incomplete; /* heaps with a missing part */
  guint64 restarts;
} AstroReceiverTotals;

typedef struct _AstroReceiver AstroReceiver;

/* Copies the settings. */
AstroReceiver *astro_receiver_new(const AstroPacketSettings *settings,
                                  const AstroReceiverFunctions *functions, gpointer user,
                                  GError **error);
void astro_receiver_free(AstroReceiver *receiver);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroReceiver, astro_receiver_free)

/* When the packets that are taken next arrived: UTC, in ns since 1970; 0: unknown. This gives the
 * start of a stream if nothing else does: no packet arrives before its last sample is taken, so the
 * packet of the first block with the least delay comes nearest to the truth. */
void astro_receiver_set_arrival(AstroReceiver *receiver, gint64 ns);

/* Takes a datagram of one or more packets. sender identifies its source; 0: unknown. FALSE and the
 * error: these packets and the user's settings do not make a stream, or memory ran out. */
gboolean astro_receiver_take(AstroReceiver *receiver, const guint8 *bytes, gsize size,
                             guint64 sender, GError **error);
/* Takes the first packet of a stream of bytes. *used: its length; 0: more bytes are needed.
 * is_end: no more will come. */
gboolean astro_receiver_take_stream(AstroReceiver *receiver, const guint8 *bytes, gsize size,
                                    gboolean is_end, gsize *used, GError **error);

/* Outputs the open blocks, at the end of the stream. */
void astro_receiver_finish(AstroReceiver *receiver);
/* Drops the open blocks, for a flush. */
void astro_receiver_reset(AstroReceiver *receiver);

/* NULL: not known yet. */
const AstroStream *astro_receiver_stream(const AstroReceiver *receiver);
/* The length of a block plus the time that a packet may be late; 0: not known yet. */
GstClockTime astro_receiver_latency(const AstroReceiver *receiver);

AstroReceiverTotals astro_receiver_totals(const AstroReceiver *receiver);
/* Adds the totals to the structure, and those of each stream of packets as an array "streams". */
void astro_receiver_tell(const AstroReceiver *receiver, GstStructure *structure);

G_END_DECLS
