/* Writes folded profiles as the fold mode of PSRFITS, a row a sub-integration.
 *
 * DAT_WTS is the number of good samples that a channel has in the row, of its worst polarisation.
 * PERIOD is that of the stream: what was asked for, or the spin of an ephemeris, whose apparent
 * change the phases follow already; there is no table of predictors. The table HISTORY says whether
 * delays between channels were taken out, so that no program does it again. */
#include "config.h"
#include "core/fits/psrfits/fold.h"
#include "core/fits/psrfits/header-write.h"
#include "core/fits/cards.h"
#include "core/kit/units.h"
#include "core/stream/profile.h"

#include <string.h>

#define MHZ 1e6

typedef struct {
  AstroPartFile *file;
  AstroObservation *observation;
  AstroStream stream;
  AstroProfile profile;
  AstroPsrfitsPols pols;
  const char *pol_type;
  guint order[ASTRO_PSRFITS_MAX_POLS];
  guint channels, bins;
  guint64 rows;
  guint64 history_at, table_at; /* where these headers begin in the file */
  float *weights, *scales, *offsets;
  guint8 *numbers;
  GByteArray *bytes;
} Writer;

static guint64 n_series(const Writer *w)
{
  return (guint64)w->channels * w->pols.products.n;
}

/* ---- headers ---- */

static void put_text(GByteArray *row, const char *text, guint64 length)
{
  const guint at = row->len;
  g_byte_array_set_size(row, (guint)(at + length));
  memset(row->data + at, ' ', length);
  memcpy(row->data + at, text, MIN(strlen(text), length));
}

static void put_whole(GByteArray *row, gint64 value)
{
  const guint32 bits = GUINT32_TO_BE((guint32)(gint32)value);
  g_byte_array_append(row, (const guint8 *)&bits, sizeof bits);
}

/* One row: how the profiles were made. */
static void put_history(const Writer *w, GString *header, GByteArray *row)
{
  static const AstroPsrfitsField fields[] = {
    { "DATE_PRO", 'A', 24, NULL }, { "PROC_CMD", 'A', 80, NULL }, { "SCALE", 'A', 8, NULL },
    { "POL_TYPE", 'A', 8, NULL },  { "NSUB", 'J', 1, NULL },      { "NPOL", 'J', 1, NULL },
    { "NBIN", 'J', 1, NULL },      { "NBIN_PRD", 'J', 1, NULL },  { "TBIN", 'D', 1, "s" },
    { "CTR_FREQ", 'D', 1, "MHz" }, { "NCHAN", 'J', 1, NULL },     { "CHAN_BW", 'D', 1, "MHz" },
    { "PR_CORR", 'J', 1, NULL },   { "FD_CORR", 'J', 1, NULL },   { "BE_CORR", 'J', 1, NULL },
    { "RM_CORR", 'J', 1, NULL },   { "DEDISP", 'J', 1, NULL },    { "DDS_MTHD", 'A', 32, NULL },
    { "SC_MTHD", 'A', 32, NULL },  { "CAL_MTHD", 'A', 32, NULL }, { "CAL_FILE", 'A', 32, NULL },
    { "RFI_MTHD", 'A', 32, NULL },
  };
  const AstroObservation *o = w->observation;
  g_autofree char *start = astro_observation_get_time(o, 0);
  g_autofree char *date = g_strndup(start ? start : "", strlen("2000-01-01T00:00:00"));
  astro_psrfits_put_table(header, "HISTORY", fields, G_N_ELEMENTS(fields), 1);
  put_text(row, date, 24);
  put_text(row, "gst-astro astrofold", 80);
  put_text(row, "", 8);
  put_text(row, w->pol_type, 8);
  put_whole(row, (gint64)w->rows);
  put_whole(row, w->pols.products.n);
  put_whole(row, w->bins);
  put_whole(row, w->bins);
  astro_psrfits_put_double(row, w->profile.period / w->bins);
  astro_psrfits_put_double(row, w->stream.frequency / MHZ);
  put_whole(row, w->channels);
  astro_psrfits_put_double(row, w->stream.bandwidth / w->channels / MHZ);
  for (guint i = 0; i < 4; i++)
    put_whole(row, 0);
  put_whole(row, w->profile.dm > 0);
  put_text(row, w->profile.dm > 0 ? "channels shifted in phase" : "NONE", 32);
  for (guint i = 0; i < 4; i++)
    put_text(row, "NONE", 32);
}

