/* Shared by elements that make blocks of packets: properties for what headers do not say, a
 * receiver that threads share, and its output in the order in which it has to be sent. */
#pragma once

#include <gst/gst.h>
#include "core/packets/receiver.h"
#include "elements/base/astrofields.h"

G_BEGIN_DECLS

/* Rows of properties for an AstroPacketSettings. */
extern const AstroField astro_packets_fields[];
/* For the documentation in gst-inspect. */
#define ASTRO_PACKETS_STATS                                                                        \
  "packets placed, lost, late, duplicate, far from all others, invalid by their senders, also by " \
  "stream; bytes; alien, not of the format or of no stream; aside, without samples; unplaced, "    \
  "before it was known where they belong; incomplete heaps; restarts of the senders"

typedef struct _AstroPacketInput AstroPacketInput;

/* element: the one with the settings. NULL: an error was posted. */
AstroPacketInput *astro_packet_input_new(GstElement *element, const AstroPacketSettings *settings);
void astro_packet_input_free(AstroPacketInput *input);

/* Takes a datagram and its sender's address, or more of a stream of bytes; any thread. FALSE: an
 * error was posted. is_end: these are the last bytes of the stream; *used is how many of them were
 * used. */
gboolean astro_packet_input_take(AstroPacketInput *input, const guint8 *bytes, gsize size,
                                 guint64 sender);
/* Takes many at once. */
typedef struct {
  const guint8 *bytes;
  gsize size;
  guint64 sender;
} AstroDatagram;
gboolean astro_packet_input_take_all(AstroPacketInput *input, const AstroDatagram *datagrams,
                                     guint n);
gboolean astro_packet_input_take_stream(AstroPacketInput *input, const guint8 *bytes, gsize size,
                                        gboolean is_end, gsize *used);
/* Takes the end, and gives what is held. FALSE: packets came, but none could be placed, and an
 * error says why. */
gboolean astro_packet_input_finish(AstroPacketInput *input);
void astro_packet_input_reset(AstroPacketInput *input); /* a flush: drops all */

/* The next thing to send: caps, an event (the observation, before which a segment begins), a
 * buffer, or a message to post. NULL: nothing came in that time, or somebody woke the caller. */
GstMiniObject *astro_packet_input_pop(AstroPacketInput *input, gint64 wait_us);
/* Waits for a moment at most until fewer than that many blocks are left to pop. FALSE: there are
 * more. */
gboolean astro_packet_input_wait_room(AstroPacketInput *input, guint most);
void astro_packet_input_wake(AstroPacketInput *input);

/* Whether downstream of a source pad takes blocks with these caps; or the error. */
gboolean astro_packets_agree(GstPad *src, GstCaps *caps);
/* Asks downstream where they are read: from now on they are in suitable memory. */
void astro_packet_input_find_reader(AstroPacketInput *input, GstPad *src, GstCaps *caps);

/* How long samples wait; 0: not known yet. */
GstClockTime astro_packet_input_latency(AstroPacketInput *input);
GstStructure *astro_packet_input_tell(AstroPacketInput *input);
/* Posts that as a message, without the counts of single streams of packets. Takes ownership of
 * it. */
void astro_packets_post(GstElement *element, GstStructure *told);

G_END_DECLS
