/* SIGPROC filterbank: detected power of one station or beam in single precision, behind a header of
 * keywords. Samples are time:IF:channel, and the first channel is the highest, as most programs
 * expect. */
#include "config.h"
#include "core/recorders/write-parts.h"

#include "core/recorders/sigproc.h"

#include <math.h>
#include <string.h>

#define BLOCK (1u << 20)
#define MHZ 1e6
#define NS_A_DAY 86400e9

static gboolean begin(AstroRecordWriter *w, GError **error)
{
  if (w->stream.frequency == 0 || w->stream.bandwidth == 0)
    return astro_record_refuse(
        error, "caps have no fields \"frequency\" and \"bandwidth\", which sigproc files record");
  w->block.steps = astro_record_block_steps(w, BLOCK);
  return TRUE;
}

/* ---- the header ---- */

static void put_whole(GString *header, gint32 value)
{
  const gint32 little = GINT32_TO_LE(value);
  g_string_append_len(header, (const char *)&little, sizeof little);
}

static void put_text(GString *header, const char *text)
{
  put_whole(header, (gint32)strlen(text));
  g_string_append(header, text);
}

static void put_number(GString *header, const char *key, gint32 value)
{
  put_text(header, key);
  put_whole(header, value);
}

static void put_real(GString *header, const char *key, double value)
{
  guint64 little;
  memcpy(&little, &value, sizeof little);
  little = GUINT64_TO_LE(little);
  put_text(header, key);
  g_string_append_len(header, (const char *)&little, sizeof little);
}

/* Hours or degrees as hhmmss.s or ddmmss.s; seconds to a millionth, so that none become 60. */
static double packed(double value)
{
  const double seconds = rint(fabs(value) * 3600 * 1e6) / 1e6;
  const double whole = floor(seconds / 3600), minutes = floor((seconds - whole * 3600) / 60);
  const double all = whole * 10000 + minutes * 100 + (seconds - whole * 3600 - minutes * 60);
  return value < 0 ? -all : all;
}

static GString *header_of(const AstroRecordWriter *w)
{
  const AstroStream *s = &w->stream;
  const AstroObservation *o = w->observation;
  const double width = s->bandwidth / (double)w->channels;
  gint32 mjd;
  guint64 ns;
  GString *header = g_string_new(NULL);
  astro_record_time(w, (gint64)w->file.first, &mjd, &ns);
  put_text(header, "HEADER_START");
  put_number(header, "telescope_id", astro_sigproc_telescope_id(o->telescope));
  put_number(header, "machine_id", 0);
  put_number(header, "data_type", 1);
  put_text(header, "source_name");
  put_text(header, "unset");
  if (o->has_phase_centre) {
    put_real(header, "src_raj", packed(o->phase_ra * 12 / G_PI));
    put_real(header, "src_dej", packed(o->phase_dec * 180 / G_PI));
  }
  put_number(header, "nchans", (gint32)w->channels);
  put_number(header, "nifs", (gint32)w->pols);
  put_number(header, "nbits", (gint32)w->bits);
  put_real(header, "tstart", mjd + (double)ns / NS_A_DAY);
  put_real(header, "tsamp", (double)s->rate_d / s->rate_n);
  put_real(header, "fch1", (s->frequency + (s->bandwidth - width) / 2) / MHZ);
  put_real(header, "foff", -width / MHZ);
  put_text(header, "HEADER_END");
  return header;
}

static guint64 bytes(const AstroRecordWriter *w, guint64 steps)
{
  GString *header = header_of(w);
  const gsize length = header->len;
  g_string_free(header, TRUE);
  return length + steps * astro_record_step_bytes(w);
}

/* ---- the file ---- */

static gboolean open_file(AstroRecordWriter *w, GError **error)
{
  GString *header = header_of(w);
  const gboolean ok = astro_part_file_write(w->part, header->str, header->len, error);
  g_string_free(header, TRUE);
  return ok;
}

static void turn(guint32 *row, guint64 n)
{
  for (guint64 i = 0, k = n - 1; i < k; i++, k--) {
    const guint32 other = row[i];
    row[i] = row[k];
    row[k] = other;
  }
}

static gboolean write_block(AstroRecordWriter *w, GError **error)
{
  guint32 *values = (guint32 *)(gpointer)w->block.levels;
  for (guint64 row = 0; row < w->block.filled * w->pols; row++)
    turn(values + row * w->channels, w->channels);
  return astro_part_file_write(w->part, values, w->block.filled * astro_record_step_bytes(w),
                               error);
}

static gboolean close_file(AstroRecordWriter *w, GError **error)
{
  (void)w;
  (void)error;
  return TRUE;
}

const AstroRecordKind astro_record_sigproc = {
  .name = "sigproc",
  .losses = "zeros in the file, since SIGPROC has no mark for them",
  .tells_frequency = TRUE,
  .bits = { 32 },
  .takes_real = TRUE,
  .takes_power = TRUE,
  .order = { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION, ASTRO_AXIS_POL, ASTRO_AXIS_CHANNEL },
  .begin = begin,
  .bytes = bytes,
  .open = open_file,
  .write = write_block,
  .close = close_file,
};
