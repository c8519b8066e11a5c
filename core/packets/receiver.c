/* The receiver: turns packets into blocks and counts them. */
#include "config.h"
#include "core/packets/receiver-parts.h"

#include <string.h>

/* This many consecutive packets at positions between those of the others mean that the senders
 * restarted. */
#define OFF_RUN 16
/* This many packets of a stream far from all others are not an accident. */
#define FAR_PACKETS 16
/* Limits packet numbers so that sums do not wrap; no stream gets there within a thousand years. */
#define MOST_NUMBER ((guint64)1 << 62)
/* With this many bytes, a packet of any format can be recognised or ruled out. VDIF allows longer
 * frames, but they are not used in practice. */
#define ENOUGH_TO_TELL ((gsize)1 << 20)

void astro_receiver_warn(AstroReceiver *r, AstroReceiverWarning what, const char *format, ...)
{
  va_list arguments;
  if (r->is_warned[what])
    return;
  r->is_warned[what] = TRUE;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  r->functions.warn(r->user, text);
}

void astro_receiver_warn_late(AstroReceiver *r)
{
  astro_receiver_warn(
      r, ASTRO_WARNED_LATE,
      "a packet came more than latency=%u ms behind others: such packets are left out, and "
      "stats count them as late",
      r->settings.latency_ms);
}

/* Whether samples are like those of the first packet. Layouts are not compared: packets of heaps
 * have none yet. */
static gboolean has_those_samples(const AstroReceiver *r, const AstroPacket *packet)
{
  const AstroPacketSamples *a = &r->shape.samples, *b = &packet->samples;
  return packet->payload_bytes == r->first.payload_bytes && a->bits == b->bits &&
         a->is_complex == b->is_complex && a->packing == b->packing && a->code == b->code;
}

static gboolean find_station(AstroReceiver *r, const AstroPacket *packet, AstroPlaceStream *first)
{
  guint index = 0;
  if (packet->station != ASTRO_PACKET_UNKNOWN &&
      !astro_identities_find(r->stations, packet->station, &index)) {
    g_autofree char *name = astro_identity_name(packet->station);
    astro_receiver_warn(
        r, ASTRO_WARNED_STATION,
        "a packet of station %s, which is not among the %u expected: such packets are left out; "
        "stations lists the expected ones",
        name, astro_identities_n(r->stations));
    return FALSE;
  }
  first->station = index * r->shape.groups.of_station;
  return TRUE;
}

static gboolean find_thread(AstroReceiver *r, const AstroPacket *packet, AstroPlaceStream *first)
{
  const AstroPacketGroups *g = &r->shape.groups;
  guint index = 0;
  if (packet->thread == ASTRO_PACKET_UNKNOWN)
    return TRUE;
  if (!astro_identities_find(r->threads, packet->thread, &index)) {
    astro_receiver_warn(
        r, ASTRO_WARNED_THREAD,
        "a packet of thread %" G_GUINT64_FORMAT ", which is not among the %u expected: such "
        "packets are left out; threads lists the expected ones, pols and channels set how many "
        "polarisations and channels there are",
        packet->thread, astro_identities_n(r->threads));
    return FALSE;
  }
  first->pol = index % g->pols * g->of_pol;
  first->channel = index / g->pols * g->of_channel;
  return TRUE;
}

static gboolean find_stream(AstroReceiver *r, const AstroPacket *packet, guint *stream)
{
  AstroPlaceStream first = { 0 };
  if (!find_station(r, packet, &first) || !find_thread(r, packet, &first))
    return FALSE;
  if (packet->pol != ASTRO_PACKET_UNKNOWN)
    first.pol = packet->pol;
  if (packet->channel != ASTRO_PACKET_UNKNOWN)
    first.channel = packet->channel - r->settings.first_channel; /* wraps if below it */
  if (astro_packet_groups_find(&r->shape.groups, &first, stream))
    return TRUE;
  astro_receiver_warn(r, ASTRO_WARNED_PLACE,
                      "a packet that begins at pol %" G_GUINT64_FORMAT
                      " and channel %" G_GUINT64_FORMAT " (first-channel is %" G_GUINT64_FORMAT
                      "): such packets are left out; the stream has "
                      "%" G_GUINT64_FORMAT " pols and %" G_GUINT64_FORMAT " channels",
                      first.pol, first.channel + r->settings.first_channel,
                      r->settings.first_channel, r->shape.groups.pols * r->shape.groups.of_pol,
                      r->shape.groups.channels * r->shape.groups.of_channel);
  return FALSE;
}

