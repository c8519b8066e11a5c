/* VDIF in packets: core/lib/vdif reads and writes the headers. */
#include "config.h"
#include "core/packets/formats.h"

#include "core/lib/vdif/vdif.h"

#define VTP 8
#define LENGTH_AT 8

/* The same error in the terms of packets. */
static gboolean fail(GError **error, GError *why, AstroPacketError code)
{
  astro_fail(error, ASTRO_PACKET_ERROR, code, "%s", why->message);
  g_error_free(why);
  return FALSE;
}

static void take_rate(const AstroVdif *vdif, guint64 steps, AstroPacket *packet)
{
  if (vdif->rate == 0 || vdif->rate % steps)
    return;
  packet->packets_a_second = vdif->rate / steps;
  packet->rate_n = vdif->rate;
  packet->rate_d = 1;
}

static gboolean parse_frame(const guint8 *bytes, gsize size, AstroPacket *packet, GError **error)
{
  AstroVdif vdif;
  GError *why = NULL;
  if (!astro_vdif_parse(bytes, size, &vdif, &why))
    return fail(error, why, ASTRO_PACKET_ERROR_ALIEN);
  AstroPacketSamples *samples = &packet->samples;
  *samples = (AstroPacketSamples){
    .bits = vdif.bits,
    .is_complex = vdif.is_complex,
    .packing = ASTRO_PACKET_WORDS,
    .code = ASTRO_PACKET_OFFSET,
    .layout = { 2,
                { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL },
                { 1, (guint64)1 << vdif.log_channels } },
  };
  const guint64 steps = astro_packet_payload_steps(samples, vdif.bytes - vdif.header);
  if (steps == 0)
    return astro_packet_is_alien(error,
                                 "its VDIF header tells of %u bits and 2^%u channels, which do "
                                 "not lie in whole words in %zu bytes of samples",
                                 samples->bits, vdif.log_channels, vdif.bytes - vdif.header);
  samples->layout.extents[0] = steps;

  packet->is_valid = vdif.is_valid;
  packet->station = vdif.station;
  packet->thread = vdif.thread;
  packet->counts_packets = TRUE;
  packet->has_second = TRUE;
  packet->second = vdif.second;
  packet->count = vdif.frame;
  packet->count_bits = ASTRO_VDIF_FRAME_BITS;
  packet->payload = vdif.header;
  packet->payload_bytes = vdif.bytes - vdif.header;
  packet->bytes = vdif.bytes;
  packet->vdif.is_legacy = vdif.is_legacy;
  take_rate(&vdif, steps, packet);
  return TRUE;
}

/* On the network, VTP puts eight bytes before each frame without any mark: they are there if a
 * datagram has the length of its frame only with them. */
static gboolean has_vtp(const guint8 *bytes, gsize size)
{
  if (size < VTP + ASTRO_VDIF_LEGACY_HEADER)
    return FALSE;
  const gsize plain =
      (gsize)(astro_packet_read_little(bytes + LENGTH_AT, 4) & 0xffffff) * ASTRO_VDIF_UNIT;
  const gsize behind =
      (gsize)(astro_packet_read_little(bytes + VTP + LENGTH_AT, 4) & 0xffffff) * ASTRO_VDIF_UNIT;
  return behind == size - VTP && plain != size;
}

static gboolean parse(const AstroPackets *packets, const guint8 *bytes, gsize size,
                      AstroPacket *packet, GError **error)
{
  (void)packets;
  const gsize before = has_vtp(bytes, size) ? VTP : 0;
  if (!parse_frame(bytes + before, size - before, packet, error))
    return FALSE;
  packet->payload += before;
  packet->bytes += before;
  packet->vdif.is_vtp = before != 0;
  if (before)
    packet->vdif.serial = astro_packet_read_little(bytes, VTP);
  return TRUE;
}

static void tell_common(const AstroPackets *packets, AstroPacket *packet)
{
  (void)packets;
  packet->samples.packing = ASTRO_PACKET_WORDS;
  packet->samples.code = ASTRO_PACKET_OFFSET;
  packet->station = packet->thread = 0;
  packet->counts_packets = TRUE;
  packet->has_second = TRUE;
  packet->count_bits = ASTRO_VDIF_FRAME_BITS;
}

static gboolean tells_invalid(const AstroPackets *packets)
{
  (void)packets;
  return TRUE;
}

static gboolean is_written(const AstroPacket *packet, guint64 channels)
{
  const AstroPacketSamples *samples = &packet->samples;
  return channels != 0 && (channels & (channels - 1)) == 0 && samples->bits >= 1 &&
         samples->packing == ASTRO_PACKET_WORDS && samples->code == ASTRO_PACKET_OFFSET &&
         packet->kind == ASTRO_PACKET_DATA && packet->station <= G_MAXUINT &&
         packet->thread <= G_MAXUINT && packet->has_second;
}

static gsize write_header(const AstroPackets *packets, const AstroPacket *packet, guint8 *header,
                          GError **error)
{
  (void)packets;
  const AstroLayout *layout = &packet->samples.layout;
  const guint64 channels = layout->n_axes == 2 ? layout->extents[1] : 0;
  const gsize before = packet->vdif.is_vtp ? VTP : 0;
  const gsize length = packet->vdif.is_legacy ? ASTRO_VDIF_LEGACY_HEADER : ASTRO_VDIF_HEADER;
  const gboolean is_known = is_written(packet, channels);
  AstroVdif vdif = {
    .is_legacy = packet->vdif.is_legacy,
    .is_valid = packet->is_valid,
    .is_complex = packet->samples.is_complex,
    .bits = is_known ? packet->samples.bits : 0,
    .log_channels = channels ? (guint)g_bit_storage(channels) - 1 : 0,
    .station = (guint)packet->station,
    .thread = (guint)packet->thread,
    .second = packet->second,
    .frame = packet->count,
    .rate = packet->rate_d == 1 ? packet->rate_n : 0,
    .header = length,
    .bytes = length + packet->payload_bytes,
  };
  GError *why = NULL;
  if (is_known && packet->payload_bytes != astro_packet_payload_bytes(&packet->samples))
    return astro_packet_is_not_written(
        error, "a VDIF frame cannot have %zu bytes of samples: expected %zu, whole samples",
        packet->payload_bytes, astro_packet_payload_bytes(&packet->samples));
  if (!astro_vdif_write(&vdif, header + before, &why))
    return (gsize)fail(error, why, ASTRO_PACKET_ERROR_WRITE);
  astro_packet_write_little(header, (guint)before, packet->vdif.serial);
  return before + length;
}

const AstroPacketFormat astro_packet_vdif = {
  .name = { "vdif", "VLBI data interchange format, with or without VTP" },
  .parse = parse,
  .write = write_header,
  .common = tell_common,
  .tells_invalid = tells_invalid,
};
