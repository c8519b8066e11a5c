/* SIGPROC filterbank: detected power behind a header of keywords, each a length and a name, and its
 * value; samples are time:IF:channel.
 *
 * A file has one beam: ibeam is its number, of nbeams. Files of different beams become an axis.
 *
 * fch1 is the middle of the first channel and foff the way to the next, both in MHz; most files
 * begin with the highest channel. Numbers have no sign, unless the keyword signed says so, and a
 * scale of their own. What the IFs are no header tells: one is taken as I, and products names
 * several. */
#include "config.h"
#include "core/recorders/recording.h"
#include "core/recorders/sigproc.h"

#include <math.h>
#include <string.h>

#define MOST_HEADER ((gsize)64 << 10)
#define MOST_NAME 80
#define BEGIN "HEADER_START"
#define END "HEADER_END"
#define MHZ 1e6
#define MJD_1970 40587
#define FLOAT_BITS 32

typedef struct {
  const guint8 *bytes;
  gsize n, at;
  const char *file;
} Cursor;

typedef struct {
  gint32 telescope, type, channels, bits, ifs, beams, beam;
  gint8 is_signed;
  double start, interval, first, step, ra, dec;
  gsize bytes; /* of the header */
} Header;

static gboolean read_bytes(Cursor *cursor, gpointer to, gsize n)
{
  if (n > cursor->n - cursor->at)
    return FALSE;
  memcpy(to, cursor->bytes + cursor->at, n);
  cursor->at += n;
  return TRUE;
}

static gboolean read_whole(Cursor *cursor, gint32 *value)
{
  guint32 little;
  if (!read_bytes(cursor, &little, sizeof little))
    return FALSE;
  *value = (gint32)GUINT32_FROM_LE(little);
  return TRUE;
}

static gboolean read_real(Cursor *cursor, double *value)
{
  guint64 little;
  if (!read_bytes(cursor, &little, sizeof little))
    return FALSE;
  little = GUINT64_FROM_LE(little);
  memcpy(value, &little, sizeof *value);
  return isfinite(*value);
}

static gboolean read_name(Cursor *cursor, char name[MOST_NAME + 1])
{
  gint32 length;
  if (!read_whole(cursor, &length) || length < 1 || length > MOST_NAME ||
      !read_bytes(cursor, name, (gsize)length))
    return FALSE;
  name[length] = 0;
  return TRUE;
}

typedef enum { WHOLE, REAL, BYTE, NAME } Kind;

/* Keywords without a place are read past. */
static const struct {
  const char *name;
  Kind kind;
  gssize at;
} known[] = {
  { "telescope_id", WHOLE, G_STRUCT_OFFSET(Header, telescope) },
  { "machine_id", WHOLE, -1 },
  { "data_type", WHOLE, G_STRUCT_OFFSET(Header, type) },
  { "barycentric", WHOLE, -1 },
  { "pulsarcentric", WHOLE, -1 },
  { "nbits", WHOLE, G_STRUCT_OFFSET(Header, bits) },
  { "nsamples", WHOLE, -1 },
  { "nchans", WHOLE, G_STRUCT_OFFSET(Header, channels) },
  { "nifs", WHOLE, G_STRUCT_OFFSET(Header, ifs) },
  { "nbeams", WHOLE, G_STRUCT_OFFSET(Header, beams) },
  { "ibeam", WHOLE, G_STRUCT_OFFSET(Header, beam) },
  { "signed", BYTE, G_STRUCT_OFFSET(Header, is_signed) },
  { "tstart", REAL, G_STRUCT_OFFSET(Header, start) },
  { "tsamp", REAL, G_STRUCT_OFFSET(Header, interval) },
  { "fch1", REAL, G_STRUCT_OFFSET(Header, first) },
  { "foff", REAL, G_STRUCT_OFFSET(Header, step) },
  { "src_raj", REAL, G_STRUCT_OFFSET(Header, ra) },
  { "src_dej", REAL, G_STRUCT_OFFSET(Header, dec) },
  { "az_start", REAL, -1 },
  { "za_start", REAL, -1 },
  { "refdm", REAL, -1 },
  { "period", REAL, -1 },
  { "source_name", NAME, -1 },
  { "rawdatafile", NAME, -1 },
};