static void take_off(AstroReceiver *r, const AstroPacket *packet)
{
  r->totals.alien++;
  if (packet->has_second) {
    astro_receiver_warn(r, ASTRO_WARNED_OFF,
                        "frame %" G_GUINT64_FORMAT " of a second that has %" G_GUINT64_FORMAT
                        ": such packets are left out; they have another rate, or rate is wrong",
                        packet->count, r->sequence.packets_a_second);
    return;
  }
  astro_receiver_warn(r, ASTRO_WARNED_OFF,
                      "the sequence number %" G_GUINT64_FORMAT
                      " lies between those of other packets: such packets are "
                      "left out; they belong to another stream",
                      packet->count);
  if (++r->off < OFF_RUN)
    return;
  r->off = 0;
  astro_window_finish(r->window);
  r->sequence.is_begun = FALSE;
}

static gboolean has_that_rate(AstroReceiver *r, const AstroPacket *packet)
{
  if (packet->rate_n * r->first.rate_d == r->first.rate_n * packet->rate_d)
    return TRUE;
  astro_receiver_warn(r, ASTRO_WARNED_RATE,
                      "a packet of %" G_GUINT64_FORMAT "/%" G_GUINT64_FORMAT
                      " steps a second among those of "
                      "%" G_GUINT64_FORMAT "/%" G_GUINT64_FORMAT ": such packets are left out",
                      packet->rate_n, packet->rate_d, r->first.rate_n, r->first.rate_d);
  return FALSE;
}

/* Samples that are already signed bytes in memory order are copied, all others unpacked. */
static gboolean is_plain(const AstroPacketSamples *samples)
{
  return samples->bits == 8 && samples->code == ASTRO_PACKET_SIGNED &&
         samples->packing != ASTRO_PACKET_WORDS;
}

static void note_arrival(AstroReceiver *r, const AstroWindowPlace *place)
{
  AstroReceiverBlock *block = place->data;
  const guint64 end = (place->packet + 1) * r->shape.steps;
  if (r->arrival == 0)
    return;
  const gint64 begun = r->arrival - (gint64)astro_stream_time(&r->shape.out, end);
  if (block->begun == 0 || begun < block->begun)
    block->begun = begun;
}

static void put_in_row(AstroReceiver *r, AstroReceiverBlock *block, const guint8 *payload,
                       guint stream, guint packet)
{
  AstroTurnRow **row = &block->rows[packet];
  if (!*row)
    *row = astro_turn_begin(r->turn);
  guint8 *to = astro_turn_place(r->turn, *row, stream);
  if (is_plain(&r->shape.samples))
    memcpy(to, payload, astro_packet_payload_bytes(&r->shape.samples));
  else
    astro_packet_unpack(&r->shape.samples, payload, to);
  if (astro_turn_is_whole(r->turn, *row))
    astro_turn_end(r->turn, g_steal_pointer(row), packet, block->map.data);
}

static void put(AstroReceiver *r, const AstroPacket *packet, const guint8 *payload, guint stream,
                const AstroWindowPlace *place)
{
  AstroReceiverBlock *block = place->data;
  if (!packet->is_valid) {
    const gsize n = (gsize)r->place.n_streams * r->shape.block;
    if (!block->is_bad)
      block->is_bad = g_malloc0(n);
    block->is_bad[(gsize)stream * r->shape.block + place->packet] = 1;
    r->invalid[stream]++;
    return;
  }
  if (r->turn) {
    put_in_row(r, block, payload, stream, place->packet);
    return;
  }
  if (!is_plain(&r->shape.samples)) {
    astro_packet_unpack(&r->shape.samples, payload, r->samples);
    payload = r->samples;
  }
  astro_place_samples(&r->place, stream, place->packet, payload, block->map.data, r->shape.block);
}

/* A few far packets have broken headers or are the first after a restart; more mean that a clock is
 * wrong. */
static void warn_of_far(AstroReceiver *r, const AstroPacket *packet, guint stream)
{
  if (astro_window_counts(r->window, stream).far < FAR_PACKETS)
    return;
  g_autofree char *name = packet->station == ASTRO_PACKET_UNKNOWN
                              ? g_strdup("(unknown)")
                              : astro_identity_name(packet->station);
  astro_receiver_warn(r, ASTRO_WARNED_FAR,
                      "packets of station %s are far in time from those of the others and are left "
                      "out: its clock or sequence may be wrong; stats count them as far",
                      name);
}