static void put_subint(const Writer *w, GString *header)
{
  const guint64 series = n_series(w);
  const AstroPsrfitsField fields[] = {
    { "TSUBINT", 'D', 1, "s" },
    { "OFFS_SUB", 'D', 1, "s" },
    { "PERIOD", 'D', 1, "s" },
    { "DAT_FREQ", 'D', w->channels, "MHz" },
    { "DAT_WTS", 'E', w->channels, NULL },
    { "DAT_OFFS", 'E', series, NULL },
    { "DAT_SCL", 'E', series, NULL },
    { "DATA", 'I', series * w->bins, NULL },
  };
  g_autofree char *shape = g_strdup_printf("(%u,%u,%u)", w->bins, w->channels, w->pols.products.n);
  astro_psrfits_put_table(header, "SUBINT", fields, G_N_ELEMENTS(fields), w->rows);
  astro_fits_put_string_n(header, "TDIM", G_N_ELEMENTS(fields), shape, "bin,channel,pol");
  astro_fits_put_string(header, "EPOCHS", "MIDTIME", "bin 0 begins a turn; epochs are middles");
  astro_fits_put_string(header, "INT_TYPE", "TIME", "axis of rows");
  astro_fits_put_string(header, "INT_UNIT", "SEC", "its unit");
  astro_fits_put_string(header, "SCALE", "", "unit of intensity");
  astro_fits_put_string(header, "POL_TYPE", w->pol_type, "polarisations");
  astro_fits_put_integer(header, "NPOL", w->pols.products.n, "polarisations");
  astro_fits_put_double(header, "TBIN", w->profile.period / w->bins, "[s] of a bin");
  astro_fits_put_integer(header, "NBIN", w->bins, "bins");
  astro_fits_put_integer(header, "NBIN_PRD", w->bins, "bins of a period");
  astro_fits_put_double(header, "PHS_OFFS", 0, "");
  astro_fits_put_integer(header, "NBITS", 1, "of search mode");
  astro_fits_put_integer(header, "NSUBOFFS", 0, "");
  astro_fits_put_integer(header, "NCHAN", w->channels, "channels");
  astro_fits_put_double(header, "CHAN_BW", w->stream.bandwidth / w->channels / MHZ,
                        "[MHz] from one to the next");
  astro_fits_put_integer(header, "NCHNOFFS", 0, "");
  astro_fits_put_integer(header, "NSBLK", 1, "of search mode");
  astro_fits_put_double(header, "DM", w->profile.dm, "[pc cm-3] taken out between channels");
  astro_fits_put_double(header, "RM", 0, "[rad m-2] none taken out");
}

static gboolean write_headers(Writer *w, GError **error)
{
  const AstroPsrfitsAbout about = { .mode = "PSR",
                                    .observation = w->observation,
                                    .stream = &w->stream,
                                    .is_circular = w->pols.is_circular };
  g_autoptr(GString) primary = g_string_new(NULL), history = g_string_new(NULL),
                     table = g_string_new(NULL);
  g_autoptr(GByteArray) row = g_byte_array_new();
  /* Phases of a fixed period begin with the observation, and so do these times. */
  astro_psrfits_put_primary(primary, &about, 0);
  put_history(w, history, row);
  put_subint(w, table);
  if (!astro_fits_write_cards(w->file, primary, error) ||
      !astro_fits_write_cards(w->file, history, error))
    return FALSE;
  w->history_at = astro_part_file_bytes(w->file);
  if (!astro_part_file_write(w->file, row->data, row->len, error) ||
      !astro_fits_write_padding(w->file, error))
    return FALSE;
  w->table_at = astro_part_file_bytes(w->file);
  return astro_fits_write_cards(w->file, table, error);
}

