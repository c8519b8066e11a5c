/* DADA: a header of lines, of HDR_SIZE bytes, and the samples behind it up to the end of the file.
 *
 * UTC_START is when the first file began; OBS_OFFSET has how many bytes of samples came before this
 * file. ORDER names the axes, slowest first (T time, F frequency, P polarisation, S or A station);
 * without it time is slowest, then polarisations, then channels. With two T, as TAFTP, the samples
 * lie as heaps of a network: the second T is the steps of a heap, and RESOLUTION the bytes of all
 * heaps of the same time. */
#include "config.h"
#include "core/recorders/keywords.h"
#include "core/recorders/recording.h"

#include "core/kit/angle.h"
#include "core/stream/typed.h"

#include <math.h>
#include <string.h>

#define HEADER 4096
#define MOST_HEADER (1u << 24)
#define MOST_CHANNELS (1u << 24)
#define MOST_HEAP ((guint64)1 << 40)
#define FLOAT_BITS 32
#define MHZ 1e6
#define MJD_1970 40587
#define MOST_DAY 100000
#define PS_A_SECOND ((guint64)1000000000000)
#define MOST_DIGITS 20 /* of a fraction of a day that are read */
#define NS_A_DAY (86400 * (gint64)GST_SECOND)

static gboolean probe(const guint8 *bytes, gsize n)
{
  g_autofree char *text = g_strndup((const char *)bytes, MIN(n, HEADER));
  return strlen(text) < n && strstr(text, "HDR_SIZE") && strstr(text, "NBIT");
}

static gboolean read_header(AstroRecorderFile *file, AstroRecorderKeywords *keywords,
                            guint64 *header, GError **error)
{
  gsize got;
  const guint8 *bytes = astro_recorder_file_bytes(file, 0, HEADER, &got, error);
  if (!bytes)
    return FALSE;
  astro_recorder_keywords_from_lines(keywords, file->name, bytes, got);
  if (!astro_recorder_keyword_whole(keywords, "HDR_SIZE", MOST_HEADER, header, error))
    return FALSE;
  if (*header == 0)
    *header = HEADER;
  if (*header > file->size)
    return astro_recorder_fail(error, FORMAT,
                               "%s: HDR_SIZE is %" G_GUINT64_FORMAT
                               ", but the file has only %" G_GUINT64_FORMAT " bytes",
                               file->name, *header, file->size);
  if (*header <= HEADER)
    return TRUE;
  astro_recorder_keywords_clear(keywords);
  bytes = astro_recorder_file_bytes(file, 0, *header, &got, error);
  if (!bytes)
    return FALSE;
  astro_recorder_keywords_from_lines(keywords, file->name, bytes, got);
  return TRUE;
}

/* ---- what one header says of all files ---- */

static AstroRecorderCode code_of(guint bits, AstroRecorderNumbers numbers)
{
  const gboolean is_offset =
      numbers == ASTRO_RECORDER_NUMBERS_OFFSET || numbers == ASTRO_RECORDER_NUMBERS_OFFSET_HIGH;
  if (bits == FLOAT_BITS)
    return ASTRO_RECORDER_FLOAT;
  if (bits <= 2)
    return is_offset ? ASTRO_RECORDER_LEVELS : ASTRO_RECORDER_SIGNS;
  return is_offset ? ASTRO_RECORDER_OFFSET : ASTRO_RECORDER_SIGNED;
}

static gboolean check_bits(const AstroRecording *recording, const char *name, GError **error)
{
  const guint bits = recording->packing.bits;
  if (bits != 1 && bits != 2 && bits != 4 && bits != 8 && bits != 16 && bits != FLOAT_BITS)
    return astro_recorder_fail(
        error, FORMAT, "%s: NBIT is %u, expected 1, 2, 4, 8, 16 or 32 (floats)", name, bits);
  return bits >= 8 || recording->settings->numbers != ASTRO_RECORDER_NUMBERS_AUTO ||
         astro_recorder_fail(error, SETTINGS,
                             "%s: NBIT is %u, and DADA does not say how such samples are packed: "
                             "set numbers to offset, offset-high, signed or signed-high",
                             name, bits);
}

