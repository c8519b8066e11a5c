/* Shared by elements that make blocks from packets: properties for facts that are not in headers, a
 * receiver that threads share, and a queue of its output in the order in which to send it. */
#pragma once

#include <gst/gst.h>
#include "core/packets/receiver.h"
#include "elements/base/astrofields.h"

G_BEGIN_DECLS

/* Properties for an AstroPacketSettings. */
extern const AstroField astro_packets_fields[];
/* Describes the statistics in gst-inspect. */
#define ASTRO_PACKETS_STATS                                                                        \
  "packets placed, lost, late, duplicate, far from all others, marked invalid, also for each "     \
  "stream; bytes; alien, not of the format or of no stream; aside, without samples; unplaced, "    \
  "before it was known where they belong; incomplete heaps; restarts of senders"

/* The message about a stream whose start is known from when its packets arrived. */
#define ASTRO_PACKETS_START "astro-start"

typedef struct _AstroPacketInput AstroPacketInput;

/* element: has the settings. NULL: an error was posted. */
AstroPacketInput *astro_packet_input_new(GstElement *element, const AstroPacketSettings *settings);
void astro_packet_input_free(AstroPacketInput *input);

/* Takes a datagram with its sender's address, or the next bytes of a stream; from any thread.
 * FALSE: an error was posted. is_end: these are the last bytes of the stream; *used: how many bytes
 * were used. */
gboolean astro_packet_input_take(AstroPacketInput *input, const guint8 *bytes, gsize size,
                                 guint64 sender);
/* Takes many datagrams at once. */
typedef struct {
  const guint8 *bytes;
  gsize size;
  guint64 sender;
  gint64 arrived; /* UTC in ns since 1970; 0: unknown */
} AstroDatagram;
gboolean astro_packet_input_take_all(AstroPacketInput *input, const AstroDatagram *datagrams,
                                     guint n);
gboolean astro_packet_input_take_stream(AstroPacketInput *input, const guint8 *bytes, gsize size,
                                        gboolean is_end, gsize *used);
/* Takes ownership of what is known of the clock by which datagrams arrive: a message tells it when
 * a stream has its start from them. */
void astro_packet_input_set_clock(AstroPacketInput *input, GstStructure *clock);
/* Ends the stream and releases the blocks that are held. FALSE: packets came, but none could be
 * used, and an error says why. */
gboolean astro_packet_input_finish(AstroPacketInput *input);
void astro_packet_input_reset(AstroPacketInput *input); /* for a flush: drops everything */

/* The next item to send: caps, an event (the observation, before which a segment begins), a buffer,
 * or a message to post. NULL: nothing came in time, or the caller was woken. */
GstMiniObject *astro_packet_input_pop(AstroPacketInput *input, gint64 wait_us);
/* Waits briefly until fewer than that many blocks are left to pop. FALSE: there are more. */
gboolean astro_packet_input_wait_room(AstroPacketInput *input, guint most);
void astro_packet_input_wake(AstroPacketInput *input);

/* Whether downstream accepts blocks with these caps; an error is posted if not. */
gboolean astro_packets_agree(GstPad *src, GstCaps *caps);
/* Asks downstream on which device blocks are read: from now on they are allocated in memory that
 * suits it. */
void astro_packet_input_find_reader(AstroPacketInput *input, GstPad *src, GstCaps *caps);

/* How long samples wait; 0: not known yet. */
GstClockTime astro_packet_input_latency(AstroPacketInput *input);
GstStructure *astro_packet_input_tell(AstroPacketInput *input);
/* Posts the statistics as a message, without the counts of single streams of packets. Takes
 * ownership of them. */
void astro_packets_post(GstElement *element, GstStructure *told);

G_END_DECLS