static gboolean read_value(Cursor *cursor, guint which, Header *header)
{
  union {
    gint32 whole;
    double real;
    gint8 byte;
    char name[MOST_NAME + 1];
  } value;
  const Kind kind = known[which].kind;
  const gboolean is_read = kind == WHOLE  ? read_whole(cursor, &value.whole)
                           : kind == REAL ? read_real(cursor, &value.real)
                           : kind == BYTE ? read_bytes(cursor, &value.byte, 1)
                                          : read_name(cursor, value.name);
  if (is_read && known[which].at >= 0)
    memcpy((guint8 *)header + known[which].at, &value, kind == WHOLE ? 4 : kind == REAL ? 8 : 1);
  return is_read;
}

static gboolean read_keywords(Cursor *cursor, Header *header, GError **error)
{
  char name[MOST_NAME + 1];
  *header = (Header){ .ifs = 1, .beams = 1, .type = 1 };
  while (read_name(cursor, name)) {
    guint which = 0;
    if (strcmp(name, BEGIN) == 0)
      continue;
    if (strcmp(name, END) == 0) {
      header->bytes = cursor->at;
      return TRUE;
    }
    while (which < G_N_ELEMENTS(known) && strcmp(name, known[which].name) != 0)
      which++;
    if (which == G_N_ELEMENTS(known))
      return astro_recorder_fail(error, FORMAT,
                                 "%s: its header has the keyword \"%s\", whose length is not known",
                                 cursor->file, name);
    if (!read_value(cursor, which, header))
      return astro_recorder_fail(error, FORMAT, "%s: its header's %s has no value", cursor->file,
                                 name);
  }
  return astro_recorder_fail(error, FORMAT, "%s: its header of SIGPROC has no end", cursor->file);
}

static gboolean probe(const guint8 *bytes, gsize n)
{
  static const char mark[] = "\x0c\0\0\0" BEGIN;
  return n >= sizeof mark - 1 && memcmp(bytes, mark, sizeof mark - 1) == 0;
}

static gboolean read_header(AstroRecorderFile *file, Header *header, GError **error)
{
  gsize got;
  const guint8 *bytes = astro_recorder_file_bytes(file, 0, MOST_HEADER, &got, error);
  if (!bytes)
    return FALSE;
  if (!probe(bytes, got))
    return astro_recorder_fail(error, FORMAT, "%s: it does not begin with a header of SIGPROC",
                               file->name);
  Cursor cursor = { bytes, got, 0, file->name };
  if (!read_keywords(&cursor, header, error))
    return FALSE;
  const char *wrong = header->type != 1       ? "data_type, expected 1: a filterbank"
                      : header->channels < 1  ? "nchans, expected 1 or more"
                      : header->ifs < 1       ? "nifs, expected 1 or more"
                      : header->interval <= 0 ? "tsamp, expected more than 0"
                      : header->start < 0 || header->start > 1e5 ? "tstart, expected a day (MJD)"
                                                                 : NULL;
  return !wrong ||
         astro_recorder_fail(error, FORMAT, "%s: its header has another %s", file->name, wrong);
}

/* ---- the recording ---- */

static const struct {
  gint32 id;
  const char *name;
} telescopes[] = { { 1, "Arecibo" }, { 2, "Ooty" },     { 3, "Nancay" }, { 4, "Parkes" },
                   { 5, "Jodrell" }, { 6, "GBT" },      { 7, "GMRT" },   { 8, "Effelsberg" },
                   { 20, "CHIME" },  { 64, "MeerKAT" }, { 65, "KAT-7" } };

const char *astro_sigproc_telescope(gint32 id)
{
  for (guint i = 0; i < G_N_ELEMENTS(telescopes); i++)
    if (telescopes[i].id == id)
      return telescopes[i].name;
  return NULL;
}

gint32 astro_sigproc_telescope_id(const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS(telescopes); i++)
    if (name && g_ascii_strcasecmp(telescopes[i].name, name) == 0)
      return telescopes[i].id;
  return 0;
}

