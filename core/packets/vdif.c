/* VDIF 1.1.1: a header of eight little-endian words, or only the first four in a legacy header,
 * then the frame's samples.
 *
 * Word 0 has the seconds since the reference epoch, and the bits for a legacy header and for
 * invalid samples; word 1 the frame within the second, and the epoch in half years since 2000; word
 * 2 the frame's length in units of eight bytes, and the number of channels as a power of two; word
 * 3 the station, the thread, the bits per sample and whether they are complex; word 4 the version
 * of the extended data. */
#include "config.h"
#include "core/packets/formats.h"

#include <erfa.h>
#include <string.h>

#define WORD 4
#define HEADER 32
#define LEGACY_HEADER 16
#define VTP 8
#define UNIT 8 /* bytes in a unit of a frame's length */
#define DAY 86400
#define MJD_1970 40587
#define SECONDS_BITS 30
#define FRAME_BITS 24
#define MOST_EPOCHS 64
#define MOST_LOG_CHANNELS 16
#define VLBA 3 /* version of the extended data */
#define VLBA_UNITS 629
#define VLBA_SHORT 129

/* MJD of an epoch: 0h on 1 January or 1 July. */
static gint64 epoch_mjd(guint epoch)
{
  double zero, mjd = 0;
  eraCal2jd(2000 + (int)epoch / 2, epoch % 2 ? 7 : 1, 1, &zero, &mjd);
  return (gint64)mjd;
}

static double tai_minus_utc(gint64 mjd)
{
  double seconds = 0, fraction;
  int year, month, day;
  eraJd2cal(2400000.5, (double)mjd, &year, &month, &day, &fraction);
  eraDat(year, month, day, 0, &seconds);
  return seconds;
}

/* Seconds since an epoch include leap seconds, which are inserted at the end of a half year, so
 * they matter for a sender that keeps its epoch for longer. A leap second itself becomes the first
 * second of the next day, as on clocks without leap seconds. */
static gint64 second_since_1970(guint epoch, guint64 seconds)
{
  const gint64 begin = epoch_mjd(epoch);
  gint64 mjd = begin + (gint64)(seconds / DAY), since = (gint64)seconds;
  const gint64 leaps = (gint64)(tai_minus_utc(mjd) - tai_minus_utc(begin));
  since -= leaps;
  mjd = begin + since / DAY;
  const gint64 fewer = (gint64)(tai_minus_utc(mjd) - tai_minus_utc(begin));
  if (fewer != leaps)
    since = (gint64)seconds - fewer;
  return (begin - MJD_1970) * DAY + since;
}

/* The epoch that contains a second, so that no leap second lies between them. */
static gboolean find_epoch(gint64 second, guint *epoch, guint64 *seconds)
{
  for (guint i = MOST_EPOCHS; i-- > 0;) {
    const gint64 begin = (epoch_mjd(i) - MJD_1970) * DAY;
    if (second < begin)
      continue;
    *epoch = i;
    *seconds = (guint64)(second - begin);
    return *seconds < (guint64)1 << SECONDS_BITS;
  }
  return FALSE;
}

/* Version 3, of the VLBA, has the rate of complex samples, or half that of real ones. Programs
 * disagree about the rate in versions 1 and 4, so it is left unknown. */
static void read_rate(guint32 word, guint64 steps, AstroPacket *packet)
{
  if (word >> 24 != VLBA)
    return;
  const guint64 unit = word >> 23 & 1 ? 1000000 : 1000;
  const guint64 rate = (word & 0x7fffff) * unit * (packet->samples.is_complex ? 1 : 2);
  if (rate == 0 || rate % steps)
    return;
  packet->packets_a_second = rate / steps;
  packet->rate_n = rate;
  packet->rate_d = 1;
}

