/* LOFAR beamlets, as the RSP boards of a station send them: a header of sixteen little-endian
 * bytes, then for each beamlet a number of blocks with both polarisations.
 *
 * Byte 0 has the version; 1 the board, a bit for wrong samples and a bit for a clock of 200 MHz
 * instead of 160; 2 the bits per component; 4 the station; 6 the number of beamlets; 7 the number
 * of blocks; 8 the second of UTC; 12 the block within the second. Blocks are 1024 samples of the
 * clock, so with 200 MHz every other second begins in the middle of a block. */
#include "config.h"
#include "core/packets/formats.h"

#include <string.h>

#define HEADER 16
#define BLOCK 1024
#define CLOCK_160 160000000
#define CLOCK_200 200000000
#define MOST_VERSION 3
#define FIRST_WITH_BITS 3 /* version 2 has 16 bits, without a field that says so */

#define TOO_LATE "the samples are from after 2106, when the seconds of beamlets end"

#define BOARD 0x1f
#define WRONG 0x40
#define FAST 0x80

static const guint bits_of_mode[] = { 16, 8, 4 };

static gboolean parse(const AstroPackets *packets, const guint8 *bytes, gsize size,
                      AstroPacket *packet, GError **error)
{
  (void)packets;
  if (size < HEADER)
    return astro_packet_is_alien(error, "it has %zu bytes, expected a beamlet header of %d", size,
                                 HEADER);
  const guint version = bytes[0], mode = version < FIRST_WITH_BITS ? 0 : bytes[2] & 3;
  const guint beamlets = bytes[6], blocks = bytes[7];
  const guint64 second = astro_packet_read_little(bytes + 8, 4);
  const guint64 block = astro_packet_read_little(bytes + 12, 4);
  const guint64 clock = bytes[1] & FAST ? CLOCK_200 : CLOCK_160;
  if (version < 2 || version > MOST_VERSION || mode >= G_N_ELEMENTS(bits_of_mode))
    return astro_packet_is_alien(
        error,
        "it tells of version %u and mode %u, expected beamlets of version 2 or 3 and a mode "
        "of 0 to 2",
        version, mode);
  if (beamlets == 0 || blocks == 0)
    return astro_packet_is_alien(error, "it tells of %u beamlets and %u blocks", beamlets, blocks);
  if (block > clock / BLOCK)
    return astro_packet_is_alien(error,
                                 "it tells of block %" G_GUINT64_FORMAT
                                 " of a second, expected %" G_GUINT64_FORMAT " at most",
                                 block, clock / BLOCK);

  packet->samples = (AstroPacketSamples){
    .bits = bits_of_mode[mode],
    .is_complex = TRUE,
    .packing = ASTRO_PACKET_BITS_LITTLE,
    .layout = { 3,
                { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_TIME, ASTRO_AXIS_POL },
                { beamlets, blocks, 2 } },
  };
  packet->payload = HEADER;
  packet->payload_bytes = astro_packet_payload_bytes(&packet->samples);
  packet->bytes = packet->payload + packet->payload_bytes;
  if (packet->bytes > size)
    return astro_packet_is_alien(error,
                                 "it has %zu bytes, but its header tells of %zu (%u beamlets, %u "
                                 "blocks, %u bits)",
                                 size, packet->bytes, beamlets, blocks, packet->samples.bits);
  packet->is_valid = !(bytes[1] & WRONG);
  packet->thread = bytes[1] & BOARD;
  packet->station = astro_packet_read_little(bytes + 4, 2);
  packet->count = (second * clock + BLOCK / 2) / BLOCK + block;
  packet->count_bits = 64;
  packet->count_step = 1;
  packet->is_since_1970 = TRUE;
  packet->rate_n = clock / BLOCK;
  packet->rate_d = 1;
  if (clock % BLOCK) { /* 195312.5 */
    packet->rate_n = 2 * clock / BLOCK;
    packet->rate_d = 2;
  }
  return TRUE;
}

