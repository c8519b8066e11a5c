/* VDIF: frames of one station's polarisation, with all its channels. A station's polarisations are
 * its threads, numbered from 0; stations are numbered from 0 too. A frame with a lost sample is
 * marked as invalid, and keeps the good ones, which readers do not believe: so frames are as long
 * as the packets that got lost, or a part of that, where this is known. */
#include "config.h"
#include "core/recorders/write-parts.h"

#include "core/lib/vdif/seconds.h"
#include "core/lib/vdif/vdif.h"
#include "core/recorders/write-block.h"

#include <string.h>

#define BLOCK (1u << 19)
#define VLBA_BYTES 5000 /* of samples: other programs believe the rate in frames of this length */
#define FRAME_BYTES 8000
#define LEAST_GROUP_BYTES 512 /* shorter frames would be mostly headers */
#define MOST_BYTES (1u << 20)
#define MJD_1970 40587
#define SECONDS_A_DAY 86400
#define NS_A_SECOND G_GUINT64_CONSTANT(1000000000)
#define MOST_STATIONS 65536
#define MOST_THREADS 1024

static guint64 step_bits(const AstroRecordWriter *w)
{
  return w->channels * w->components * w->bits;
}

static gsize payload(const AstroRecordWriter *w, guint64 steps)
{
  return steps * step_bits(w) / 8;
}

static gboolean is_frame(const AstroRecordWriter *w, guint64 steps)
{
  return steps > 0 && (guint64)w->stream.rate_n % steps == 0 &&
         steps * step_bits(w) % (8 * ASTRO_VDIF_UNIT) == 0;
}

/* Whether such frames lie within the groups of steps that get lost together, if these are known. */
static gboolean is_in_group(const AstroRecordWriter *w, guint64 steps)
{
  const AstroRecordSettings *s = &w->settings;
  return s->group == 0 || (s->group % steps == 0 && (w->origin + s->group_begin) % steps == 0 &&
                           payload(w, steps) >= LEAST_GROUP_BYTES);
}

/* The VLBA's length if it fits, since such frames tell the rate; else the longest up to 8000 bytes
 * of which a second has a whole number; else the shortest one. */
static guint64 find_frame(const AstroRecordWriter *w)
{
  const guint64 bits = step_bits(w);
  const guint64 rate = (guint64)w->stream.rate_n;
  const guint64 vlba = 8 * VLBA_BYTES / bits;
  if (8 * VLBA_BYTES % bits == 0 && is_frame(w, vlba) && is_in_group(w, vlba))
    return vlba;
  for (guint64 steps = MIN(8 * FRAME_BYTES / bits, rate); steps > 0; steps--)
    if (is_frame(w, steps) && is_in_group(w, steps))
      return steps;
  for (guint64 steps = 8 * FRAME_BYTES / bits + 1; steps <= MIN(8 * MOST_BYTES / bits, rate);
       steps++)
    if (is_frame(w, steps) && is_in_group(w, steps))
      return steps;
  return 0;
}

/* Steps are counted from 1970, and so the frames of a second. */
static gboolean find_origin(AstroRecordWriter *w, GError **error)
{
  const AstroObservation *o = w->observation;
  const guint64 rate = (guint64)w->stream.rate_n;
  const guint64 days = (guint64)MAX(o->start_mjd - MJD_1970, 0);
  const guint64 second = days * SECONDS_A_DAY + o->start_ns / NS_A_SECOND;
  const unsigned __int128 into = (unsigned __int128)(o->start_ns % NS_A_SECOND) * rate;
  const guint64 step = (guint64)((into + NS_A_SECOND / 2) / NS_A_SECOND);
  const guint64 back = (guint64)((unsigned __int128)step * NS_A_SECOND / rate);
  const guint64 start = o->start_ns % NS_A_SECOND;
  guint64 seconds;
  guint epoch;
  g_autofree char *told = astro_observation_tell_time(o, 0);
  w->origin = second * rate + step;
  if (!astro_vdif_find_epoch((gint64)second, &epoch, &seconds))
    return astro_record_refuse(
        error, "the samples begin at %s, and VDIF counts time from 2000 to 2065", told);
  if ((back > start ? back - start : start - back) <= 1)
    return TRUE;
  return astro_record_refuse(error,
                             "the samples begin at %s, between two of the %d steps of a second, "
                             "which VDIF counts from whole seconds",
                             told, w->stream.rate_n);
}