/* ---- rows ---- */

typedef struct {
  const AstroFitsFrames *frames;
  guint64 frame;
  AstroLayout shape;
  guint64 strides[ASTRO_MAX_AXES];
  AstroValidityAxis counts[ASTRO_MAX_AXES];
} Source;

static guint64 count_offset(const Source *source, AstroAxis axis, guint64 index)
{
  const gint at = astro_layout_find(&source->shape, axis);
  if (at < 0 || source->counts[at].stride == 0)
    return 0;
  return index / source->counts[at].group * source->counts[at].stride;
}

static AstroPsrfitsBins bins_of(const Writer *w, const Source *source, guint p, guint c)
{
  const float *values = source->frames->data;
  const AstroValidityMeta *validity = source->frames->validity;
  const guint64 in_buffer =
      source->frame * astro_layout_stride_of(&source->shape, source->strides, ASTRO_AXIS_TIME) +
      c * astro_layout_stride_of(&source->shape, source->strides, ASTRO_AXIS_CHANNEL) +
      w->order[p] * astro_layout_stride_of(&source->shape, source->strides, ASTRO_AXIS_POL);
  AstroPsrfitsBins bins = {
    .values = values + in_buffer,
    .n = w->bins,
    .stride = astro_layout_stride_of(&source->shape, source->strides, ASTRO_AXIS_PHASE),
    .sign = w->pols.signs[p],
  };
  if (validity && validity->counts) {
    bins.counts = validity->counts + count_offset(source, ASTRO_AXIS_TIME, source->frame) +
                  count_offset(source, ASTRO_AXIS_CHANNEL, c) +
                  count_offset(source, ASTRO_AXIS_POL, w->order[p]);
    const gint phase = astro_layout_find(&source->shape, ASTRO_AXIS_PHASE);
    bins.count_stride = source->counts[phase].stride;
  }
  return bins;
}

/* A channel without any sample in one polarisation has weight 0, for all. */
static void pack_channel(Writer *w, const Source *source, guint c, AstroFitsTally *tally)
{
  guint n_good = 0;
  double least = G_MAXDOUBLE;
  for (guint p = 0; p < w->pols.products.n; p++) {
    const guint64 series = (guint64)p * w->channels + c;
    const AstroPsrfitsBins bins = bins_of(w, source, p, c);
    const AstroPsrfitsProfile made =
        astro_psrfits_pack_bins(&bins, w->numbers + series * w->bins * 2, tally);
    w->scales[series] = made.scale;
    w->offsets[series] = made.offset;
    n_good += made.count > 0;
    least = MIN(least, made.count);
  }
  w->weights[c] = (float)least;
  if (least == 0)
    tally->dropped += (guint64)n_good * w->bins;
}

static gboolean write_row(Writer *w, const Source *source, AstroFitsTally *tally, GError **error)
{
  const AstroFitsFrames *frames = source->frames;
  const double length = (double)frames->duration_ns / (double)frames->frames / ASTRO_NS_PER_SECOND;
  const double begin =
      (double)frames->start_ns / ASTRO_NS_PER_SECOND + length * (double)source->frame;
  for (guint c = 0; c < w->channels; c++)
    pack_channel(w, source, c, tally);
  g_byte_array_set_size(w->bytes, 0);
  astro_psrfits_put_double(w->bytes, length);
  astro_psrfits_put_double(w->bytes, begin + length / 2);
  astro_psrfits_put_double(w->bytes, w->profile.period);
  astro_psrfits_put_frequencies(w->bytes, &w->stream, w->channels);
  astro_psrfits_put_floats(w->bytes, w->weights, w->channels);
  astro_psrfits_put_floats(w->bytes, w->offsets, n_series(w));
  astro_psrfits_put_floats(w->bytes, w->scales, n_series(w));
  g_byte_array_append(w->bytes, w->numbers, (guint)(n_series(w) * w->bins * 2));
  w->rows++;
  return astro_part_file_write(w->file, w->bytes->data, w->bytes->len, error);
}

