/* GUPPI raw: blocks, each with a header of FITS cards, of channel:time:polarisation, or with
 * PKTFMT SIMPLE of time:channel:polarisation.
 *
 * The last OVERLAP steps of a block are the first ones of the next. With DIRECTIO headers are
 * filled up to a multiple of 512 bytes. PKTIDX counts packets of PKTSIZE bytes since the start,
 * without those of overlaps. DROPBLK is the fraction of a block's packets that were lost: which
 * ones no header tells, unless it is all of them. NPOL is 4 for two polarisations: real and
 * imaginary parts of each. With NANTS antennas, OBSNCHAN counts the channels of all of them, and
 * those of the first one come first. Recorders of one channel have real samples, of NPOL
 * polarisations; writers of undivided voltages (write-guppi.c) have complex ones, as many as the
 * band is wide. */
#include "config.h"
#include "core/recorders/keywords.h"
#include "core/recorders/recording.h"

#include "core/backend/backend.h"
#include "core/backend/threads.h"

#include <math.h>
#include <string.h>

#define CARD 80
#define MOST_HEADER ((gsize)64 << 10)
#define DIRECT 512 /* bytes that headers are filled up to */
#define MOST_BYTES ((guint64)1 << 40)
#define MHZ 1e6
#define MJD_1970 40587
#define DAY 86400

static gboolean probe(const guint8 *bytes, gsize n)
{
  gboolean has_block = FALSE;
  for (gsize at = 0; at + CARD <= n; at += CARD) {
    const char *card = (const char *)bytes + at;
    if (strncmp(card, "END ", 4) == 0)
      return has_block;
    if (card[8] != '=' || strncmp(card, "SIMPLE ", 7) == 0)
      return FALSE;
    has_block = has_block || strncmp(card, "BLOCSIZE", 8) == 0;
  }
  return FALSE;
}

/* ---- what one header says of all blocks ---- */

typedef struct {
  guint64 overlap; /* steps */
  double start_ns; /* below a second; the rest is in start */
  gint64 start;    /* seconds since 1970 */
  guint spoilt;    /* blocks with some lost packets */
  double lost;     /* steps of these */
} Common;

static gboolean is_simple(const AstroRecorderKeywords *keywords)
{
  return g_strcmp0(astro_recorder_keyword(keywords, "PKTFMT"), "SIMPLE") == 0;
}

/* Parts of one channel: four are complex for sure, two may be those of one polarisation, if samples
 * come no faster than those of a complex band. */
static gboolean has_complex_channel(const AstroRecorderKeywords *keywords, guint64 npol)
{
  double bandwidth = 0, interval = 0;
  if (npol != 2)
    return npol == 4;
  return astro_recorder_keyword_number(keywords, "OBSBW", -1e6, 1e6, &bandwidth, NULL) &&
         astro_recorder_keyword_number(keywords, "TBIN", 0, 1e6, &interval, NULL) &&
         fabs(interval * ABS(bandwidth) * MHZ - 1) <= 1e-6;
}

/* How many antennas there are, and channels of each. */
static gboolean read_antennas(const AstroRecorderKeywords *keywords, guint64 *antennas,
                              guint64 *channels, GError **error)
{
  guint64 all;
  if (!astro_recorder_keyword_whole(keywords, "OBSNCHAN", 1 << 24, &all, error) ||
      !astro_recorder_keyword_whole(keywords, "NANTS", G_MAXUINT16, antennas, error))
    return FALSE;
  *antennas = MAX(*antennas, 1);
  *channels = all / *antennas;
  if (all % *antennas == 0 && (*antennas == 1 || !is_simple(keywords)))
    return TRUE;
  return astro_recorder_fail(error, FORMAT,
                             "%s: OBSNCHAN is %" G_GUINT64_FORMAT ", NANTS %" G_GUINT64_FORMAT
                             "%s: expected as many channels of each antenna, one after another",
                             keywords->file, all, *antennas,
                             is_simple(keywords) ? " and PKTFMT SIMPLE" : "");
}

