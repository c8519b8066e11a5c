/* SPEAD 4: a header of eight bytes, pointers of eight bytes to the heap's items, then a part of the
 * heap. A pointer has the item's number, and its value or its offset in the heap. The header says
 * how many bits each has: the value or offset has 48 bits in 64-48, and 40 in 64-40. */
#include "config.h"
#include "core/packets/spead.h"

#include <string.h>
#include "core/packets/formats.h"
#include "core/packets/results.h"

#define MAGIC 0x53
#define SPEAD_VERSION 4
#define CONTROL_STOP 2

static gboolean parse_header(const guint8 *bytes, gsize size, guint *address, guint *items,
                             GError **error)
{
  if (size < ASTRO_SPEAD_HEADER || bytes[0] != MAGIC || bytes[1] != SPEAD_VERSION)
    return astro_packet_is_alien(error,
                                 "it does not begin with a SPEAD header of 8 bytes, 53 04 ...");
  if (bytes[2] + bytes[3] != ASTRO_SPEAD_POINTER || (bytes[3] != 6 && bytes[3] != 5))
    return astro_packet_is_alien(
        error, "its SPEAD pointers have %u + %u bytes, expected 2 + 6 (64-48) or 3 + 5 (64-40)",
        bytes[2], bytes[3]);
  *address = 8u * bytes[3];
  *items = (guint)astro_packet_read_big(bytes + 6, 2);
  if (*items > (size - ASTRO_SPEAD_HEADER) / ASTRO_SPEAD_POINTER)
    return astro_packet_is_alien(
        error, "its SPEAD header tells of %u items, expected %zu at most in %zu bytes", *items,
        (size - ASTRO_SPEAD_HEADER) / ASTRO_SPEAD_POINTER, size);
  return TRUE;
}

/* Stores the value of an item pointer. Items stored in the heap, as an offset, are not read. */
static void take(const AstroSpeadItems *wanted, guint item, guint64 value, AstroPacket *packet)
{
  if (item == 0)
    return;
  if (item == wanted->time) {
    packet->count = value;
    packet->count_bits = packet->spead_address;
  } else if (item == wanted->station) {
    packet->station = value;
  } else if (item == wanted->pol) {
    packet->pol = value;
  } else if (item == wanted->channel) {
    packet->channel = value;
  } else if (item == wanted->thread) {
    packet->thread = value;
  }
}

