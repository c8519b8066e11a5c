/* From packets to blocks: finds out from the first ones what stream they make, knows which sender's
 * each is, puts samples in their places, and counts what did not come. Blocks have the validity of
 * each packet, and the time of the first sample is the observation's start where headers, or what a
 * user says of them, tell it.
 *
 * One thread at a time may call what is below. */
#pragma once

#include "core/packets/settings.h"
#include "core/stream/observation.h"

G_BEGIN_DECLS

typedef struct {
  /* Tells which stream it is, once, before anything else. FALSE and the error: not wanted. */
  gboolean (*describe)(gpointer user, const AstroStream *stream, GError **error);
  /* Memory for a block. NULL: there is none. */
  GstBuffer *(*allocate)(gpointer user, gsize bytes);
  /* Senders began, or began anew: what comes next counts from step 0, at that observation's start.
   */
  void (*begin)(gpointer user, const AstroObservation *observation);
  /* The steps of a block are in its OFFSET and OFFSET_END. */
  void (*take_block)(gpointer user, GstBuffer *block);
  /* Something came that is not what was expected; each kind of thing is told once. */
  void (*warn)(gpointer user, const char *text);
} AstroReceiverFunctions;

/* In packets; of SPEAD in heaps. */
typedef struct {
  guint64 packets, lost, late, duplicate, far, invalid;
} AstroReceiverCounts;

typedef struct {
  AstroReceiverCounts sum;
  guint64 bytes;      /* of all that came */
  guint64 alien;      /* not of the format, of no station in the list, or of other samples */
  guint64 aside;      /* of the format and without samples */
  guint64 unplaced;   /* before it was known where they belong */
  guint64 incomplete; /* heaps of which a part did not come */
  guint64 restarts;
} AstroReceiverTotals;

typedef struct _AstroReceiver AstroReceiver;

/* Settings are copied. */
AstroReceiver *astro_receiver_new(const AstroPacketSettings *settings,
                                  const AstroReceiverFunctions *functions, gpointer user,
                                  GError **error);
void astro_receiver_free(AstroReceiver *receiver);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroReceiver, astro_receiver_free)

/* A datagram, of one packet or several. sender tells where it came from; 0: not known. FALSE and
 * the error: no stream can be made of such packets with what the user said. */
gboolean astro_receiver_take(AstroReceiver *receiver, const guint8 *bytes, gsize size,
                             guint64 sender, GError **error);
/* The first packet of a stream of bytes. *used is how many bytes it had, 0: more are needed to
 * tell. is_end: no more will come. */
gboolean astro_receiver_take_stream(AstroReceiver *receiver, const guint8 *bytes, gsize size,
                                    gboolean is_end, gsize *used, GError **error);

/* Gives what is held: the end. */
void astro_receiver_finish(AstroReceiver *receiver);
/* Drops what is held: a flush. */
void astro_receiver_reset(AstroReceiver *receiver);

/* The stream; NULL: not known yet. How long a block lasts, and how long a packet may be behind. */
const AstroStream *astro_receiver_stream(const AstroReceiver *receiver);
GstClockTime astro_receiver_latency(const AstroReceiver *receiver);

AstroReceiverTotals astro_receiver_totals(const AstroReceiver *receiver);
/* As numbers of a structure, and those of each stream of packets as an array "streams". */
void astro_receiver_tell(const AstroReceiver *receiver, GstStructure *structure);

G_END_DECLS