/* Some headers say more of numbers than most. */
static gboolean check_numbers(const AstroRecording *recording,
                              const AstroRecorderKeywords *keywords, GError **error)
{
  const char *endian = astro_recorder_keyword(keywords, "ENDIAN"),
             *encoding = astro_recorder_keyword(keywords, "ENCODING");
  if (endian && g_ascii_strncasecmp(endian, "BIG", 3) == 0 && recording->packing.bits > 8)
    return astro_recorder_fail(error, FORMAT,
                               "%s: ENDIAN is %s, expected numbers whose lowest byte comes first",
                               keywords->file, endian);
  if (encoding && g_ascii_strncasecmp(encoding, "OFFSET", 6) == 0 &&
      recording->settings->numbers == ASTRO_RECORDER_NUMBERS_AUTO)
    return astro_recorder_fail(error, SETTINGS, "%s: ENCODING is %s: set numbers=offset",
                               keywords->file, encoding);
  return TRUE;
}

/* States of detected samples, as DSPSR calls them. */
static const char *const detected[] = { "Intensity", "NthPower",  "PP",     "QQ",
                                        "Coherence", "Invariant", "Stokes", "PseudoStokes" };

static gboolean check_state(const AstroRecorderKeywords *keywords, GError **error)
{
  const char *state = astro_recorder_keyword(keywords, "STATE");
  for (guint i = 0; state && i < G_N_ELEMENTS(detected); i++)
    if (g_ascii_strncasecmp(state, detected[i], strlen(detected[i])) == 0)
      return astro_recorder_fail(error, FORMAT,
                                 "%s: STATE is %s, which is detected power: expected voltages "
                                 "(Nyquist or Analytic)",
                                 keywords->file, state);
  return TRUE;
}

static gboolean read_packing(AstroRecording *recording, const AstroRecorderKeywords *keywords,
                             GError **error)
{
  guint64 bits, parts;
  guint agreed;
  g_autofree char *where = g_strdup_printf("%s: NBIT", keywords->file);
  if (!astro_recorder_keyword_whole(keywords, "NBIT", FLOAT_BITS, &bits, error) ||
      !astro_recorder_keyword_whole(keywords, "NDIM", 2, &parts, error) ||
      !astro_recording_need(recording, "bits", where, bits, recording->settings->bits, &agreed,
                            error))
    return FALSE;
  recording->packing = (AstroRecorderPacking){
    .bits = agreed,
    .is_complex = parts == 2,
    .code = code_of(agreed, recording->settings->numbers),
    .high_first = recording->settings->numbers == ASTRO_RECORDER_NUMBERS_OFFSET_HIGH ||
                  recording->settings->numbers == ASTRO_RECORDER_NUMBERS_SIGNED_HIGH,
  };
  return check_bits(recording, keywords->file, error) && check_numbers(recording, keywords, error);
}

static AstroAxis axis_of(char letter)
{
  switch (letter) {
  case 'T':
    return ASTRO_AXIS_TIME;
  case 'F':
    return ASTRO_AXIS_CHANNEL;
  case 'P':
    return ASTRO_AXIS_POL;
  case 'S':
  case 'A':
    return ASTRO_AXIS_STATION;
  default:
    return ASTRO_AXIS_NONE;
  }
}

/* Axes of length 1 may be anywhere, or missing. */
static gboolean read_order(AstroRecording *recording, const AstroRecorderKeywords *keywords,
                           const guint extents[ASTRO_N_AXES], gboolean *has_heaps, GError **error)
{
  const char *order = astro_recorder_keyword(keywords, "ORDER");
  if (!order)
    order = "TPF";
  const char *time = strrchr(order, 'T');
  AstroLayout all = { 0 };
  *has_heaps = order[0] == 'T' && time > order;
  gboolean is_known = time != NULL;
  for (const char *c = order + *has_heaps; *c && is_known; c++) {
    const AstroAxis axis = axis_of(*c);
    is_known = axis != ASTRO_AXIS_NONE && astro_layout_find(&all, axis) < 0;
    if (!is_known)
      break;
    astro_recorder_add_axis(&all, axis, extents[axis]);
    if (c != time)
      astro_recorder_add_axis(c > time ? &recording->inner : &recording->rows, axis, extents[axis]);
  }
  for (AstroAxis axis = 0; axis < ASTRO_N_AXES; axis++)
    is_known = is_known && (extents[axis] <= 1 || astro_layout_find(&all, axis) >= 0);
  if (!is_known)
    return astro_recorder_fail(error, FORMAT,
                               "%s: ORDER is %s, expected each of T, F and P (and S or A) once, as "
                               "far as there are several, or T also as the first of all for heaps",
                               keywords->file, order);
  recording->frame_rows = (guint)astro_layout_samples(&recording->rows);
  return TRUE;
}