static void tell_common(const AstroPackets *packets, AstroPacket *packet)
{
  (void)packets;
  packet->samples.is_complex = TRUE;
  packet->samples.packing = ASTRO_PACKET_BITS_LITTLE;
  packet->station = packet->thread = 0;
  packet->count_bits = 64;
  packet->count_step = 1;
  packet->is_since_1970 = TRUE;
}

static gboolean tells_invalid(const AstroPackets *packets)
{
  (void)packets;
  return TRUE;
}

static gboolean is_beamlets(const AstroPacket *packet)
{
  static const AstroLayout order = {
    .n_axes = 3, .axes = { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_TIME, ASTRO_AXIS_POL }
  };
  const AstroPacketSamples *samples = &packet->samples;
  AstroLayout names = samples->layout;
  memset(names.extents, 0, sizeof names.extents);
  return packet->kind == ASTRO_PACKET_DATA && samples->is_complex &&
         samples->code == ASTRO_PACKET_SIGNED && samples->packing == ASTRO_PACKET_BITS_LITTLE &&
         astro_layout_is_equal(&names, &order) && samples->layout.extents[0] >= 1 &&
         samples->layout.extents[0] <= 255 && samples->layout.extents[1] >= 1 &&
         samples->layout.extents[1] <= 255 && samples->layout.extents[2] == 2 &&
         packet->is_since_1970 && packet->station <= 0xffff && packet->thread <= BOARD;
}

static gsize write_header(const AstroPackets *packets, const AstroPacket *packet, guint8 *header,
                          GError **error)
{
  (void)packets;
  guint mode = 0;
  while (mode < G_N_ELEMENTS(bits_of_mode) && bits_of_mode[mode] != packet->samples.bits)
    mode++;
  if (mode == G_N_ELEMENTS(bits_of_mode) || !is_beamlets(packet))
    return astro_packet_is_not_written(
        error, "a beamlet header cannot tell of such a packet: expected complex samples of "
               "channel:time:pol with 16, 8 or 4 bits, 1 to 255 channels and steps, 2 pols, a "
               "station up to 65535, a board up to 31 and a count since 1970");
  const gboolean is_fast = packet->rate_n * BLOCK == CLOCK_200 * packet->rate_d;
  const guint64 clock = is_fast ? CLOCK_200 : CLOCK_160;
  if (packet->rate_d == 0 || packet->rate_n * BLOCK != clock * packet->rate_d)
    return astro_packet_is_not_written(error, "beamlets have 156250 or 195312.5 steps a second");

  if (packet->count > G_MAXUINT64 / BLOCK)
    return astro_packet_is_not_written(error, TOO_LATE);
  /* The last second that begins no later than the block. */
  guint64 second = packet->count * BLOCK / clock;
  while ((second * clock + BLOCK / 2) / BLOCK > packet->count)
    second--;
  while (((second + 1) * clock + BLOCK / 2) / BLOCK <= packet->count)
    second++;
  if (second > G_MAXUINT32)
    return astro_packet_is_not_written(error, TOO_LATE);

  memset(header, 0, HEADER);
  header[0] = MOST_VERSION;
  header[1] = (guint8)(packet->thread | (packet->is_valid ? 0 : WRONG) | (is_fast ? FAST : 0));
  header[2] = (guint8)mode;
  astro_packet_write_little(header + 4, 2, packet->station);
  header[6] = (guint8)packet->samples.layout.extents[0];
  header[7] = (guint8)packet->samples.layout.extents[1];
  astro_packet_write_little(header + 8, 4, second);
  astro_packet_write_little(header + 12, 4, packet->count - (second * clock + BLOCK / 2) / BLOCK);
  return HEADER;
}

const AstroPacketFormat astro_packet_beamlet = {
  .name = { "lofar-beamlet", "LOFAR's beamlets from RSP boards, of 16, 8 or 4 bits" },
  .parse = parse,
  .write = write_header,
  .common = tell_common,
  .tells_invalid = tells_invalid,
};
