/* Packet numbers that only rise, from counters that wrap and from frames of seconds. */
#include "config.h"
#include "core/packets/sequence.h"

/* The number of frames a second is one more than the count of the frame just before the next
 * second's first. It comes out too small if a second's last frame is lost, so two seconds have to
 * agree. */
static void learn(AstroSequence *s, const AstroPacket *packet)
{
  if (s->learned.is_begun &&
      (packet->thread != s->learned.thread || packet->station != s->learned.station))
    return;
  if (s->learned.is_begun && packet->count == 0 && packet->second == s->learned.second + 1) {
    const guint64 packets = s->learned.count + 1;
    if (packets == s->learned.packets)
      s->packets_a_second = packets;
    s->learned.packets = packets;
  }
  s->learned.is_begun = TRUE;
  s->learned.thread = packet->thread;
  s->learned.station = packet->station;
  s->learned.second = packet->second;
  s->learned.count = packet->count;
}

static AstroSequenceAnswer find_in_second(AstroSequence *s, const AstroPacket *packet,
                                          guint64 *number)
{
  if (s->packets_a_second == 0)
    s->packets_a_second = packet->packets_a_second;
  if (s->packets_a_second == 0)
    learn(s, packet);
  if (s->packets_a_second == 0)
    return ASTRO_SEQUENCE_UNKNOWN;
  if (packet->count >= s->packets_a_second || packet->second < 0)
    return ASTRO_SEQUENCE_OFF;
  *number = (guint64)packet->second * s->packets_a_second + packet->count;
  return ASTRO_SEQUENCE_KNOWN;
}

/* The unwrapped count that is nearest to the last one. The first count is placed one wrap above
 * zero, so that packets sent before it have a number too. */
static guint64 unwrap(const AstroSequence *s, const AstroPacket *packet)
{
  const guint bits = packet->count_bits;
  if (bits >= 63)
    return packet->count;
  const guint64 wrap = (guint64)1 << bits;
  if (!s->is_begun)
    return packet->count + wrap;
  const guint64 ahead = (packet->count - s->last) & (wrap - 1);
  return ahead < wrap / 2 || s->last < wrap - ahead ? s->last + ahead : s->last - (wrap - ahead);
}

static guint64 counts_of(const AstroSequence *s, const AstroPacket *packet)
{
  if (packet->counts_packets)
    return 1;
  if (packet->count_step == 0)
    return s->counts_a_packet;
  const AstroLayout *layout = &packet->samples.layout;
  const gint time = astro_layout_find(layout, ASTRO_AXIS_TIME);
  return packet->count_step * (time < 0 ? 1 : layout->extents[time]);
}

AstroSequenceAnswer astro_sequence_find(AstroSequence *s, const AstroPacket *packet,
                                        guint64 *number)
{
  if (packet->has_second)
    return find_in_second(s, packet, number);
  const guint64 counts = counts_of(s, packet), count = unwrap(s, packet);
  if (counts == 0 || packet->count_bits == 0)
    return ASTRO_SEQUENCE_UNKNOWN;
  if (s->is_begun && count % counts != s->phase)
    return ASTRO_SEQUENCE_OFF;
  *number = count / counts;
  return ASTRO_SEQUENCE_KNOWN;
}

void astro_sequence_follow(AstroSequence *s, const AstroPacket *packet)
{
  const guint64 counts = packet->has_second ? 0 : counts_of(s, packet);
  if (counts == 0)
    return;
  s->last = unwrap(s, packet);
  if (!s->is_begun)
    s->phase = s->last % counts;
  s->is_begun = TRUE;
}
