/* Writes detected power as the search mode of PSRFITS.
 *
 * A row begins where the one before it ends, or with the first sample after a loss that reaches
 * beyond it. The last row is filled up, and NSTOT tells where samples end. */
#include "config.h"
#include "core/fits/psrfits/header-write.h"
#include "core/fits/psrfits/row.h"
#include "core/fits/cards.h"
#include "core/stream/validity.h"

#include <math.h>
#include <string.h>

#define ROW_BYTES ((guint64)1 << 20)
#define MOST_STEPS 4096
#define MHZ 1e6

typedef struct {
  AstroPartFile *file;
  AstroObservation *observation;
  AstroStream stream;
  AstroPsrfitsPols pols;
  const char *pol_type;
  guint order[ASTRO_PSRFITS_MAX_POLS];
  guint32 full;         /* of the stream's counts; 0: it has none */
  gboolean has_lost;    /* steps are missing, or values are no finite numbers */
  guint64 begin;        /* of the file: its first step */
  guint64 first;        /* of the row that is being filled */
  guint64 rows, stored; /* written: rows, and their steps without those that fill up the last */
  gboolean has_begun;
  AstroPsrfitsRow row;
  AstroPsrfitsLevels levels;
  guint64 table_at; /* where the table's header begins in the file */
  GByteArray *bytes;
} Writer;

/* ---- the table's header ---- */

static guint64 put_subint(const Writer *w, GString *header)
{
  const AstroPsrfitsRow *row = &w->row;
  const guint64 channels = row->channels, series = channels * row->pols;
  const guint64 numbers = series * row->block;
  const AstroObservation *o = w->observation;
  const gboolean has_dm = o->n_dms == 1;
  const AstroPsrfitsField fields[] = {
    { "TSUBINT", 'D', 1, "s" },
    { "OFFS_SUB", 'D', 1, "s" },
    { "DAT_FREQ", 'D', channels, "MHz" },
    { "DAT_WTS", 'E', channels, NULL },
    { "DAT_OFFS", 'E', series, NULL },
    { "DAT_SCL", 'E', series, NULL },
    { "DATA", row->bits == 8 ? 'B' : 'E', numbers, NULL },
  };
  const guint64 bytes =
      astro_psrfits_put_table(header, "SUBINT", fields, G_N_ELEMENTS(fields), w->rows);
  g_autofree char *shape =
      g_strdup_printf("(1,%u,%u,%" G_GUINT64_FORMAT ")", row->channels, row->pols, row->block);
  const gint64 full = w->full ? w->full : w->has_lost ? 1 : 0;
  astro_fits_put_string_n(header, "TDIM", G_N_ELEMENTS(fields), shape, "bin,channel,pol,sample");
  astro_fits_put_string(header, "INT_TYPE", "TIME", "axis of rows");
  astro_fits_put_string(header, "INT_UNIT", "SEC", "its unit");
  astro_fits_put_string(header, "SCALE", "", "unit of intensity");
  astro_fits_put_string(header, "POL_TYPE", w->pol_type, "polarisations");
  astro_fits_put_integer(header, "NPOL", row->pols, "polarisations");
  astro_fits_put_double(header, "TBIN", (double)w->stream.rate_d / w->stream.rate_n,
                        "[s] from one sample to the next");
  astro_fits_put_integer(header, "NBIN", 1, "");
  astro_fits_put_integer(header, "NBIN_PRD", 1, "");
  astro_fits_put_double(header, "PHS_OFFS", 0, "");
  astro_fits_put_integer(header, "NBITS", row->bits, row->bits == 32 ? "floats" : "unsigned");
  astro_fits_put_double(header, "ZERO_OFF", 0, "");
  astro_fits_put_integer(header, "SIGNINT", 0, "unsigned integers");
  astro_fits_put_integer(header, "NSUBOFFS", 0, "rows of files before");
  astro_fits_put_integer(header, "NCHAN", row->channels, "channels");
  astro_fits_put_double(header, "CHAN_BW", w->stream.bandwidth / row->channels / MHZ,
                        "[MHz] from one to the next");
  astro_fits_put_double(header, "DM", has_dm ? o->dms[0] : 0, "[pc cm-3] taken out");
  astro_fits_put_double(header, "REFFREQ", (has_dm ? o->dm_frequency : w->stream.frequency) / MHZ,
                        "[MHz] where that left pulses");
  astro_fits_put_integer(header, "NCHNOFFS", 0, "");
  astro_fits_put_integer(header, "NSBLK", (gint64)row->block, "samples of a row");
  astro_fits_put_integer(header, "NSTOT", (gint64)w->stored, "samples of all rows");
  astro_fits_put_integer(header, ASTRO_PSRFITS_FULL, full, "good samples of weight 1; 0: untold");
  return bytes;
}