static gboolean take_samples(AstroReceiver *r, AstroPacket *packet, const guint8 *payload,
                             GError **error)
{
  AstroWindowPlace place;
  guint stream;
  guint64 number;
  if (!r->is_ready) {
    g_autoptr(GError) cause = NULL;
    if (!astro_receiver_make_ready(r, packet, &cause)) {
      const gboolean has_to_wait = !cause;
      r->totals.unplaced += has_to_wait;
      if (cause)
        g_propagate_error(error, g_steal_pointer(&cause));
      return has_to_wait;
    }
  }
  if (!has_those_samples(r, packet)) {
    astro_receiver_warn(
        r, ASTRO_WARNED_SAMPLES,
        "a packet with %zu bytes of %u-bit samples among packets with %zu bytes of %u-bit samples: "
        "such packets are left out",
        packet->payload_bytes, packet->samples.bits, r->first.payload_bytes, r->shape.samples.bits);
    r->totals.alien++;
    return TRUE;
  }
  packet->samples = r->shape.samples;
  if (!has_that_rate(r, packet) || !find_stream(r, packet, &stream)) {
    r->totals.alien++;
    return TRUE;
  }
  if (astro_sequence_find(&r->sequence, packet, &number) != ASTRO_SEQUENCE_KNOWN ||
      number >= MOST_NUMBER) {
    take_off(r, packet);
    return TRUE;
  }
  r->off = 0;
  switch (astro_window_take(r->window, stream, number, &place)) {
  case ASTRO_WINDOW_PLACED:
    astro_sequence_follow(&r->sequence, packet);
    put(r, packet, payload, stream, &place);
    note_arrival(r, &place);
    break;
  case ASTRO_WINDOW_LATE:
    astro_receiver_warn_late(r);
    break;
  case ASTRO_WINDOW_FAR:
    warn_of_far(r, packet, stream);
    break;
  case ASTRO_WINDOW_DUPLICATE:
    break;
  case ASTRO_WINDOW_FAILED:
    return astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_FORMAT,
                      "no memory for blocks of %zu bytes", r->shape.block_bytes);
  }
  return TRUE;
}

static gboolean take_packet(AstroReceiver *r, AstroPacket *packet, const guint8 *bytes,
                            guint64 sender, GError **error)
{
  const guint8 *payload = bytes + packet->payload;
  AstroHeapAnswer answer = packet->kind == ASTRO_PACKET_DATA ? ASTRO_HEAP_WHOLE : ASTRO_HEAP_ASIDE;
  if (packet->spead_address)
    answer = astro_heaps_take(r->heaps, sender, packet, &payload);
  switch (answer) {
  case ASTRO_HEAP_WHOLE:
    return r->has_results ? astro_results_take(r, packet, payload, error)
                          : take_samples(r, packet, payload, error);
  case ASTRO_HEAP_ASIDE:
    r->totals.aside++;
    return TRUE;
  case ASTRO_HEAP_DUPLICATE:
    r->totals.sum.duplicate++;
    return TRUE;
  case ASTRO_HEAP_ALIEN:
    astro_receiver_warn(r, ASTRO_WARNED_ALIEN,
                        "a part of a SPEAD heap contradicts earlier parts and is left out");
    r->totals.alien++;
    return TRUE;
  case ASTRO_HEAP_PART:
    return TRUE;
  }
  g_return_val_if_reached(TRUE);
}

void astro_receiver_set_arrival(AstroReceiver *r, gint64 ns)
{
  r->arrival = ns;
}

gboolean astro_receiver_take(AstroReceiver *r, const guint8 *bytes, gsize size, guint64 sender,
                             GError **error)
{
  r->totals.bytes += size;
  do {
    g_autoptr(GError) cause = NULL;
    AstroPacket packet;
    if (!astro_packets_parse(r->packets, bytes, size, &packet, &cause)) {
      astro_receiver_warn(r, ASTRO_WARNED_ALIEN,
                          "%zu bytes received are no packet of %s: %s; such datagrams are left out",
                          size, r->settings.packet, cause->message);
      r->totals.alien++;
      return TRUE;
    }
    const gsize used = packet.bytes;
    if (!take_packet(r, &packet, bytes, sender, error))
      return FALSE;
    bytes += used;
    size -= used;
  } while (size > 0);
  return TRUE;
}

gboolean astro_receiver_take_stream(AstroReceiver *r, const guint8 *bytes, gsize size,
                                    gboolean is_end, gsize *used, GError **error)
{
  g_autoptr(GError) cause = NULL;
  AstroPacket packet;
  *used = 0;
  if (astro_packets_parse(r->packets, bytes, size, &packet, &cause)) {
    *used = r->last_bytes = packet.bytes;
    r->totals.bytes += packet.bytes;
    return take_packet(r, &packet, bytes, 0, error);
  }
  if (!is_end && size < ENOUGH_TO_TELL)
    return TRUE;
  if (r->last_bytes == 0)
    return astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_ALIEN,
                      "the bytes do not begin with a packet of %s: %s", r->settings.packet,
                      cause->message);
  astro_receiver_warn(r, ASTRO_WARNED_ALIEN,
                      "bytes between packets are no packet of %s: %s; such bytes are left out",
                      r->settings.packet, cause->message);
  r->totals.alien++;
  *used = MIN(size, r->last_bytes);
  r->totals.bytes += *used;
  return TRUE;
}

void astro_receiver_finish(AstroReceiver *r)
{
  astro_heaps_reset(r->heaps);
  if (r->window)
    astro_window_finish(r->window);
}

void astro_receiver_reset(AstroReceiver *r)
{
  astro_heaps_reset(r->heaps);
  if (r->window)
    astro_window_reset(r->window);
  r->sequence.is_begun = FALSE;
  r->has_begun = FALSE;
  r->last_bytes = 0;
}