static gboolean write_frames(gpointer writer, const AstroFitsFrames *frames, AstroFitsTally *tally,
                             GError **error)
{
  Writer *w = writer;
  Source source = { .frames = frames };
  astro_stream_shape(&w->stream, frames->frames, &source.shape);
  astro_layout_strides(&source.shape, source.strides);
  if (frames->validity && frames->validity->counts) {
    if (!astro_validity_check(frames->validity, &source.shape, error))
      return FALSE;
    astro_validity_axes(frames->validity, &source.shape, source.counts);
    const gint phase = astro_layout_find(&source.shape, ASTRO_AXIS_PHASE);
    if (source.counts[phase].stride > 0 && source.counts[phase].group > 1)
      return astro_fits_refuse(error, "counts of good samples are for groups of bins, expected "
                                      "one for each bin or for all");
  }
  for (; source.frame < frames->frames; source.frame++)
    if (!write_row(w, &source, tally, error))
      return FALSE;
  return TRUE;
}

/* ---- the file ---- */

static void destroy(gpointer writer)
{
  Writer *w = writer;
  astro_observation_unref(w->observation);
  g_byte_array_unref(w->bytes);
  g_free(w->weights);
  g_free(w->scales);
  g_free(w->offsets);
  g_free(w->numbers);
  g_free(w);
}

static gpointer create(AstroPartFile *file, const AstroFitsContents *contents, GError **error)
{
  AstroProfile profile;
  AstroStream stream;
  if (!astro_profile_from_caps(&stream, &profile, contents->caps, error) ||
      !astro_psrfits_check(contents, &profile.products, error))
    return NULL;
  Writer *w = g_new0(Writer, 1);
  w->file = file;
  w->stream = stream;
  w->profile = profile;
  w->observation = astro_observation_ref(contents->observation);
  w->pol_type = astro_psrfits_pol_type(&profile.products, w->observation, &w->pols, w->order);
  w->channels = (guint)astro_stream_extent(&stream, ASTRO_AXIS_CHANNEL);
  w->bins = (guint)astro_stream_extent(&stream, ASTRO_AXIS_PHASE);
  w->bytes = g_byte_array_new();
  w->weights = g_new(float, w->channels);
  w->scales = g_new(float, n_series(w));
  w->offsets = g_new(float, n_series(w));
  w->numbers = g_malloc(n_series(w) * w->bins * 2);
  if (write_headers(w, error))
    return w;
  destroy(w);
  return NULL;
}

static gboolean finish(gpointer writer, AstroFitsTally *tally, GError **error)
{
  Writer *w = writer;
  g_autoptr(GString) history = g_string_new(NULL), table = g_string_new(NULL);
  g_autoptr(GByteArray) row = g_byte_array_new();
  (void)tally;
  put_history(w, history, row);
  put_subint(w, table);
  return astro_fits_write_padding(w->file, error) &&
         astro_part_file_patch(w->file, w->history_at, row->data, row->len, error) &&
         astro_part_file_patch(w->file, w->table_at, table->str, table->len, error);
}

const AstroFitsWriterKind astro_psrfits_fold_writer = {
  .name = "PSRFITS in fold mode",
  .quantity = ASTRO_QUANTITY_PROFILE,
  .suffix = ".rf",
  .caps = "application/x-astro-profile",
  .frame = "sub-integration",
  .is_stepped = TRUE,
  .create = create,
  .write = write_frames,
  .finish = finish,
  .destroy = destroy,
};