/* hhmmss.s or ddmmss.s, as degrees or hours. */
static double sixtieths(double packed)
{
  const double whole = fabs(packed), first = floor(whole / 10000),
               second = floor((whole - first * 10000) / 100);
  const double value = first + second / 60 + (whole - first * 10000 - second * 100) / 3600;
  return packed < 0 ? -value : value;
}

static gboolean has_centre(const Header *header)
{
  return header->ra != 0 || header->dec != 0;
}

static gboolean settle_products(AstroRecording *recording, const Header *header, GError **error)
{
  const char *given = recording->settings->products;
  const char *name = astro_recording_file(recording, 0)->name;
  if (!given || !*given) {
    if (header->ifs > 1)
      return astro_recorder_fail(
          error, SETTINGS,
          "%s: nifs is %d, and no header tells what these are: set products, "
          "as XX:YY or I:Q:U:V",
          name, header->ifs);
    given = "I";
  }
  if (!astro_power_products_parse(&recording->products, given, error))
    return FALSE;
  return recording->products.n == (guint)header->ifs ||
         astro_recorder_fail(error, SETTINGS, "%s: nifs is %d, but products=%s are %u", name,
                             header->ifs, given, recording->products.n);
}

static gboolean read_common(AstroRecording *recording, const Header *header, GError **error)
{
  const AstroRecorderSettings *settings = recording->settings;
  const char *name = astro_recording_file(recording, 0)->name;
  guint bits, channels;
  if (!astro_recording_need(recording, "bits", name, (guint64)MAX(header->bits, 0), settings->bits,
                            &bits, error) ||
      !astro_recording_need(recording, "channels", name, (guint64)header->channels,
                            settings->channels, &channels, error) ||
      !settle_products(recording, header, error))
    return FALSE;
  if (bits != 1 && bits != 2 && bits != 4 && bits != 8 && bits != 16 && bits != FLOAT_BITS)
    return astro_recorder_fail(error, FORMAT,
                               "%s: nbits is %u, expected 1, 2, 4, 8, 16 or 32 "
                               "(floats)",
                               name, bits);
  recording->packing = (AstroRecorderPacking){
    .bits = bits,
    .code = bits == FLOAT_BITS  ? ASTRO_RECORDER_FLOAT
            : header->is_signed ? ASTRO_RECORDER_SIGNED
                                : ASTRO_RECORDER_UNSIGNED,
    .is_power = TRUE,
  };
  recording->frame_rows = 1;
  astro_recorder_add_axis(&recording->inner, ASTRO_AXIS_POL, (guint64)header->ifs);
  astro_recorder_add_axis(&recording->inner, ASTRO_AXIS_CHANNEL, channels);
  recording->telescope = g_strdup(astro_sigproc_telescope(header->telescope));
  recording->has_centre = has_centre(header);
  recording->ra = sixtieths(header->ra) * 15;
  recording->dec = sixtieths(header->dec);
  recording->frequency = (header->first + header->step * (channels - 1) / 2) * MHZ;
  recording->bandwidth = header->step * channels * MHZ;
  recording->rate = 1 / header->interval;
  recording->has_start = header->start > MJD_1970;
  return astro_recording_settle_rate(recording, name, error);
}

static gboolean is_same(const Header *a, const Header *b)
{
  return a->bits == b->bits && a->channels == b->channels && a->ifs == b->ifs &&
         a->is_signed == b->is_signed && a->interval == b->interval && a->first == b->first &&
         a->step == b->step;
}

/* ---- beams ---- */

static gint by_number(gconstpointer a, gconstpointer b)
{
  const gint32 one = ((const AstroRecorderBeam *)a)->number,
               other = ((const AstroRecorderBeam *)b)->number;
  return one < other ? -1 : one > other;
}

/* The files of a beam look in one direction. */
static gboolean add_beam(GArray *beams, const Header *header, const char *file, GError **error)
{
  const AstroRecorderBeam new = {
    .number = header->beam,
    .has_centre = has_centre(header),
    .ra = sixtieths(header->ra) * 15,
    .dec = sixtieths(header->dec),
  };
  for (guint i = 0; i < beams->len; i++) {
    const AstroRecorderBeam *beam = &g_array_index(beams, AstroRecorderBeam, i);
    if (beam->number == new.number)
      return (beam->ra == new.ra && beam->dec == new.dec) ||
             astro_recorder_fail(error, FORMAT,
                                 "%s: beam %d looks to another place than in an earlier file: "
                                 "expected files of one recording",
                                 file, new.number);
  }
  g_array_append_val(beams, new);
  return TRUE;
}

