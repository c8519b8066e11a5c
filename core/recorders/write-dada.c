/* DADA: a text of 4096 bytes, and samples of time:channel:pol. Every file of a recording has the
 * same UTC_START; OBS_OFFSET says how many bytes later it begins. */
#include "config.h"
#include "core/recorders/write-parts.h"

#include <erfa.h>
#include <string.h>

#define HEADER 4096
#define BLOCK (1u << 20)
#define MJD_ZERO 2400000.5
#define NS_A_SECOND G_GUINT64_CONSTANT(1000000000)
#define MHZ 1e6
#define MICROSECONDS 1e6

static gboolean begin(AstroRecordWriter *w, GError **error)
{
  (void)error;
  w->block.steps = astro_record_block_steps(w, BLOCK);
  return TRUE;
}

static guint64 bytes(const AstroRecordWriter *w, guint64 steps)
{
  return HEADER + steps * astro_record_step_bytes(w);
}

static void put(GString *header, const char *key, const char *format, ...) G_GNUC_PRINTF(3, 4);
static void put(GString *header, const char *key, const char *format, ...)
{
  va_list arguments;
  g_string_append_printf(header, "%s ", key);
  va_start(arguments, format);
  g_string_append_vprintf(header, format, arguments);
  va_end(arguments);
  g_string_append_c(header, '\n');
}

static void put_real(GString *header, const char *key, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  put(header, key, "%s", g_ascii_dtostr(text, sizeof text, value));
}

/* Values end at white space. */
static void put_word(GString *header, const char *key, const char *word)
{
  g_autofree char *one = g_strdup(word);
  put(header, key, "%s", g_strdelimit(one, " \t\r\n#", '_'));
}

static void put_time(GString *header, const AstroRecordWriter *w)
{
  const AstroObservation *o = w->observation;
  const guint second = (guint)(o->start_ns / NS_A_SECOND);
  const guint64 ns = o->start_ns % NS_A_SECOND;
  int year, month, day;
  double fraction;
  eraJd2cal(MJD_ZERO, o->start_mjd, &year, &month, &day, &fraction);
  put(header, "UTC_START", "%04d-%02d-%02d-%02u:%02u:%02u", year, month, day, second / 3600,
      second / 60 % 60, second % 60);
  put(header, "PICOSECONDS", "%" G_GUINT64_FORMAT, ns * 1000);
  /* The fraction of a day in units of 1e-16, exact to 9 ps. */
  const unsigned __int128 parts =
      (unsigned __int128)o->start_ns * 10000000000000000u / 86400 / NS_A_SECOND;
  put(header, "MJD_START", "%d.%016" G_GUINT64_FORMAT, o->start_mjd, (guint64)parts);
}

static char *header_of(const AstroRecordWriter *w, guint64 payload)
{
  const AstroStream *s = &w->stream;
  const AstroObservation *o = w->observation;
  const guint64 step = astro_record_step_bytes(w);
  GString *header = g_string_new(NULL);
  put(header, "HEADER", "DADA");
  put(header, "HDR_VERSION", "1.0");
  put(header, "HDR_SIZE", "%d", HEADER);
  put(header, "DADA_VERSION", "1.0");
  put(header, "OBS_ID", "unset");
  put(header, "FILE_NUMBER", "%u", w->n_files - 1);
  put(header, "FILE_SIZE", "%" G_GUINT64_FORMAT, payload);
  put_time(header, w);
  put(header, "OBS_OFFSET", "%" G_GUINT64_FORMAT, w->file.first * step);
  put(header, "OBS_OVERLAP", "0");
  put_word(header, "TELESCOPE", o->telescope ? o->telescope : ASTRO_TELESCOPE_UNKNOWN);
  if (o->n_stations == 1 && o->names[0] && *o->names[0])
    put_word(header, "ANTENNA", o->names[0]);
  put(header, "INSTRUMENT", "gst-astro");
  put(header, "SOURCE", "unset");
  if (s->frequency != 0)
    put_real(header, "FREQ", s->frequency / MHZ);
  if (s->bandwidth > 0)
    put_real(header, "BW", s->bandwidth / MHZ);
  put_real(header, "TSAMP", MICROSECONDS * s->rate_d / s->rate_n);
  put(header, "NBIT", "%u", w->bits);
  put(header, "NDIM", "%u", w->components);
  put(header, "NPOL", "%" G_GUINT64_FORMAT, w->pols);
  put(header, "NCHAN", "%" G_GUINT64_FORMAT, w->channels);
  put(header, "BASIS", "%s", g_strcmp0(o->basis, "circular") == 0 ? "Circular" : "Linear");
  put(header, "RESOLUTION", "%" G_GUINT64_FORMAT, step);
  put(header, "ORDER", "TFP");
  put(header, "BYTES_PER_SECOND", "%" G_GUINT64_FORMAT,
      gst_util_uint64_scale_round(step, (guint64)s->rate_n, (guint64)s->rate_d));
  g_string_append(header, "# end of header\n");
  g_string_set_size(header, HEADER); /* a text of some 700 bytes */
  const gsize length = strlen(header->str);
  memset(header->str + length, 0, HEADER - length);
  return g_string_free(header, FALSE);
}

static gboolean open_file(AstroRecordWriter *w, GError **error)
{
  g_autofree char *header = header_of(w, 0);
  return astro_part_file_write(w->part, header, HEADER, error);
}

static gboolean write_block(AstroRecordWriter *w, GError **error)
{
  return astro_part_file_write(w->part, w->block.levels,
                               w->block.filled * astro_record_step_bytes(w), error);
}

/* The size is known at the end. */
static gboolean close_file(AstroRecordWriter *w, GError **error)
{
  g_autofree char *header = header_of(w, w->file.bytes - HEADER);
  return astro_part_file_patch(w->part, 0, header, HEADER, error);
}

const AstroRecordKind astro_record_dada = {
  .name = "dada",
  .losses = "zeros in the file, since DADA has no mark for them",
  .tells_frequency = TRUE,
  .bits = { 8, 16 },
  .takes_real = TRUE,
  .order = { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION, ASTRO_AXIS_CHANNEL, ASTRO_AXIS_POL },
  .begin = begin,
  .bytes = bytes,
  .open = open_file,
  .write = write_block,
  .close = close_file,
};