static guint64 step_bits(const AstroRecording *recording)
{
  return astro_layout_samples(&recording->rows) * astro_layout_samples(&recording->inner) *
         recording->packing.bits * (recording->packing.is_complex ? 2 : 1);
}

/* RESOLUTION may also be a larger unit of the recorder's, so the user is told of it. */
static gboolean read_heap(AstroRecording *recording, const AstroRecorderKeywords *keywords,
                          GError **error)
{
  const guint set = recording->settings->heap_steps;
  const guint64 bits = step_bits(recording);
  guint64 bytes;
  guint agreed;
  g_autofree char *where = g_strdup_printf("%s: RESOLUTION", keywords->file);
  if (!astro_recorder_keyword_whole(keywords, "RESOLUTION", MOST_HEAP, &bytes, error))
    return FALSE;
  const guint64 told = bytes * 8 % bits ? 0 : bytes * 8 / bits;
  if (!astro_recording_need(recording, "heap-steps", where, MIN(told, G_MAXINT), set, &agreed,
                            error))
    return FALSE;
  recording->heap = agreed;
  if (set == 0)
    astro_recording_add_note(recording,
                             "%s: ORDER has heaps, which are taken as %u steps long by RESOLUTION: "
                             "set heap-steps if they are not",
                             keywords->file, agreed);
  return TRUE;
}

static gboolean read_axes(AstroRecording *recording, const AstroRecorderKeywords *keywords,
                          GError **error)
{
  guint64 channels, pols, stations;
  guint agreed;
  gboolean has_heaps;
  g_autofree char *where = g_strdup_printf("%s: NCHAN", keywords->file);
  if (!astro_recorder_keyword_whole(keywords, "NCHAN", MOST_CHANNELS, &channels, error) ||
      !astro_recorder_keyword_whole(keywords, "NPOL", 2, &pols, error) ||
      !astro_recorder_keyword_whole(keywords, "NANT", G_MAXUINT16, &stations, error) ||
      !astro_recording_need(recording, "channels", where, channels, recording->settings->channels,
                            &agreed, error))
    return FALSE;
  const guint extents[ASTRO_N_AXES] = {
    [ASTRO_AXIS_CHANNEL] = agreed,
    [ASTRO_AXIS_POL] = (guint)MAX(pols, 1),
    [ASTRO_AXIS_STATION] = (guint)MAX(stations, 1),
  };
  return read_order(recording, keywords, extents, &has_heaps, error) &&
         (!has_heaps || read_heap(recording, keywords, error));
}

/* FREQ and BW are in MHz, TSAMP in us. */
static gboolean read_band(AstroRecording *recording, const AstroRecorderKeywords *keywords,
                          GError **error)
{
  double frequency, bandwidth, interval;
  g_autofree char *where = g_strdup_printf("%s: TSAMP", keywords->file);
  if (!astro_recorder_keyword_number(keywords, "FREQ", 0, 1e7, &frequency, error) ||
      !astro_recorder_keyword_number(keywords, "BW", -1e6, 1e6, &bandwidth, error) ||
      !astro_recorder_keyword_number(keywords, "TSAMP", 0, 1e9, &interval, error))
    return FALSE;
  recording->frequency = frequency * MHZ;
  recording->bandwidth = bandwidth * MHZ;
  recording->rate = interval > 0 ? 1e6 / interval : 0;
  return astro_recording_settle_rate(recording, where, error);
}

/* How much the last digit behind a point is worth; 1 without a point. */
static double last_digit(const char *text)
{
  const char *point = strchr(text, '.');
  return point ? pow(10, -(double)strspn(point + 1, "0123456789")) : 1;
}

/* The fraction of a day, to more digits than a double has. */
static gboolean read_day(const char *text, gint64 *ns)
{
  char *end;
  const guint64 day = g_ascii_strtoull(text, &end, 10);
  unsigned __int128 fraction = 0, one = 1;
  if (end == text || day > MOST_DAY || (*end && *end != '.'))
    return FALSE;
  const char *digit = *end ? end + 1 : end;
  for (guint i = 0; g_ascii_isdigit(*digit); digit++, i++)
    if (i < MOST_DIGITS) {
      fraction = fraction * 10 + (guint)(*digit - '0');
      one *= 10;
    }
  *ns = ((gint64)day - MJD_1970) * NS_A_DAY + (gint64)((fraction * NS_A_DAY + one / 2) / one);
  return *digit == 0;
}