static gboolean parse(const AstroPackets *packets, const guint8 *bytes, gsize size,
                      AstroPacket *packet, GError **error)
{
  const AstroSpeadItems *wanted = &packets->spead->items;
  gboolean seen[ASTRO_SPEAD_CONTROL + 1] = { FALSE }, has_samples = wanted->samples == 0;
  guint address = 0, items = 0;
  guint64 length = 0, next = G_MAXUINT64;
  if (!parse_header(bytes, size, &address, &items, error))
    return FALSE;
  packet->spead_address = address;

  for (guint i = 0; i < items; i++) {
    const guint64 pointer = astro_packet_read_big(
        bytes + ASTRO_SPEAD_HEADER + ASTRO_SPEAD_POINTER * i, ASTRO_SPEAD_POINTER);
    const gboolean is_value = pointer >> 63 != 0;
    const guint item = (guint)(pointer >> address & (((guint64)1 << (63 - address)) - 1));
    const guint64 value = pointer & (((guint64)1 << address) - 1);
    if (item >= ASTRO_SPEAD_HEAP && item <= ASTRO_SPEAD_PAYLOAD_BYTES) {
      if (!is_value || seen[item])
        return astro_packet_is_alien(error, "its SPEAD item %u %s, expected a value, once", item,
                                     is_value ? "comes twice" : "is a place in the heap");
      guint64 *const places[] = { [ASTRO_SPEAD_HEAP] = &packet->heap,
                                  [ASTRO_SPEAD_HEAP_BYTES] = &packet->heap_bytes,
                                  [ASTRO_SPEAD_HEAP_OFFSET] = &packet->heap_offset,
                                  [ASTRO_SPEAD_PAYLOAD_BYTES] = &length };
      *places[item] = value;
      seen[item] = TRUE;
    } else if (item == ASTRO_SPEAD_DESCRIPTOR || item == ASTRO_SPEAD_CONTROL) {
      seen[item] = TRUE;
      if (item == ASTRO_SPEAD_CONTROL && is_value && value == CONTROL_STOP)
        packet->kind = ASTRO_PACKET_STOP;
    } else if (is_value) {
      take(wanted, item, value, packet);
    } else if (item == wanted->samples) {
      has_samples = TRUE;
      packet->samples_offset = value;
    }
  }
  /* Find where the item after the samples begins in the heap. */
  for (guint i = 0; has_samples && i < items; i++) {
    const guint64 pointer = astro_packet_read_big(
        bytes + ASTRO_SPEAD_HEADER + ASTRO_SPEAD_POINTER * i, ASTRO_SPEAD_POINTER);
    const guint64 value = pointer & (((guint64)1 << address) - 1);
    if (pointer >> 63 == 0 && value > packet->samples_offset)
      next = MIN(next, value);
  }

  const gsize payload = ASTRO_SPEAD_HEADER + (gsize)ASTRO_SPEAD_POINTER * items;
  if (!seen[ASTRO_SPEAD_HEAP] || !seen[ASTRO_SPEAD_HEAP_OFFSET] || !seen[ASTRO_SPEAD_PAYLOAD_BYTES])
    return astro_packet_is_alien(error, "its SPEAD items lack the heap's number, the offset in it "
                                        "or the payload's length");
  if (length > size - payload)
    return astro_packet_is_alien(error,
                                 "its SPEAD payload has %" G_GUINT64_FORMAT
                                 " bytes, expected %zu at most, which came",
                                 length, size - payload);
  if (seen[ASTRO_SPEAD_HEAP_BYTES] &&
      (packet->heap_bytes > ASTRO_PACKET_MAX_BYTES || packet->heap_offset > packet->heap_bytes ||
       length > packet->heap_bytes - packet->heap_offset))
    return astro_packet_is_alien(error,
                                 "its payload of %" G_GUINT64_FORMAT " bytes at %" G_GUINT64_FORMAT
                                 " lies outside its SPEAD heap of "
                                 "%" G_GUINT64_FORMAT,
                                 length, packet->heap_offset, packet->heap_bytes);
  /* Descriptors may come together with samples. */
  const gboolean is_first = packet->heap_offset == 0;
  if (packet->kind == ASTRO_PACKET_DATA &&
      (seen[ASTRO_SPEAD_CONTROL] || length == 0 ||
       (wanted->samples ? !has_samples && (is_first || seen[ASTRO_SPEAD_DESCRIPTOR])
                        : seen[ASTRO_SPEAD_DESCRIPTOR])))
    packet->kind = ASTRO_PACKET_ASIDE;
  if (wanted->samples && has_samples && packet->samples_offset < packet->heap_bytes &&
      (packet->samples_offset > 0 || next < packet->heap_bytes))
    packet->samples_bytes = MIN(next, packet->heap_bytes) - packet->samples_offset;

  packet->payload = payload;
  packet->payload_bytes = (gsize)length;
  packet->bytes = payload + (gsize)length;
  packet->samples = packets->spead->samples;
  packet->counts_packets = packet->count_bits && packets->spead->counts_packets;
  packet->count_step = packet->count_bits ? packets->spead->count_step : 0;
  return TRUE;
}

static void tell_common(const AstroPackets *packets, AstroPacket *packet)
{
  const AstroSpeadItems *items = &packets->spead->items;
  packet->samples = packets->spead->samples;
  packet->count_step = packets->spead->count_step;
  packet->counts_packets = packets->spead->counts_packets;
  packet->spead_address = packets->spead->address;
  packet->count_bits = items->time ? packet->spead_address : 0;
  packet->station = items->station ? 0 : ASTRO_PACKET_UNKNOWN;
  packet->pol = items->pol ? 0 : ASTRO_PACKET_UNKNOWN;
  packet->channel = items->channel ? 0 : ASTRO_PACKET_UNKNOWN;
  packet->thread = items->thread ? 0 : ASTRO_PACKET_UNKNOWN;
}

AstroSpeadItemWriter astro_spead_begin(guint8 *header, guint address)
{
  return (AstroSpeadItemWriter){ header, header + ASTRO_SPEAD_HEADER, address, 0, FALSE };
}

void astro_spead_put(AstroSpeadItemWriter *items, gboolean is_value, guint item, guint64 value)
{
  items->is_too_large |= value >> items->address != 0;
  const guint64 pointer = (guint64)is_value << 63 | (guint64)item << items->address | value;
  astro_packet_write_big(items->next, ASTRO_SPEAD_POINTER, pointer);
  items->next += ASTRO_SPEAD_POINTER;
  items->n++;
}

void astro_spead_put_heap(AstroSpeadItemWriter *items, guint64 heap, guint64 heap_bytes,
                          guint64 offset, guint64 payload_bytes)
{
  astro_spead_put(items, TRUE, ASTRO_SPEAD_HEAP, heap);
  astro_spead_put(items, TRUE, ASTRO_SPEAD_HEAP_BYTES, heap_bytes);
  astro_spead_put(items, TRUE, ASTRO_SPEAD_HEAP_OFFSET, offset);
  astro_spead_put(items, TRUE, ASTRO_SPEAD_PAYLOAD_BYTES, payload_bytes);
}