static gboolean begin(AstroRecordWriter *w, GError **error)
{
  if (w->channels & (w->channels - 1))
    return astro_record_refuse(error,
                               "the stream has %" G_GUINT64_FORMAT " channels, and VDIF has a "
                               "power of two: astroselect channels=... leaves some out",
                               w->channels);
  if (w->channels > (guint64)1 << ASTRO_VDIF_MOST_LOG_CHANNELS || w->stations > MOST_STATIONS ||
      w->pols > MOST_THREADS)
    return astro_record_refuse(error,
                               "the stream has %" G_GUINT64_FORMAT " stations, %" G_GUINT64_FORMAT
                               " polarisations and %" G_GUINT64_FORMAT " channels, and VDIF has "
                               "at most 65536, 1024 and 65536",
                               w->stations, w->pols, w->channels);
  if (w->stream.rate_d != 1)
    return astro_record_refuse(error,
                               "the stream has %d/%d steps a second, and VDIF has a whole number",
                               w->stream.rate_n, w->stream.rate_d);
  if (!find_origin(w, error))
    return FALSE;
  w->grain = find_frame(w);
  if (w->grain == 0 && w->settings.group) {
    w->settings.group =
        0; /* no such frame fits: good samples in frames with lost ones are counted */
    w->grain = find_frame(w);
  }
  if (w->grain == 0)
    return astro_record_refuse(
        error,
        "no VDIF frame of up to %u bytes has whole units of 8 bytes and divides a second of %d "
        "steps of %" G_GUINT64_FORMAT " bits: choose other bits, or fewer channels",
        MOST_BYTES, w->stream.rate_n, step_bits(w));
  w->block.steps = astro_record_block_steps(w, BLOCK);
  w->block.steps = (w->block.steps + w->grain - 1) / w->grain * w->grain;
  w->room = g_malloc(ASTRO_VDIF_HEADER + payload(w, w->grain));
  return TRUE;
}

static guint64 bytes(const AstroRecordWriter *w, guint64 steps)
{
  return steps / w->grain * w->stations * w->pols * (ASTRO_VDIF_HEADER + payload(w, w->grain));
}

/* Levels become offset binary, the first in the lowest bits. */
/* Vectors at any place in memory. */
#define VECTOR 16
typedef guint8 Bytes __attribute__((vector_size(VECTOR), may_alias, aligned(1)));

/* Turns the highest bit of numbers of one or two bytes. */
static void turn(guint8 *to, const guint8 *levels, gsize bytes, guint8 even)
{
  const Bytes turned = { even, 0x80, even, 0x80, even, 0x80, even, 0x80,
                         even, 0x80, even, 0x80, even, 0x80, even, 0x80 };
  gsize i = 0;
  for (; i + VECTOR <= bytes; i += VECTOR)
    *(Bytes *)(to + i) = *(const Bytes *)(levels + i) ^ turned;
  for (; i < bytes; i++)
    to[i] = levels[i] ^ turned[i % 2];
}

static void pack_bytes(guint8 *restrict to, const guint8 *restrict levels, gsize n)
{
  turn(to, levels, n, 0x80);
}

static void pack_words(guint8 *restrict to, const guint8 *restrict levels, gsize n)
{
  turn(to, levels, 2 * n, 0);
}