static void put_primary(const Writer *w, GString *header)
{
  const AstroPsrfitsAbout about = { .mode = "SEARCH",
                                    .observation = w->observation,
                                    .stream = &w->stream,
                                    .is_circular = w->pols.is_circular };
  astro_psrfits_put_primary(header, &about, astro_stream_time(&w->stream, w->begin));
}

static gboolean write_headers(Writer *w, GError **error)
{
  g_autoptr(GString) primary = g_string_new(NULL), table = g_string_new(NULL);
  put_primary(w, primary);
  put_subint(w, table);
  if (!astro_fits_write_cards(w->file, primary, error))
    return FALSE;
  w->table_at = astro_part_file_bytes(w->file);
  return astro_fits_write_cards(w->file, table, error);
}

/* ---- rows ---- */

static gboolean write_row(Writer *w, AstroFitsTally *tally, GError **error)
{
  const guint64 series = (guint64)w->row.channels * w->row.pols;
  const double tbin = (double)w->stream.rate_d / w->stream.rate_n;
  if (w->rows == 0 && !write_headers(w, error))
    return FALSE;
  astro_psrfits_row_weigh(&w->row, w->levels.weights, tally);
  astro_psrfits_row_level(&w->row, &w->levels);
  g_byte_array_set_size(w->bytes, 0);
  astro_psrfits_put_double(w->bytes, (double)w->row.block * tbin);
  astro_psrfits_put_double(w->bytes,
                           ((double)(w->first - w->begin) + (double)w->row.block / 2) * tbin);
  astro_psrfits_put_frequencies(w->bytes, &w->stream, w->row.channels);
  astro_psrfits_put_floats(w->bytes, w->levels.weights, w->row.channels);
  astro_psrfits_put_floats(w->bytes, w->levels.offsets, series);
  astro_psrfits_put_floats(w->bytes, w->levels.scales, series);
  astro_psrfits_row_pack(&w->row, &w->levels, w->bytes);
  w->rows++;
  w->stored += w->row.steps;
  w->first += w->row.steps;
  astro_psrfits_row_begin(&w->row);
  return astro_part_file_write(w->file, w->bytes->data, w->bytes->len, error);
}

/* Makes room for a step. */
static gboolean go_to(Writer *w, guint64 step, AstroFitsTally *tally, GError **error)
{
  if (!w->has_begun) {
    w->begin = w->first = step;
    w->has_begun = TRUE;
  }
  const guint64 next = w->first + w->row.steps;
  if (step < next)
    return astro_fits_refuse(error,
                             "a buffer begins with step %" G_GUINT64_FORMAT
                             ", where the file already has one: expected %" G_GUINT64_FORMAT
                             " or later. Write each run to a file of its own",
                             step, next);
  if (step > next && w->row.steps > 0 && w->row.steps < w->row.block) {
    w->has_lost = TRUE;
    astro_psrfits_row_skip(&w->row, MIN(step - w->first, w->row.block));
  }
  if (w->row.steps == w->row.block && !write_row(w, tally, error))
    return FALSE;
  if (w->row.steps == 0)
    w->first = step;
  return TRUE;
}