static gboolean read_shape(AstroRecording *recording, const AstroRecorderKeywords *keywords,
                           GError **error)
{
  guint64 told_bits, told_channels, antennas, npol;
  guint channels, bits;
  g_autofree char *nbits = g_strdup_printf("%s: NBITS", keywords->file);
  g_autofree char *obsnchan = g_strdup_printf("%s: OBSNCHAN", keywords->file);
  if (!astro_recorder_keyword_whole(keywords, "NBITS", 32, &told_bits, error) ||
      !read_antennas(keywords, &antennas, &told_channels, error) ||
      !astro_recorder_keyword_whole(keywords, "NPOL", 4, &npol, error) ||
      !astro_recording_need(recording, "bits", nbits, told_bits, recording->settings->bits, &bits,
                            error) ||
      !astro_recording_need(recording, "channels", obsnchan, told_channels,
                            recording->settings->channels, &channels, error))
    return FALSE;
  const gboolean is_complex = channels > 1 || antennas > 1 || has_complex_channel(keywords, npol);
  const guint64 pols = is_complex ? npol / 2 : npol;
  if (bits != 2 && bits != 4 && bits != 8 && bits != 16)
    return astro_recorder_fail(error, FORMAT, "%s: NBITS is %u, expected 2, 4, 8 or 16",
                               keywords->file, bits);
  if (pols < 1 || pols > 2)
    return astro_recorder_fail(error, FORMAT,
                               "%s: NPOL is %" G_GUINT64_FORMAT
                               ", expected 2 or 4: the parts of one or two polarisations",
                               keywords->file, npol);
  recording->packing = (AstroRecorderPacking){
    .bits = bits,
    .is_complex = is_complex,
    .code = bits == 2 ? ASTRO_RECORDER_FALLING : ASTRO_RECORDER_SIGNED,
    .high_first = TRUE,
  };
  const gboolean by_time = is_simple(keywords);
  if (antennas > 1)
    astro_recorder_add_axis(&recording->rows, ASTRO_AXIS_STATION, antennas);
  astro_recorder_add_axis(by_time ? &recording->inner : &recording->rows, ASTRO_AXIS_CHANNEL,
                          channels);
  astro_recorder_add_axis(&recording->inner, ASTRO_AXIS_POL, pols);
  recording->frame_rows = (guint)astro_layout_samples(&recording->rows);
  return TRUE;
}

/* The width of a channel is its rate, which headers give more exactly than TBIN. */
static gboolean read_band(AstroRecording *recording, const AstroRecorderKeywords *keywords,
                          guint channels, GError **error)
{
  double frequency, bandwidth, interval;
  g_autofree char *where = g_strdup_printf("%s: TBIN", keywords->file);
  if (!astro_recorder_keyword_number(keywords, "OBSFREQ", 0, 1e7, &frequency, error) ||
      !astro_recorder_keyword_number(keywords, "OBSBW", -1e6, 1e6, &bandwidth, error) ||
      !astro_recorder_keyword_number(keywords, "TBIN", 0, 1e6, &interval, error))
    return FALSE;
  recording->frequency = frequency * MHZ;
  recording->bandwidth = bandwidth * MHZ;
  const double of_band = ABS(bandwidth) * MHZ / channels * (recording->packing.is_complex ? 1 : 2);
  recording->rate = interval > 0 ? 1 / interval : of_band;
  if (of_band > 0 && fabs(recording->rate - of_band) <= 1e-6 * of_band)
    recording->rate = of_band;
  return astro_recording_settle_rate(recording, where, error);
}

static gboolean read_start(AstroRecording *recording, const AstroRecorderKeywords *keywords,
                           Common *common, GError **error)
{
  guint64 day, second;
  double fraction;
  if (!astro_recorder_keyword_whole(keywords, "STT_IMJD", 100000, &day, error) ||
      !astro_recorder_keyword_whole(keywords, "STT_SMJD", DAY, &second, error) ||
      !astro_recorder_keyword_number(keywords, "STT_OFFS", 0, 1, &fraction, error))
    return FALSE;
  recording->has_start = day > MJD_1970;
  common->start = ((gint64)day - MJD_1970) * DAY + (gint64)second;
  common->start_ns = fraction * 1e9;
  return TRUE;
}

static void read_about(AstroRecording *recording, const AstroRecorderKeywords *keywords)
{
  const char *basis = astro_recorder_keyword(keywords, "FD_POLN");
  GError *none = NULL;
  recording->telescope = g_strdup(astro_recorder_keyword(keywords, "TELESCOP"));
  if (basis && g_ascii_strncasecmp(basis, "CIRC", 4) == 0)
    recording->basis = g_strdup("circular");
  recording->has_centre =
      astro_recorder_keyword(keywords, "RA") && astro_recorder_keyword(keywords, "DEC") &&
      astro_recorder_keyword_number(keywords, "RA", 0, 360, &recording->ra, &none) &&
      astro_recorder_keyword_number(keywords, "DEC", -90, 90, &recording->dec, &none);
  g_clear_error(&none);
}