/* Several beams are rows in the order of their numbers; a single one is not told apart. */
static gboolean find_beams(AstroRecording *recording, const Header *headers, GError **error)
{
  g_autoptr(GArray) beams = g_array_new(FALSE, FALSE, sizeof(AstroRecorderBeam));
  for (guint i = 0; i < recording->files->len; i++)
    if (!add_beam(beams, headers + i, astro_recording_file(recording, i)->name, error))
      return FALSE;
  if (beams->len == 1)
    return TRUE;
  g_array_sort(beams, by_number);
  astro_recorder_add_axis(&recording->rows, ASTRO_AXIS_BEAM, beams->len);
  recording->beams = g_steal_pointer(&beams);
  return TRUE;
}

static guint row_of(const AstroRecording *recording, const Header *header)
{
  guint row = 0;
  while (recording->beams &&
         g_array_index(recording->beams, AstroRecorderBeam, row).number != header->beam)
    row++;
  return row;
}

/* ---- files ---- */

static gboolean read_headers(AstroRecording *recording, Header *headers, GError **error)
{
  for (guint i = 0; i < recording->files->len; i++) {
    AstroRecorderFile *file = astro_recording_file(recording, i);
    if (!read_header(file, headers + i, error))
      return FALSE;
    if (!is_same(headers, headers + i))
      return astro_recorder_fail(error, FORMAT,
                                 "%s: it has other channels, bits or rate than %s: expected files "
                                 "of one recording",
                                 file->name, astro_recording_file(recording, 0)->name);
  }
  return TRUE;
}

static gboolean add_file(AstroRecording *recording, guint number, const Header *header,
                         double start, GError **error)
{
  AstroRecorderFile *file = astro_recording_file(recording, number);
  const guint64 bits = astro_layout_samples(&recording->inner) * recording->packing.bits;
  const guint64 steps = (file->size - header->bytes) * 8 / bits;
  const double after = (header->start - start) * 86400 * recording->rate;
  if (fabs(after) > 0x1p60)
    return astro_recorder_fail(error, FORMAT, "%s: tstart is %g steps from that of %s", file->name,
                               after, astro_recording_file(recording, 0)->name);
  const AstroRecorderFrame frame = {
    .file = number,
    .at = header->bytes,
    .end = file->size,
    .begin = llrint(after),
    .steps = steps,
    .stored = steps,
    .row = row_of(recording, header),
    .is_valid = TRUE,
  };
  if (steps > 0)
    g_array_append_val(recording->index, frame);
  return TRUE;
}

static gboolean open_all(AstroRecording *recording, GError **error)
{
  const guint n = recording->files->len;
  g_autofree Header *headers = g_new0(Header, n);
  double earliest = G_MAXDOUBLE;
  recording->index = g_array_new(FALSE, FALSE, sizeof(AstroRecorderFrame));
  if (!read_headers(recording, headers, error) || !read_common(recording, headers, error) ||
      !find_beams(recording, headers, error))
    return FALSE;
  for (guint i = 0; i < n; i++) {
    const guint before = recording->index->len;
    if (!add_file(recording, i, headers + i, headers->start, error))
      return FALSE;
    if (recording->index->len > before)
      earliest = MIN(earliest, headers[i].start);
  }
  if (!astro_recording_sort(recording, error))
    return FALSE;
  const double day = floor(earliest);
  recording->start_ns =
      (gint64)(day - MJD_1970) * 86400 * (gint64)GST_SECOND + llrint((earliest - day) * 86400e9);
  return TRUE;
}

const AstroRecorderFormat astro_recorder_sigproc = {
  .name = { "sigproc", "SIGPROC filterbank: detected power of 1 to 16 bits, or floats" },
  .probe = probe,
  .open = open_all,
};