/* ---- samples ---- */

typedef struct {
  const AstroFitsFrames *frames;
  guint64 time, pol, channel; /* strides of the samples */
  AstroValidityAxis counts[ASTRO_MAX_AXES];
  gint axes[3]; /* time, pol, channel in the shape; -1: none */
} Source;

static guint64 count_at(const Source *source, guint64 index, guint axis)
{
  if (source->axes[axis] < 0)
    return 0;
  const AstroValidityAxis *counts = &source->counts[source->axes[axis]];
  return counts->stride ? index / counts->group * counts->stride : 0;
}

static AstroPsrfitsGood good_at(const Source *source, guint64 step, guint p, guint c)
{
  const AstroValidityMeta *validity = source->frames->validity;
  if (!validity || !validity->counts)
    return ASTRO_PSRFITS_WHOLE;
  const guint32 count =
      validity->counts[count_at(source, step, 0) + count_at(source, p, 1) + count_at(source, c, 2)];
  return count == 0               ? ASTRO_PSRFITS_LOST
         : count < validity->full ? ASTRO_PSRFITS_PARTIAL
                                  : ASTRO_PSRFITS_WHOLE;
}

/* Takes the samples of a product. FALSE: one of them is not finite. */
static gboolean take_samples(const float *samples, guint64 stride, float sign, guint n,
                             float *values)
{
  gboolean are_finite = TRUE;
  if (stride == 1)
    for (guint c = 0; c < n; c++)
      values[c] = samples[c] * sign;
  else
    for (guint c = 0; c < n; c++)
      values[c] = samples[c * stride] * sign;
  for (guint c = 0; c < n; c++)
    are_finite &= fabsf(values[c]) <= G_MAXFLOAT;
  return are_finite;
}

static void judge(Writer *w, const Source *source, guint64 step, guint p, guint64 at,
                  AstroFitsTally *tally)
{
  for (guint c = 0; c < w->row.channels; c++, at++) {
    guint8 *good = &w->row.good[at];
    *good = (guint8)good_at(source, step, w->order[p], c);
    if (*good != ASTRO_PSRFITS_LOST && !isfinite(w->row.values[at])) {
      *good = ASTRO_PSRFITS_LOST;
      w->has_lost = TRUE;
      tally->not_finite++;
    }
    w->row.is_whole = w->row.is_whole && *good == ASTRO_PSRFITS_WHOLE;
  }
}

static void take_step(Writer *w, const Source *source, guint64 step, AstroFitsTally *tally)
{
  const guint channels = w->row.channels;
  const gboolean has_counts = source->frames->validity && source->frames->validity->counts;
  const float *samples = (const float *)source->frames->data + step * source->time;
  guint64 at = w->row.steps * channels * w->row.pols;
  for (guint p = 0; p < w->row.pols; p++, at += channels) {
    const gboolean are_finite = take_samples(samples + w->order[p] * source->pol, source->channel,
                                             w->pols.signs[p], channels, w->row.values + at);
    if (has_counts || !are_finite)
      judge(w, source, step, p, at, tally);
    else
      memset(w->row.good + at, ASTRO_PSRFITS_WHOLE, channels);
  }
  w->row.steps++;
}