static gboolean read_common(AstroRecording *recording, const AstroRecorderKeywords *keywords,
                            Common *common, GError **error)
{
  if (!read_shape(recording, keywords, error))
    return FALSE;
  const gint row = astro_layout_find(&recording->rows, ASTRO_AXIS_CHANNEL);
  const guint channels =
      (guint)(row < 0 ? recording->inner.extents[0] : recording->rows.extents[row]);
  read_about(recording, keywords);
  return read_band(recording, keywords, channels, error) &&
         astro_recorder_keyword_whole(keywords, "OVERLAP", MOST_BYTES, &common->overlap, error) &&
         read_start(recording, keywords, common, error);
}

/* ---- each block ---- */

static guint64 step_bits(const AstroRecording *recording)
{
  return astro_layout_samples(&recording->rows) * astro_layout_samples(&recording->inner) *
         recording->packing.bits * (recording->packing.is_complex ? 2 : 1);
}

/* Reads the header at a place. FALSE without an error: what is left is no whole header. */
static gboolean read_header(AstroRecorderFile *file, guint64 at, AstroRecorderKeywords *keywords,
                            guint64 *samples_at, GError **error)
{
  gsize got;
  guint64 direct;
  const guint8 *bytes = astro_recorder_file_bytes(file, at, MOST_HEADER, &got, error);
  if (!bytes)
    return FALSE;
  const gsize length = astro_recorder_keywords_from_cards(keywords, file->name, bytes, got);
  if (length == 0)
    return FALSE;
  if (!astro_recorder_keyword_whole(keywords, "DIRECTIO", G_MAXINT, &direct, error))
    return FALSE;
  *samples_at = at + (direct ? (length + DIRECT - 1) / DIRECT * DIRECT : length);
  return TRUE;
}

/* Without PKTIDX a block follows the one before. */
static gboolean read_begin(const AstroRecording *recording, const AstroRecorderKeywords *keywords,
                           gint64 follows, gint64 *begin, GError **error)
{
  guint64 packet, bytes;
  *begin = follows;
  if (!astro_recorder_keyword(keywords, "PKTIDX"))
    return TRUE;
  if (!astro_recorder_keyword_whole(keywords, "PKTIDX", G_MAXINT64, &packet, error) ||
      !astro_recorder_keyword_needed(keywords, "PKTSIZE", MOST_BYTES, &bytes, error))
    return FALSE;
  const guint64 bits = step_bits(recording);
  const unsigned __int128 all = (unsigned __int128)packet * bytes * 8;
  if (all % bits || all / bits > G_MAXINT64 / 4)
    return astro_recorder_fail(error, FORMAT,
                               "%s: PKTIDX is %" G_GUINT64_FORMAT " packets of %" G_GUINT64_FORMAT
                               " bytes, which are not whole steps of %" G_GUINT64_FORMAT " bits",
                               keywords->file, packet, bytes, bits);
  *begin = (gint64)(all / bits);
  return TRUE;
}

/* A block without any packet is lost; in others those that are missing cannot be told apart. */
static gboolean read_dropped(const AstroRecorderKeywords *keywords, Common *common,
                             AstroRecorderFrame *frame, GError **error)
{
  double dropped;
  if (!astro_recorder_keyword_number(keywords, "DROPBLK", -G_MAXDOUBLE, G_MAXDOUBLE, &dropped,
                                     error))
    return FALSE;
  frame->is_valid = dropped < 1;
  if (dropped > 0 && dropped < 1) {
    common->spoilt++;
    common->lost += dropped * (double)frame->steps;
  }
  return TRUE;
}

