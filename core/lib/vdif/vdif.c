/* VDIF 1.1.1: a header of eight little-endian words, or only the first four in a legacy header,
 * then the frame's samples.
 *
 * Word 0 has the seconds since the reference epoch, and the bits for a legacy header and for
 * invalid samples; word 1 the frame within the second, and the epoch in half years since 2000; word
 * 2 the frame's length in units of eight bytes, and the number of channels as a power of two; word
 * 3 the station, the thread, the bits per sample and whether they are complex; word 4 the version
 * of the extended data. */
#include "config.h"
#include "core/lib/vdif/vdif.h"

#include "core/kit/fail.h"
#include "core/lib/vdif/seconds.h"

#include <string.h>

#define WORD 4
#define NICT 1 /* versions of the extended data */
#define VLBA 3
#define VLBA_MARK 0xacabfeed
#define VLBA_UNITS 629
#define VLBA_SHORT 129

G_DEFINE_QUARK(astro_vdif_error, astro_vdif_error)

#define is_alien(error, ...)                                                                       \
  astro_fail(error, ASTRO_VDIF_ERROR, ASTRO_VDIF_ERROR_ALIEN, __VA_ARGS__)
#define is_not_written(error, ...)                                                                 \
  astro_fail(error, ASTRO_VDIF_ERROR, ASTRO_VDIF_ERROR_WRITE, __VA_ARGS__)

static guint32 read_word(const guint8 *bytes)
{
  return (guint32)bytes[0] | (guint32)bytes[1] << 8 | (guint32)bytes[2] << 16 |
         (guint32)bytes[3] << 24;
}

static void write_word(guint8 *bytes, guint32 word)
{
  for (guint i = 0; i < WORD; i++, word >>= 8)
    bytes[i] = (guint8)word;
}

/* Version 3, of the VLBA, has the rate of complex samples, or half that of real ones. Version 1, of
 * NICT, has the same fields, but programs disagree about what they mean. (Version 4 has a mask of
 * valid channels there in some programs, and a rate in others.) */
static guint64 read_rate(const guint32 words[ASTRO_VDIF_HEADER / WORD], guint version)
{
  const guint64 unit = words[4] >> 23 & 1 ? 1000000 : 1000;
  const guint64 parts = words[3] >> 31 ? 1 : 2;
  return words[4] >> 24 == version ? (words[4] & 0x7fffff) * unit * parts : 0;
}

gboolean astro_vdif_parse(const guint8 *bytes, gsize size, AstroVdif *vdif, GError **error)
{
  guint32 words[ASTRO_VDIF_HEADER / WORD] = { 0 };
  if (size < ASTRO_VDIF_LEGACY_HEADER)
    return is_alien(error, "it has %zu bytes, expected a VDIF header of %d or more", size,
                    ASTRO_VDIF_LEGACY_HEADER);
  const gboolean is_legacy = bytes[3] >> 6 & 1;
  const gsize header = is_legacy ? ASTRO_VDIF_LEGACY_HEADER : ASTRO_VDIF_HEADER;
  if (size < header)
    return is_alien(error, "it has %zu bytes, expected a VDIF header of %zu", size, header);
  for (guint i = 0; i < header / WORD; i++)
    words[i] = read_word(bytes + WORD * i);

  *vdif = (AstroVdif){
    .is_legacy = is_legacy,
    .is_valid = !(words[0] >> 31),
    .is_complex = words[3] >> 31 != 0,
    .bits = (words[3] >> 26 & 0x1f) + 1,
    .log_channels = words[2] >> 24 & 0x1f,
    .station = words[3] & 0xffff,
    .thread = words[3] >> 16 & 0x3ff,
    .epoch = words[1] >> 24 & 0x3f,
    .since = words[0] & 0x3fffffff,
    .frame = words[1] & 0xffffff,
    .extension = words[4] >> 24,
    .rate = read_rate(words, VLBA),
    .claimed = words[5] == VLBA_MARK ? read_rate(words, NICT) : 0,
    .header = header,
    .bytes = (gsize)(words[2] & 0xffffff) * ASTRO_VDIF_UNIT,
  };
  vdif->second = astro_vdif_second(vdif->epoch, vdif->since);
  if (vdif->bytes <= header || vdif->bytes > size)
    return is_alien(error,
                    "its VDIF header tells of a frame of %zu bytes, expected %zu to %zu, which "
                    "came",
                    vdif->bytes, header + ASTRO_VDIF_UNIT, size);
  if (vdif->log_channels > ASTRO_VDIF_MOST_LOG_CHANNELS)
    return is_alien(error, "its VDIF header tells of 2^%u channels, expected 2^%d at most",
                    vdif->log_channels, ASTRO_VDIF_MOST_LOG_CHANNELS);
  return TRUE;
}

