/* GUPPI raw: blocks of channel:time:pol, each behind cards of 80 characters. Lost samples are
 * zeros, whose fraction in each block DROPBLK gives; a block without any good sample is one that
 * was dropped as a whole. */
#include "config.h"
#include "core/recorders/write-parts.h"

#include "core/recorders/write-block.h"

#include <math.h>
#include <string.h>

#define BLOCK (1u << 20)
#define CARD 80
#define NS_A_SECOND G_GUINT64_CONSTANT(1000000000)
#define MHZ 1e6
#define CARDS 25 /* of a header, at most */

/* Two parts of one channel are those of two polarisations of real samples, where the bandwidth does
 * not tell that they come as fast as complex ones. */
static gboolean is_told_complex(const AstroRecordWriter *w)
{
  const AstroStream *s = &w->stream;
  return w->channels > 1 || w->pols > 1 || fabs(s->bandwidth * s->rate_d / s->rate_n - 1) <= 1e-6;
}

static gboolean begin(AstroRecordWriter *w, GError **error)
{
  if (!is_told_complex(w))
    return astro_record_refuse(
        error,
        "guppi files of one channel with one polarisation have complex samples only where the "
        "bandwidth is the rate, but the bandwidth is %g and the rate %d/%d: expected them to be "
        "the same, or another format",
        w->stream.bandwidth, w->stream.rate_n, w->stream.rate_d);
  w->block.steps = astro_record_block_steps(w, BLOCK);
  return TRUE;
}

static guint64 bytes(const AstroRecordWriter *w, guint64 steps)
{
  const guint64 blocks = (steps + w->block.steps - 1) / w->block.steps;
  return blocks * CARDS * CARD + steps * astro_record_step_bytes(w);
}

static void put_card(GString *cards, const char *key, const char *value)
{
  const gsize before = cards->len;
  g_string_append_printf(cards, "%-8s= %s", key, value);
  g_string_truncate(cards, MIN(cards->len, before + CARD));
  while (cards->len < before + CARD)
    g_string_append_c(cards, ' ');
}

static void put_whole(GString *cards, const char *key, guint64 value)
{
  char text[32];
  g_snprintf(text, sizeof text, "%20" G_GUINT64_FORMAT, value);
  put_card(cards, key, text);
}

static void put_real(GString *cards, const char *key, double value)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE], text[G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_dtostr(number, sizeof number, value);
  /* Readers of cards take a number without point for a whole one. */
  g_snprintf(text, sizeof text, strpbrk(number, ".en") ? "%20s" : "%18s.0", number);
  put_card(cards, key, text);
}

static void put_text(GString *cards, const char *key, const char *value)
{
  g_autofree char *plain = g_str_to_ascii(value, "C");
  g_autofree char *text = g_strdup_printf("'%-8.60s'", g_strdelimit(plain, "'\t\r\n", '_'));
  put_card(cards, key, text);
}

/* Samples of the block that are not good. */
static guint64 n_lost(const AstroRecordWriter *w)
{
  const AstroRecordBlock *block = &w->block;
  guint64 lost = 0;
  for (guint64 c = 0; block->has_loss && c < w->channels; c++) {
    const guint8 *good = block->good + c * block->strides[ASTRO_AXIS_CHANNEL];
    for (guint64 i = 0; i < block->filled * w->pols; i++)
      lost += !good[i];
  }
  return lost;
}

static void put_time(GString *cards, const AstroRecordWriter *w)
{
  const AstroObservation *o = w->observation;
  put_whole(cards, "STT_IMJD", (guint64)o->start_mjd);
  put_whole(cards, "STT_SMJD", o->start_ns / NS_A_SECOND);
  put_real(cards, "STT_OFFS", (double)(o->start_ns % NS_A_SECOND) / 1e9);
}

/* A packet is one step, so that PKTIDX counts the steps since the start. */
static GString *header_of(const AstroRecordWriter *w, guint64 lost)
{
  const AstroStream *s = &w->stream;
  const AstroObservation *o = w->observation;
  const AstroRecordBlock *block = &w->block;
  const guint64 samples = block->filled * w->pols * w->channels;
  const gsize step = astro_record_step_bytes(w);
  GString *cards = g_string_new(NULL);
  put_text(cards, "BACKEND", "GUPPI");
  put_text(cards, "TELESCOP", o->telescope ? o->telescope : ASTRO_TELESCOPE_UNKNOWN);
  put_text(cards, "INSTRUME", "gst-astro");
  put_text(cards, "SRC_NAME", "unset");
  put_whole(cards, "NBITS", w->bits);
  put_whole(cards, "NPOL", 2 * w->pols);
  put_whole(cards, "OBSNCHAN", w->channels);
  if (s->frequency != 0)
    put_real(cards, "OBSFREQ", s->frequency / MHZ);
  if (s->bandwidth > 0) {
    put_real(cards, "OBSBW", s->bandwidth / MHZ);
    put_real(cards, "CHAN_BW", s->bandwidth / MHZ / (double)w->channels);
  }
  put_real(cards, "TBIN", (double)s->rate_d / s->rate_n);
  put_text(cards, "FD_POLN", g_strcmp0(o->basis, "circular") == 0 ? "CIRC" : "LIN");
  put_text(cards, "OBS_MODE", "RAW");
  put_text(cards, "PKTFMT", "1SFA");
  put_whole(cards, "PKTSIZE", step);
  put_whole(cards, "PKTIDX", (guint64)block->first);
  put_whole(cards, "BLOCSIZE", block->filled * step);
  put_whole(cards, "OVERLAP", 0);
  put_whole(cards, "DIRECTIO", 0);
  put_whole(cards, "NDROP", lost / (w->pols * w->channels));
  put_real(cards, "DROPBLK", (double)lost / (double)samples);
  put_time(cards, w);
  const gsize before = cards->len;
  g_string_append(cards, "END");
  while (cards->len < before + CARD)
    g_string_append_c(cards, ' ');
  return cards;
}

static gboolean open_file(AstroRecordWriter *w, GError **error)
{
  (void)w;
  (void)error;
  return TRUE; /* each block has a header */
}

static gboolean write_block(AstroRecordWriter *w, GError **error)
{
  const AstroRecordBlock *block = &w->block;
  const gsize of_channel = block->strides[ASTRO_AXIS_CHANNEL] * w->sample_bytes;
  const gsize row = block->filled * w->pols * w->sample_bytes;
  GString *header = header_of(w, n_lost(w));
  gboolean is_written = astro_part_file_write(w->part, header->str, header->len, error);
  g_string_free(header, TRUE);
  if (row == of_channel)
    return is_written && astro_part_file_write(w->part, block->levels, row * w->channels, error);
  for (guint64 c = 0; is_written && c < w->channels; c++)
    is_written = astro_part_file_write(w->part, block->levels + c * of_channel, row, error);
  return is_written;
}

static gboolean close_file(AstroRecordWriter *w, GError **error)
{
  (void)w;
  (void)error;
  return TRUE;
}

const AstroRecordKind astro_record_guppi = {
  .name = "guppi",
  .losses = "zeros in the file, and each block's DROPBLK says how many they are but not which",
  .tells_frequency = TRUE,
  .bits = { 8, 16 },
  .has_blocks = TRUE,
  .order = { ASTRO_AXIS_STATION, ASTRO_AXIS_CHANNEL, ASTRO_AXIS_TIME, ASTRO_AXIS_POL },
  .begin = begin,
  .bytes = bytes,
  .open = open_file,
  .write = write_block,
  .close = close_file,
};