/* 2013-07-02-01:37:40[.fraction], or with a T. */
static gboolean read_utc(const char *text, gint64 *ns)
{
  g_autofree char *iso = g_strdup(text);
  if (strlen(iso) > 10 && iso[10] == '-')
    iso[10] = 'T';
  return strlen(iso) > 10 && iso[10] == 'T' && astro_time_parse(iso, ns);
}

/* PICOSECONDS are those after a UTC_START of whole seconds. */
static gboolean read_picoseconds(const AstroRecorderKeywords *keywords, gint64 *ns, double *digit,
                                 GError **error)
{
  guint64 picoseconds;
  if (!astro_recorder_keyword_whole(keywords, "PICOSECONDS", PS_A_SECOND - 1, &picoseconds, error))
    return FALSE;
  if (!astro_recorder_keyword(keywords, "PICOSECONDS") || *digit < 1)
    return TRUE;
  *ns += (gint64)(picoseconds + 500) / 1000;
  *digit = 1 / (double)PS_A_SECOND;
  return TRUE;
}

/* UTC_START, or MJD_START where that has more digits. */
static gboolean read_start(const AstroRecorderKeywords *keywords, gboolean *has_start, gint64 *ns,
                           GError **error)
{
  const char *utc = astro_recorder_keyword(keywords, "UTC_START"),
             *mjd = astro_recorder_keyword(keywords, "MJD_START");
  gint64 by_day = 0;
  double digit = utc ? last_digit(utc) : 1;
  *has_start = utc || mjd;
  if (utc && !read_utc(utc, ns))
    return astro_recorder_fail(error, FORMAT,
                               "%s: UTC_START is \"%s\", expected 2026-11-20-12:00:00[.fraction]",
                               keywords->file, utc);
  if (utc && !read_picoseconds(keywords, ns, &digit, error))
    return FALSE;
  if (mjd && !read_day(mjd, &by_day))
    return astro_recorder_fail(error, FORMAT, "%s: MJD_START is \"%s\", expected a day as 61364.5",
                               keywords->file, mjd);
  if (!mjd)
    return TRUE;
  if (!utc) {
    *ns = by_day;
    return TRUE;
  }
  const double of_utc = digit * 1e9, of_day = last_digit(mjd) * (double)NS_A_DAY;
  if (fabs((double)(by_day - *ns)) > of_utc + of_day + 1)
    return astro_recorder_fail(error, FORMAT,
                               "%s: UTC_START is %s, but MJD_START is %s, which is %g s later",
                               keywords->file, utc, mjd, (double)(by_day - *ns) / 1e9);
  if (of_day < of_utc)
    *ns = by_day;
  return TRUE;
}

static void read_about(AstroRecording *recording, const AstroRecorderKeywords *keywords)
{
  const char *ra = astro_recorder_keyword(keywords, "RA");
  const char *dec = astro_recorder_keyword(keywords, "DEC");
  recording->telescope = g_strdup(astro_recorder_keyword(keywords, "TELESCOPE"));
  recording->has_centre = ra && dec && astro_angles_parse(ra, dec, &recording->ra, &recording->dec);
}

static gboolean read_common(AstroRecording *recording, const AstroRecorderKeywords *keywords,
                            GError **error)
{
  read_about(recording, keywords);
  return check_state(keywords, error) && read_packing(recording, keywords, error) &&
         read_axes(recording, keywords, error) && read_band(recording, keywords, error);
}

/* ---- each file ---- */

/* RESOLUTION, the last, matters for heaps only. */
static const char *const same[] = { "NBIT",  "NDIM", "NPOL", "NCHAN", "NANT",
                                    "TSAMP", "FREQ", "BW",   "ORDER", "RESOLUTION" };

static gboolean check_same(const AstroRecording *recording, const AstroRecorderKeywords *first,
                           const AstroRecorderKeywords *other, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS(same) - (recording->heap == 0); i++) {
    const char *a = astro_recorder_keyword(first, same[i]),
               *b = astro_recorder_keyword(other, same[i]);
    if (g_strcmp0(a, b) != 0)
      return astro_recorder_fail(
          error, FORMAT, "%s: %s is %s, but %s in %s: expected files of one recording", other->file,
          same[i], b ? b : "missing", a ? a : "missing", first->file);
  }
  return TRUE;
}