static gboolean open_source(const Writer *w, Source *source, const AstroFitsFrames *frames,
                            GError **error)
{
  static const AstroAxis axes[] = { ASTRO_AXIS_TIME, ASTRO_AXIS_POL, ASTRO_AXIS_CHANNEL };
  AstroLayout shape;
  guint64 strides[ASTRO_MAX_AXES];
  *source = (Source){ .frames = frames };
  astro_stream_shape(&w->stream, frames->frames, &shape);
  astro_layout_strides(&shape, strides);
  source->time = astro_layout_stride_of(&shape, strides, ASTRO_AXIS_TIME);
  source->pol = astro_layout_stride_of(&shape, strides, ASTRO_AXIS_POL);
  source->channel = astro_layout_stride_of(&shape, strides, ASTRO_AXIS_CHANNEL);
  for (guint i = 0; i < G_N_ELEMENTS(axes); i++)
    source->axes[i] = astro_layout_find(&shape, axes[i]);
  if (!frames->validity || !frames->validity->counts)
    return TRUE;
  if (!astro_validity_check(frames->validity, &shape, error))
    return FALSE;
  astro_validity_axes(frames->validity, &shape, source->counts);
  return TRUE;
}

static gboolean write_frames(gpointer writer, const AstroFitsFrames *frames, AstroFitsTally *tally,
                             GError **error)
{
  Writer *w = writer;
  Source source;
  if (!open_source(w, &source, frames, error))
    return FALSE;
  if (frames->validity && frames->validity->counts && w->full == 0)
    w->full = frames->validity->full;
  for (guint64 step = 0; step < frames->frames; step++) {
    if (!go_to(w, frames->first + step, tally, error))
      return FALSE;
    take_step(w, &source, step, tally);
  }
  return TRUE;
}

/* ---- the file ---- */

static void destroy(gpointer writer)
{
  Writer *w = writer;
  astro_psrfits_row_clear(&w->row);
  astro_observation_unref(w->observation);
  g_byte_array_unref(w->bytes);
  g_free(w->levels.weights);
  g_free(w->levels.scales);
  g_free(w->levels.offsets);
  g_free(w);
}

static guint64 steps_of_row(guint64 series)
{
  guint64 steps = MOST_STEPS;
  while (steps > 1 && steps * series * sizeof(float) > ROW_BYTES)
    steps /= 2;
  return steps;
}

static gpointer create(AstroPartFile *file, const AstroFitsContents *contents, GError **error)
{
  AstroPowerProducts products;
  AstroStream stream;
  if (!astro_power_from_caps(&stream, &products, contents->caps, error) ||
      !astro_psrfits_check(contents, &products, error))
    return NULL;
  const guint channels = (guint)astro_stream_extent(&stream, ASTRO_AXIS_CHANNEL);
  const guint64 series = (guint64)channels * products.n;
  Writer *w = g_new0(Writer, 1);
  w->file = file;
  w->stream = stream;
  w->observation = astro_observation_ref(contents->observation);
  w->pol_type = astro_psrfits_pol_type(&products, w->observation, &w->pols, w->order);
  w->bytes = g_byte_array_new();
  w->levels.weights = g_new(float, channels);
  w->levels.scales = g_new(float, series);
  w->levels.offsets = g_new(float, series);
  astro_psrfits_row_init(&w->row, channels, products.n, contents->bits ? contents->bits : 32,
                         steps_of_row(series));
  return w;
}

/* A stream that fits in one row makes the row as short as it is. */
static gboolean finish(gpointer writer, AstroFitsTally *tally, GError **error)
{
  Writer *w = writer;
  g_autoptr(GString) table = g_string_new(NULL);
  if (w->rows == 0)
    w->row.block = w->row.steps;
  if (w->row.steps > 0 && !write_row(w, tally, error))
    return FALSE;
  put_subint(w, table);
  return astro_fits_write_padding(w->file, error) &&
         astro_part_file_patch(w->file, w->table_at, table->str, table->len, error);
}

const AstroFitsWriterKind astro_psrfits_search_writer = {
  .name = "PSRFITS in search mode",
  .quantity = ASTRO_QUANTITY_POWER,
  .suffix = ".sf",
  .caps = "application/x-astro-power",
  .frame = "integration",
  .is_stepped = TRUE,
  .has_bits = TRUE,
  .create = create,
  .write = write_frames,
  .finish = finish,
  .destroy = destroy,
};