gsize astro_spead_end(AstroSpeadItemWriter *items)
{
  memset(items->header, 0, ASTRO_SPEAD_HEADER);
  items->header[0] = MAGIC;
  items->header[1] = SPEAD_VERSION;
  items->header[3] = (guint8)(items->address / 8);
  items->header[2] = (guint8)(ASTRO_SPEAD_POINTER - items->header[3]);
  astro_packet_write_big(items->header + 6, 2, items->n);
  return ASTRO_SPEAD_HEADER + (gsize)ASTRO_SPEAD_POINTER * items->n;
}

static gsize write_header(const AstroPackets *packets, const AstroPacket *packet, guint8 *header,
                          GError **error)
{
  const AstroSpeadItems *told = &packets->spead->items;
  AstroSpeadItemWriter items = astro_spead_begin(header, packet->spead_address);
  if (packet->spead_address != 48 && packet->spead_address != 40)
    return astro_packet_is_not_written(error, "SPEAD addresses have 48 or 40 bits, not %u",
                                       packet->spead_address);
  if (packet->heap_bytes > ASTRO_PACKET_MAX_BYTES || packet->heap_offset > packet->heap_bytes ||
      packet->payload_bytes > packet->heap_bytes - packet->heap_offset)
    return astro_packet_is_not_written(error, "the part of a SPEAD heap lies outside it");

  astro_spead_put_heap(&items, packet->heap, packet->heap_bytes, packet->heap_offset,
                       packet->payload_bytes);
  if (packet->kind == ASTRO_PACKET_STOP)
    astro_spead_put(&items, TRUE, ASTRO_SPEAD_CONTROL, CONTROL_STOP);
  if (packet->kind == ASTRO_PACKET_ASIDE)
    astro_spead_put(&items, FALSE, ASTRO_SPEAD_DESCRIPTOR, 0);
  if (told->time && packet->count_bits)
    astro_spead_put(&items, TRUE, told->time, packet->count);
  const struct {
    guint item;
    guint64 value;
  } numbers[] = { { told->station, packet->station },
                  { told->pol, packet->pol },
                  { told->channel, packet->channel },
                  { told->thread, packet->thread } };
  for (guint i = 0; i < G_N_ELEMENTS(numbers); i++)
    if (numbers[i].item && numbers[i].value != ASTRO_PACKET_UNKNOWN)
      astro_spead_put(&items, TRUE, numbers[i].item, numbers[i].value);
  if (told->samples && packet->kind == ASTRO_PACKET_DATA)
    astro_spead_put(&items, FALSE, told->samples, 0);
  if (items.is_too_large)
    return astro_packet_is_not_written(error, "a value of a SPEAD item has more than %u bits",
                                       packet->spead_address);

  return astro_spead_end(&items);
}

/* Plain heaps, for programs that assemble them by their numbers. */
const AstroPacketFormat astro_packet_spead = {
  .name = { "spead", "parts of SPEAD heaps, 64-48 or 64-40" },
  .parse = parse,
  .write = write_header,
  .common = tell_common,
  .spead = { .address = 48 },
};

/* Item numbers are those of the MeerKAT interface. Digitisers' samples have 10 bits, packed from
 * the most significant bit on, and the sequence counts samples; the sequence of channelised
 * voltages is that of the digitisers. */
const AstroPacketFormat astro_packet_katgpucbf_antenna_voltage = {
  .name = { "katgpucbf-antenna-voltage", "SPEAD heaps of channelised voltages of katgpucbf" },
  .parse = parse,
  .write = write_header,
  .common = tell_common,
  .spead = { .address = 48,
             .items = { .time = 0x1600, .station = 0x4101, .channel = 0x4103, .samples = 0x4300 },
             .samples = { .bits = 8, .is_complex = TRUE, .packing = ASTRO_PACKET_BITS_LITTLE } },
};

const AstroPacketFormat astro_packet_meerkat_digitiser = {
  .name = { "meerkat-digitiser", "SPEAD heaps of MeerKAT's digitisers" },
  .parse = parse,
  .write = write_header,
  .common = tell_common,
  .spead = { .address = 48,
             .items = { .time = 0x1600, .station = 0x3101, .samples = 0x3300 },
             .samples = { .bits = 10,
                          .packing = ASTRO_PACKET_BITS_BIG,
                          .layout = { 1, { ASTRO_AXIS_TIME }, { 4096 } } },
             .count_step = 1 },
};

/* The step and the first channel stand in the packets; all else is in the heap (results.h). */
const AstroPacketFormat astro_packet_results = {
  .name = { ASTRO_RESULTS, "SPEAD heaps of visibilities, power or beams that describe themselves" },
  .parse = parse,
  .write = write_header,
  .common = tell_common,
  .spead = { .address = 48,
             .items = { .time = ASTRO_RESULTS_STEP, .channel = ASTRO_RESULTS_FIRST_CHANNEL },
             .counts_packets = TRUE },
};