static gboolean parse_frame(const guint8 *bytes, gsize size, AstroPacket *packet, GError **error)
{
  guint32 words[HEADER / WORD] = { 0 };
  if (size < LEGACY_HEADER)
    return astro_packet_is_alien(error, "it has %zu bytes, expected a VDIF header of %d or more",
                                 size, LEGACY_HEADER);
  const gboolean is_legacy = bytes[3] >> 6 & 1;
  const gsize header = is_legacy ? LEGACY_HEADER : HEADER;
  if (size < header)
    return astro_packet_is_alien(error, "it has %zu bytes, expected a VDIF header of %zu", size,
                                 header);
  for (guint i = 0; i < header / WORD; i++)
    words[i] = (guint32)astro_packet_read_little(bytes + WORD * i, WORD);

  const gsize length = (gsize)(words[2] & 0xffffff) * UNIT;
  const guint log_channels = words[2] >> 24 & 0x1f;
  if (length <= header || length > size)
    return astro_packet_is_alien(
        error, "its VDIF header tells of a frame of %zu bytes, expected %zu to %zu, which came",
        length, header + UNIT, size);
  if (log_channels > MOST_LOG_CHANNELS)
    return astro_packet_is_alien(error,
                                 "its VDIF header tells of 2^%u channels, expected 2^%d at most",
                                 log_channels, MOST_LOG_CHANNELS);

  AstroPacketSamples *samples = &packet->samples;
  *samples = (AstroPacketSamples){
    .bits = (words[3] >> 26 & 0x1f) + 1,
    .is_complex = words[3] >> 31 != 0,
    .packing = ASTRO_PACKET_WORDS,
    .code = ASTRO_PACKET_OFFSET,
    .layout = { 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL }, { 1, (guint64)1 << log_channels } }
  };
  const guint64 steps = astro_packet_payload_steps(samples, length - header);
  if (steps == 0)
    return astro_packet_is_alien(error,
                                 "its VDIF header tells of %u bits and 2^%u channels, which do "
                                 "not lie in whole words in %zu bytes of samples",
                                 samples->bits, log_channels, length - header);
  samples->layout.extents[0] = steps;

  packet->is_valid = !(words[0] >> 31);
  packet->station = words[3] & 0xffff;
  packet->thread = words[3] >> 16 & 0x3ff;
  packet->counts_packets = TRUE;
  packet->has_second = TRUE;
  packet->second = second_since_1970(words[1] >> 24 & 0x3f, words[0] & 0x3fffffff);
  packet->count = words[1] & 0xffffff;
  packet->count_bits = FRAME_BITS;
  packet->payload = header;
  packet->payload_bytes = length - header;
  packet->bytes = length;
  packet->vdif.is_legacy = is_legacy;
  if (!is_legacy)
    read_rate(words[4], steps, packet);
  return TRUE;
}

/* On the network, VTP puts eight bytes before each frame without any mark: they are there if a
 * datagram has the length of its frame only with them. */
static gboolean has_vtp(const guint8 *bytes, gsize size)
{
  if (size < VTP + LEGACY_HEADER)
    return FALSE;
  const gsize plain = (gsize)(astro_packet_read_little(bytes + 2 * WORD, WORD) & 0xffffff) * UNIT;
  const gsize behind =
      (gsize)(astro_packet_read_little(bytes + VTP + 2 * WORD, WORD) & 0xffffff) * UNIT;
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
  packet->count_bits = FRAME_BITS;
}

static gboolean tells_invalid(const AstroPackets *packets)
{
  (void)packets;
  return TRUE;
}

static gboolean is_written(const AstroPacket *packet, guint log_channels)
{
  const AstroPacketSamples *samples = &packet->samples;
  return log_channels <= MOST_LOG_CHANNELS && samples->bits >= 1 && samples->bits <= 32 &&
         samples->packing == ASTRO_PACKET_WORDS && samples->code == ASTRO_PACKET_OFFSET &&
         packet->kind == ASTRO_PACKET_DATA && packet->station <= 0xffff &&
         packet->thread <= 0x3ff && packet->has_second && packet->count >> FRAME_BITS == 0;
}