/* A word holds as many complete samples as fit. If a sample is longer than a word, a word holds
 * part of one; how many components that is, is only defined if they fill the word or there is a
 * single one. */
guint astro_vdif_word_components(guint64 of_sample, guint bits)
{
  if (of_sample == 0 || bits < 1 || bits > ASTRO_VDIF_WORD_BITS)
    return 0;
  if (of_sample <= ASTRO_VDIF_WORD_BITS / bits)
    return (guint)(ASTRO_VDIF_WORD_BITS / (of_sample * bits) * of_sample);
  const guint n = ASTRO_VDIF_WORD_BITS / bits;
  return (n == 1 || n * bits == ASTRO_VDIF_WORD_BITS) && of_sample % n == 0 ? n : 0;
}

guint64 astro_vdif_steps(const AstroVdif *vdif)
{
  const guint64 of_sample = (guint64)(vdif->is_complex ? 2 : 1) << vdif->log_channels;
  const gsize bytes = vdif->bytes - vdif->header;
  const guint64 components =
      bytes / WORD * (guint64)astro_vdif_word_components(of_sample, vdif->bits);
  return bytes % WORD || components % of_sample ? 0 : components / of_sample;
}

/* VLBA frames have one of two lengths, and other programs refuse its version with other lengths, so
 * frames of other lengths have no rate. */
static gboolean write_rate(const AstroVdif *vdif, guint8 *word, GError **error)
{
  const guint64 parts = vdif->is_complex ? 1 : 2;
  const gsize units = vdif->bytes / ASTRO_VDIF_UNIT;
  if (vdif->rate == 0 || (units != VLBA_UNITS && units != VLBA_SHORT))
    return TRUE;
  for (guint64 unit = 1000; unit <= 1000000; unit *= 1000) {
    const guint64 told = vdif->rate / parts / unit;
    if (told > 0x7fffff || told * parts * unit != vdif->rate)
      continue;
    write_word(word, (guint32)VLBA << 24 | (guint32)(unit > 1000) << 23 | (guint32)told);
    write_word(word + WORD, VLBA_MARK);
    return TRUE;
  }
  return is_not_written(error,
                        "a VDIF header cannot tell of %" G_GUINT64_FORMAT
                        " samples a second: expected whole "
                        "kHz of complex samples, or an even number of them of real ones",
                        vdif->rate);
}

gboolean astro_vdif_write(const AstroVdif *vdif, guint8 header[ASTRO_VDIF_HEADER], GError **error)
{
  const gsize length = vdif->is_legacy ? ASTRO_VDIF_LEGACY_HEADER : ASTRO_VDIF_HEADER;
  const gsize samples = vdif->bytes > length ? vdif->bytes - length : 0;
  guint epoch;
  guint64 seconds;
  if (vdif->log_channels > ASTRO_VDIF_MOST_LOG_CHANNELS || vdif->bits < 1 ||
      vdif->bits > ASTRO_VDIF_WORD_BITS || vdif->station > 0xffff || vdif->thread > 0x3ff ||
      vdif->frame >> ASTRO_VDIF_FRAME_BITS)
    return is_not_written(
        error, "a VDIF header cannot tell of such a packet: expected samples of time:channel with "
               "1 to 32 bits and a power of two of channels, a station up to 65535, a thread up to "
               "1023 and a frame up to 2^24 of a second");
  if (samples == 0 || samples % ASTRO_VDIF_UNIT || vdif->bytes / ASTRO_VDIF_UNIT > 0xffffff)
    return is_not_written(
        error,
        "a VDIF frame cannot have %zu bytes of samples: expected a multiple of %d, below "
        "2^27, that is whole samples",
        samples, ASTRO_VDIF_UNIT);
  if (!astro_vdif_find_epoch(vdif->second, &epoch, &seconds))
    return is_not_written(error, "VDIF's epochs begin in 2000 and end in 2031, and "
                                 "the samples are from another time");

  memset(header, 0, length);
  write_word(header,
             (guint32)!vdif->is_valid << 31 | (guint32) !!vdif->is_legacy << 30 | (guint32)seconds);
  write_word(header + WORD, (guint32)epoch << 24 | (guint32)vdif->frame);
  write_word(header + 2 * WORD,
             (guint32)vdif->log_channels << 24 | (guint32)(vdif->bytes / ASTRO_VDIF_UNIT));
  write_word(header + 3 * WORD, (guint32) !!vdif->is_complex << 31 |
                                    (guint32)(vdif->bits - 1) << 26 | (guint32)vdif->thread << 16 |
                                    (guint32)vdif->station);
  return vdif->is_legacy || write_rate(vdif, header + 4 * WORD, error);
}