/* A block that the end of the file cuts has only parts of its channels. */
static gboolean add_block(AstroRecording *recording, guint number, guint64 at,
                          const AstroRecorderKeywords *keywords, Common *common, gint64 *follows,
                          guint64 *end, GError **error)
{
  AstroRecorderFile *file = astro_recording_file(recording, number);
  const guint64 bits = step_bits(recording);
  guint64 size;
  if (!astro_recorder_keyword_needed(keywords, "BLOCSIZE", MOST_BYTES, &size, error))
    return FALSE;
  const guint64 steps = size * 8 / bits;
  recording->overlap = common->overlap;
  if (size * 8 % bits || steps <= common->overlap)
    return astro_recorder_fail(error, FORMAT,
                               "%s: BLOCSIZE is %" G_GUINT64_FORMAT
                               ", expected whole steps of %" G_GUINT64_FORMAT
                               " bits, more than OVERLAP=%" G_GUINT64_FORMAT,
                               file->name, size, bits, common->overlap);
  *end = at + size;
  AstroRecorderFrame frame = {
    .file = number,
    .at = at,
    .end = *end,
    .steps = steps,
    .stored = steps,
  };
  if (!read_begin(recording, keywords, *follows, &frame.begin, error) ||
      !read_dropped(keywords, common, &frame, error))
    return FALSE;
  *follows = frame.begin + (gint64)(steps - common->overlap);
  if (*end <= file->size)
    g_array_append_val(recording->index, frame);
  else
    astro_recording_add_note(recording, "%s ends in the middle of a block, which is left out",
                             file->name);
  return TRUE;
}

static const char *const same[] = { "NBITS",   "OBSNCHAN", "NANTS",    "NPOL",
                                    "OVERLAP", "OBSFREQ",  "OBSBW",    "TBIN",
                                    "PKTFMT",  "STT_IMJD", "STT_SMJD", "STT_OFFS" };

static gboolean check_same(const AstroRecorderKeywords *first, const AstroRecorderKeywords *other,
                           GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS(same); i++) {
    const char *a = astro_recorder_keyword(first, same[i]),
               *b = astro_recorder_keyword(other, same[i]);
    if (g_strcmp0(a, b) != 0)
      return astro_recorder_fail(error, FORMAT,
                                 "%s: a block's %s is %s, but %s in the first one of %s: expected "
                                 "blocks of one recording",
                                 other->file, same[i], b ? b : "missing", a ? a : "missing",
                                 first->file);
  }
  return TRUE;
}

static gboolean add_file(AstroRecording *recording, guint number, AstroRecorderKeywords *first,
                         Common *common, gint64 *follows, GError **error)
{
  AstroRecorderFile *file = astro_recording_file(recording, number);
  for (guint64 at = 0; at < file->size;) {
    g_auto(AstroRecorderKeywords) keywords = { 0 };
    guint64 samples_at;
    GError *why = NULL;
    if (!read_header(file, at, &keywords, &samples_at, &why)) {
      if (why) {
        g_propagate_error(error, why);
        return FALSE;
      }
      if (at == 0)
        return astro_recorder_fail(error, FORMAT, "%s: it does not begin with a header of GUPPI",
                                   file->name);
      astro_recording_add_note(recording,
                               "%s: what follows the block that ends at byte %" G_GUINT64_FORMAT
                               " is no header, and is left out",
                               file->name, at);
      return TRUE;
    }
    if (!first->values) {
      if (!read_common(recording, &keywords, common, error))
        return FALSE;
    } else if (!check_same(first, &keywords, error)) {
      return FALSE;
    }
    if (!add_block(recording, number, samples_at, &keywords, common, follows, &at, error))
      return FALSE;
    if (!first->values) {
      *first = keywords;
      keywords.values = NULL;
    }
    if (astro_is_given_up()) {
      g_set_error_literal(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_GIVEN_UP,
                          "the search was given up");
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean open_all(AstroRecording *recording, GError **error)
{
  g_auto(AstroRecorderKeywords) first = { 0 };
  Common common = { 0 };
  gint64 follows = 0;
  recording->index = g_array_new(FALSE, FALSE, sizeof(AstroRecorderFrame));
  for (guint i = 0; i < recording->files->len; i++)
    if (!add_file(recording, i, &first, &common, &follows, error))
      return FALSE;
  if (common.spoilt)
    astro_recording_add_note(recording,
                             "%u of %u blocks lack packets, of %.0f steps of time in all "
                             "(DROPBLK): headers do not tell which, so that these count as good",
                             common.spoilt, recording->index->len, common.lost);
  if (!astro_recording_sort(recording, error))
    return FALSE;
  recording->start_ns = common.start * (gint64)GST_SECOND + llrint(common.start_ns) +
                        astro_recording_ns(recording, recording->first);
  return TRUE;
}

const AstroRecorderFormat astro_recorder_guppi = {
  .name = { "guppi", "GUPPI raw, also of PUPPI, VEGAS and Breakthrough Listen" },
  .probe = probe,
  .open = open_all,
};