/* VLBA frames have one of two lengths, and other programs refuse its version with other lengths, so
 * frames of other lengths have no rate. */
static gsize write_rate(const AstroPacket *packet, guint8 *word, GError **error)
{
  const guint64 parts = packet->samples.is_complex ? 1 : 2;
  const gsize units = (HEADER + packet->payload_bytes) / UNIT;
  if (packet->rate_n == 0 || packet->rate_d != 1 || (units != VLBA_UNITS && units != VLBA_SHORT))
    return 1;
  for (guint64 unit = 1000; unit <= 1000000; unit *= 1000) {
    const guint64 told = packet->rate_n / parts / unit;
    if (told > 0x7fffff || told * parts * unit != packet->rate_n)
      continue;
    astro_packet_write_little(word, WORD, (guint64)VLBA << 24 | (unit > 1000) << 23 | told);
    astro_packet_write_little(word + WORD, WORD, 0xacabfeed);
    return 1;
  }
  return astro_packet_is_not_written(
      error,
      "a VDIF header cannot tell of %" G_GUINT64_FORMAT " samples a second: expected whole "
      "kHz of complex samples, or an even number of them of real ones",
      packet->rate_n);
}

static gsize write_header(const AstroPackets *packets, const AstroPacket *packet, guint8 *header,
                          GError **error)
{
  (void)packets;
  const AstroLayout *layout = &packet->samples.layout;
  const guint64 channels = layout->n_axes == 2 ? layout->extents[1] : 0;
  const guint log_channels = channels ? (guint)g_bit_storage(channels) - 1 : 32;
  const gsize before = packet->vdif.is_vtp ? VTP : 0;
  const gsize bytes = packet->vdif.is_legacy ? LEGACY_HEADER : HEADER;
  const gsize length = bytes + packet->payload_bytes;
  guint epoch;
  guint64 seconds;
  if (!is_written(packet, log_channels) || channels != (guint64)1 << log_channels)
    return astro_packet_is_not_written(
        error, "a VDIF header cannot tell of such a packet: expected samples of time:channel with "
               "1 to 32 bits and a power of two of channels, a station up to 65535, a thread up to "
               "1023 and a frame up to 2^24 of a second");
  if (packet->payload_bytes == 0 || packet->payload_bytes % UNIT || length / UNIT > 0xffffff ||
      packet->payload_bytes != astro_packet_payload_bytes(&packet->samples))
    return astro_packet_is_not_written(
        error,
        "a VDIF frame cannot have %zu bytes of samples: expected a multiple of %d, below "
        "2^27, that is whole samples",
        packet->payload_bytes, UNIT);
  if (!find_epoch(packet->second, &epoch, &seconds))
    return astro_packet_is_not_written(error, "VDIF's epochs begin in 2000 and end in 2031, and "
                                              "the samples are from another time");

  guint8 *words = header + before;
  memset(header, 0, before + bytes);
  astro_packet_write_little(header, (guint)before, packet->vdif.serial);
  astro_packet_write_little(words, WORD,
                            (guint64)!packet->is_valid << 31 |
                                (guint64) !!packet->vdif.is_legacy << 30 | seconds);
  astro_packet_write_little(words + WORD, WORD, (guint64)epoch << 24 | packet->count);
  astro_packet_write_little(words + 2 * WORD, WORD, (guint64)log_channels << 24 | length / UNIT);
  astro_packet_write_little(words + 3 * WORD, WORD,
                            (guint64) !!packet->samples.is_complex << 31 |
                                (guint64)(packet->samples.bits - 1) << 26 | packet->thread << 16 |
                                packet->station);
  if (!packet->vdif.is_legacy && !write_rate(packet, words + 4 * WORD, error))
    return 0;
  return before + bytes;
}

const AstroPacketFormat astro_packet_vdif = {
  .name = { "vdif", "VLBI data interchange format, with or without VTP" },
  .parse = parse,
  .write = write_header,
  .common = tell_common,
  .tells_invalid = tells_invalid,
};