/* Adds a file; start: the time of its step 0, from which OBS_OFFSET counts. */
static gboolean add_file(AstroRecording *recording, guint number,
                         const AstroRecorderKeywords *keywords, guint64 header, gint64 after,
                         GError **error)
{
  AstroRecorderFile *file = astro_recording_file(recording, number);
  const guint64 bits = step_bits(recording), heap = MAX(recording->heap, 1);
  guint64 offset, overlap, told;
  if (!astro_recorder_keyword_whole(keywords, "OBS_OFFSET", G_MAXINT64 / 8, &offset, error) ||
      !astro_recorder_keyword_whole(keywords, "OBS_OVERLAP", G_MAXINT64 / 8, &overlap, error) ||
      !astro_recorder_keyword_whole(keywords, "FILE_SIZE", G_MAXINT64 / 8, &told, error))
    return FALSE;
  if (offset * 8 % bits)
    return astro_recorder_fail(error, FORMAT,
                               "%s: OBS_OFFSET is %" G_GUINT64_FORMAT
                               " bytes, which are not whole steps of %" G_GUINT64_FORMAT " bits",
                               file->name, offset, bits);
  const guint64 steps = (file->size - header) * 8 / bits / heap * heap;
  recording->overlap = MAX(recording->overlap, overlap * 8 / bits);
  if (told > file->size - header)
    astro_recording_add_note(recording,
                             "%s is cut short: it has %" G_GUINT64_FORMAT
                             " bytes of samples, and FILE_SIZE is %" G_GUINT64_FORMAT,
                             file->name, file->size - header, told);
  if (heap > 1 && (file->size - header) * 8 != steps * bits)
    astro_recording_add_note(recording, "%s ends in the middle of heaps, which are left out",
                             file->name);
  if (steps == 0)
    return TRUE;
  const AstroRecorderFrame frame = {
    .file = number,
    .at = header,
    .end = file->size,
    .begin = after + (gint64)(offset * 8 / bits),
    .steps = steps,
    .stored = steps,
    .is_valid = TRUE,
  };
  g_array_append_val(recording->index, frame);
  return TRUE;
}

/* How many steps after the first header's UTC_START another one's is. */
static gboolean steps_between(const AstroRecording *recording, const char *name, gint64 ns,
                              gint64 *steps, GError **error)
{
  const double exact = (double)ns * recording->rate_n / recording->rate_d / (double)GST_SECOND;
  const gboolean is_near = fabs(exact) < 0x1p60;
  *steps = is_near ? llrint(exact) : 0;
  return (is_near && fabs(exact - (double)*steps) < 0.1) ||
         astro_recorder_fail(error, FORMAT,
                             "%s: UTC_START is %.12g steps from that of the first file, expected a "
                             "whole number: files of one recording",
                             name, exact);
}

static gboolean open_all(AstroRecording *recording, GError **error)
{
  g_auto(AstroRecorderKeywords) first = { 0 };
  gint64 start = 0;
  recording->index = g_array_new(FALSE, FALSE, sizeof(AstroRecorderFrame));
  for (guint i = 0; i < recording->files->len; i++) {
    g_auto(AstroRecorderKeywords) keywords = { 0 };
    guint64 header;
    gint64 ns = 0, after = 0;
    gboolean has_start;
    if (!read_header(astro_recording_file(recording, i), &keywords, &header, error) ||
        !read_start(&keywords, &has_start, &ns, error))
      return FALSE;
    if (i == 0) {
      if (!read_common(recording, &keywords, error))
        return FALSE;
      start = ns;
      recording->has_start = has_start;
    } else if (!check_same(recording, &first, &keywords, error) ||
               !steps_between(recording, keywords.file, has_start ? ns - start : 0, &after,
                              error)) {
      return FALSE;
    }
    if (!add_file(recording, i, &keywords, header, after, error))
      return FALSE;
    if (i == 0) {
      first = keywords;
      keywords.values = NULL;
    }
  }
  if (!astro_recording_sort(recording, error))
    return FALSE;
  recording->start_ns = start + astro_recording_ns(recording, recording->first);
  return TRUE;
}

const AstroRecorderFormat astro_recorder_dada = {
  .name = { "dada", "PSRDADA: a header of lines, 1 to 16 bits, or floats" },
  .probe = probe,
  .open = open_all,
};
