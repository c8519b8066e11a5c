/* What every element that makes blocks of packets needs once: properties that say what headers do
 * not, a receiver that threads share, and what it makes, in the order in which it has to go out. */
#pragma once

#include <gst/gst.h>
#include "core/packets/receiver.h"
#include "elements/base/astrofields.h"

G_BEGIN_DECLS

/* Rows of an AstroPacketSettings. */
extern const AstroField astro_packets_fields[];
/* For gst-inspect. */
#define ASTRO_PACKETS_STATS                                                                        \
  "packets placed, lost, late, duplicate, far from all others, invalid by their senders, also by " \
  "stream; bytes; alien, not of the format or of no stream; aside, without samples; unplaced, "    \
  "before it was known where they belong; incomplete heaps; restarts of the senders"

typedef struct _AstroPacketInput AstroPacketInput;

/* element: whose settings they are. NULL: an error was posted. */
AstroPacketInput *astro_packet_input_new(GstElement *element, const AstroPacketSettings *settings);
void astro_packet_input_free(AstroPacketInput *input);

/* A datagram and where it came from, or more of a stream of bytes: any thread. FALSE: an error was
 * posted. is_end: the stream of bytes ends with these; *used is how many of them are done with. */
gboolean astro_packet_input_take(AstroPacketInput *input, const guint8 *bytes, gsize size,
                                 guint64 sender);
/* Many at once. */
typedef struct {
  const guint8 *bytes;
  gsize size;
  guint64 sender;
} AstroDatagram;
gboolean astro_packet_input_take_all(AstroPacketInput *input, const AstroDatagram *datagrams,
                                     guint n);
gboolean astro_packet_input_take_stream(AstroPacketInput *input, const guint8 *bytes, gsize size,
                                        gboolean is_end, gsize *used);
/* The end: gives what is held. FALSE: packets came, none of them could be placed, and an error says
 * why. */
gboolean astro_packet_input_finish(AstroPacketInput *input);
void astro_packet_input_reset(AstroPacketInput *input); /* a flush: drops all */

/* What goes out next: caps, an event (the observation, before which a segment begins), a buffer, or
 * a message to post. NULL: nothing, after so long, or because somebody woke it. */
GstMiniObject *astro_packet_input_pop(AstroPacketInput *input, gint64 wait_us);
/* Waits, a moment at most, until fewer than so many blocks wait to be popped. FALSE: more do. */
gboolean astro_packet_input_wait_room(AstroPacketInput *input, guint most);
void astro_packet_input_wake(AstroPacketInput *input);

/* Whether downstream of a source pad takes blocks of these caps; the error. */
gboolean astro_packets_agree(GstPad *src, GstCaps *caps);
/* Asks there who reads them: from now on they are in memory that suits it. */
void astro_packet_input_find_reader(AstroPacketInput *input, GstPad *src, GstCaps *caps);

/* How long samples wait, 0: not known yet. */
GstClockTime astro_packet_input_latency(AstroPacketInput *input);
GstStructure *astro_packet_input_tell(AstroPacketInput *input);
/* Posts that as a message, without what each stream of packets counts. Takes it. */
void astro_packets_post(GstElement *element, GstStructure *told);

G_END_DECLS
