/* Reads and writes packets whose header fields have fixed positions, from a description. */
#include "config.h"
#include "core/packets/describe.h"

#include <string.h>

const AstroPacketNumber astro_packet_numbers[ASTRO_PACKET_N_NUMBERS] = {
  { "sequence", G_STRUCT_OFFSET(AstroPacket, count) },
  { "station", G_STRUCT_OFFSET(AstroPacket, station) },
  { "pol", G_STRUCT_OFFSET(AstroPacket, pol) },
  { "channel", G_STRUCT_OFFSET(AstroPacket, channel) },
  { "thread", G_STRUCT_OFFSET(AstroPacket, thread) },
};

AstroPackets *astro_packets_described(const char *name, AstroPacketDescription *description)
{
  AstroPackets *packets = g_new0(AstroPackets, 1);
  const gboolean is_spead = description->spead.address > 0;
  *packets = (AstroPackets){ is_spead ? &astro_packet_spead : &astro_packet_described, description,
                             &description->spead, g_strdup(name) };
  return packets;
}

static guint64 get(const AstroPacketPlace *place, const guint8 *bytes)
{
  return place->is_little ? astro_packet_read_little(bytes + place->offset, place->bytes)
                          : astro_packet_read_big(bytes + place->offset, place->bytes);
}

static void tell_definition(const AstroPacketDescription *d, AstroPacket *packet)
{
  packet->count_bits = 8 * d->numbers[ASTRO_PACKET_SEQUENCE].bytes;
  packet->counts_packets = d->counts_packets;
  packet->count_step = d->count_step;
  packet->samples = d->samples;
}

static void tell_common(const AstroPackets *packets, AstroPacket *packet)
{
  const AstroPacketDescription *d = packets->description;
  for (guint i = 0; i < ASTRO_PACKET_N_NUMBERS; i++)
    if (d->numbers[i].bytes)
      G_STRUCT_MEMBER(guint64, packet, astro_packet_numbers[i].member) = 0;
  tell_definition(d, packet);
}

static gboolean tells_invalid(const AstroPackets *packets)
{
  return packets->description->invalid.bytes > 0;
}

static gboolean parse(const AstroPackets *packets, const guint8 *bytes, gsize size,
                      AstroPacket *packet, GError **error)
{
  const AstroPacketDescription *d = packets->description;
  const gsize payload = astro_packet_payload_bytes(&d->samples);
  if (size < d->payload + payload)
    return astro_packet_is_alien(error, "it has %zu bytes, but its description needs %zu", size,
                                 d->payload + payload);
  if (memcmp(bytes + d->magic_offset, d->magic, d->magic_bytes) != 0)
    return astro_packet_is_alien(
        error, "the bytes at %u differ from the magic ones in its description", d->magic_offset);
  for (guint i = 0; i < ASTRO_PACKET_N_NUMBERS; i++)
    if (d->numbers[i].bytes)
      G_STRUCT_MEMBER(guint64, packet, astro_packet_numbers[i].member) = get(&d->numbers[i], bytes);
  tell_definition(d, packet);
  packet->is_valid = !d->invalid.bytes || !(get(&d->invalid, bytes) & d->invalid_bits);
  packet->payload = d->payload;
  packet->payload_bytes = payload;
  packet->bytes = d->payload + payload;
  return TRUE;
}

static gboolean put(const AstroPacketPlace *place, guint64 value, guint8 *header)
{
  if (place->bytes < 8 && value >> 8 * place->bytes)
    return FALSE;
  if (place->is_little)
    astro_packet_write_little(header + place->offset, place->bytes, value);
  else
    astro_packet_write_big(header + place->offset, place->bytes, value);
  return TRUE;
}

static gsize write_header(const AstroPackets *packets, const AstroPacket *packet, guint8 *header,
                          GError **error)
{
  const AstroPacketDescription *d = packets->description;
  const AstroPacketSamples *samples = &packet->samples;
  if (packet->kind != ASTRO_PACKET_DATA || samples->bits != d->samples.bits ||
      samples->is_complex != d->samples.is_complex || samples->code != d->samples.code ||
      samples->packing != d->samples.packing ||
      !astro_layout_is_equal(&samples->layout, &d->samples.layout))
    return astro_packet_is_not_written(
        error,
        "the samples are not those that %s describes: its bits, order, extents and packing "
        "are expected",
        packets->name);
  if (!packet->is_valid && !d->invalid.bytes)
    return astro_packet_is_not_written(
        error, "the samples are not valid, and %s has no line \"invalid\" that tells how to say so",
        packets->name);

  memset(header, 0, d->payload);
  memcpy(header + d->magic_offset, d->magic, d->magic_bytes);
  for (guint i = 0; i < ASTRO_PACKET_N_NUMBERS; i++)
    if (d->numbers[i].bytes &&
        !put(&d->numbers[i], G_STRUCT_MEMBER(guint64, packet, astro_packet_numbers[i].member),
             header))
      return astro_packet_is_not_written(
          error,
          "the %s %" G_GUINT64_FORMAT " is not known or too "
          "large for %u bytes",
          astro_packet_numbers[i].name,
          G_STRUCT_MEMBER(guint64, packet, astro_packet_numbers[i].member), d->numbers[i].bytes);
  if (!packet->is_valid)
    put(&d->invalid, d->invalid_bits, header);
  return d->payload;
}

const AstroPacketFormat astro_packet_described = {
  .name = { "@FILE", "a header with fields at fixed positions, which a file describes" },
  .parse = parse,
  .write = write_header,
  .common = tell_common,
  .tells_invalid = tells_invalid,
};