static void pack_fours(guint8 *restrict to, const guint8 *restrict levels, gsize n)
{
  for (gsize i = 0; i < n / 2; i++)
    to[i] = (guint8)((levels[2 * i] & 15) | levels[2 * i + 1] << 4) ^ 0x88;
}

static void pack_twos(guint8 *restrict to, const guint8 *restrict levels, gsize n)
{
  for (gsize i = 0; i < n / 4; i++, levels += 4)
    to[i] =
        (guint8)((levels[0] & 3) | (levels[1] & 3) << 2 | (levels[2] & 3) << 4 | levels[3] << 6) ^
        0xaa;
}

static void pack_ones(guint8 *restrict to, const guint8 *restrict levels, gsize n)
{
  for (gsize i = 0; i < n / 8; i++, levels += 8) {
    guint8 byte = 0;
    for (guint b = 0; b < 8; b++)
      byte |= (guint8)((levels[b] & 1) << b);
    to[i] = byte ^ 0xff;
  }
}

static void pack(guint bits, guint8 *to, const guint8 *levels, gsize n)
{
  static void (*const packs[])(guint8 *restrict, const guint8 *restrict, gsize) = {
    [1] = pack_ones, [2] = pack_twos, [4] = pack_fours, [8] = pack_bytes, [16] = pack_words
  };
  packs[bits](to, levels, n);
}

static gboolean write_frame(AstroRecordWriter *w, guint64 step, guint64 station, guint64 pol,
                            GError **error)
{
  const AstroRecordBlock *block = &w->block;
  const guint64 rate = (guint64)w->stream.rate_n;
  const guint64 since = w->origin + (guint64)block->first + step; /* wraps back above 0 */
  const guint64 n = w->grain * w->channels;
  const guint64 first = station * block->strides[ASTRO_AXIS_STATION] +
                        pol * block->strides[ASTRO_AXIS_POL] + step * w->channels;
  guint8 *frame = w->room;
  const AstroVdif vdif = {
    .is_valid = astro_record_block_is_good(block, first, n),
    .is_complex = w->components == 2,
    .bits = w->bits,
    .log_channels = (guint)g_bit_storage(w->channels) - 1,
    .station = (guint)station,
    .thread = (guint)pol,
    .second = (gint64)(since / rate),
    .frame = since % rate / w->grain,
    .rate = rate % ((guint64)1000 * (3 - w->components)) ? 0 : rate,
    .header = ASTRO_VDIF_HEADER,
    .bytes = ASTRO_VDIF_HEADER + payload(w, w->grain),
  };
  if (!astro_vdif_write(&vdif, frame, error))
    return FALSE;
  for (guint64 i = first; !vdif.is_valid && i < first + n; i++)
    w->file.spoilt += block->good[i];
  pack(w->bits, frame + ASTRO_VDIF_HEADER, block->levels + first * w->sample_bytes,
       n * w->components);
  return astro_part_file_write(w->part, frame, vdif.bytes, error);
}

static gboolean write_block(AstroRecordWriter *w, GError **error)
{
  for (guint64 step = 0; step < w->block.filled; step += w->grain)
    for (guint64 station = 0; station < w->stations; station++)
      for (guint64 pol = 0; pol < w->pols; pol++)
        if (!write_frame(w, step, station, pol, error))
          return FALSE;
  return TRUE;
}

static gboolean nothing(AstroRecordWriter *w, GError **error)
{
  (void)w;
  (void)error;
  return TRUE;
}

const AstroRecordKind astro_record_vdif = {
  .name = "vdif",
  .losses = "in frames that are marked as invalid",
  .marks = TRUE,
  .bits = { 1, 2, 4, 8, 16 },
  .takes_real = TRUE,
  .takes_stations = TRUE,
  .order = { ASTRO_AXIS_STATION, ASTRO_AXIS_POL, ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL },
  .begin = begin,
  .bytes = bytes,
  .open = nothing,
  .write = write_block,
  .close = nothing,
};
