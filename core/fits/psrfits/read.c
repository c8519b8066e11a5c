/* Reads the search mode of PSRFITS as detected power, a row or a part of one a buffer. */
#include "config.h"
#include "core/fits/psrfits/read.h"
#include "core/stream/validity.h"

#include <string.h>

#define PIECE ((guint64)4 << 20) /* bytes of a buffer; a step may be longer */
#define A_BYTE 8                 /* pieces begin at whole bytes */

static gboolean recognises(const AstroFitsFile *file)
{
  return astro_psrfits_is_search(astro_fits_file_primary(file));
}

static guint step_numbers(const AstroPsrfitsReader *r)
{
  return r->channels * r->pols.products.n;
}

static guint64 piece_steps(const AstroPsrfitsReader *r)
{
  const guint64 most = PIECE / (step_numbers(r) * sizeof(float)) / A_BYTE * A_BYTE;
  return MIN(MAX(most, A_BYTE), astro_psrfits_row_steps(r, r->row) - r->at);
}

static gboolean next_piece(gpointer reader, guint64 *steps, gboolean *end, GError **error)
{
  AstroPsrfitsReader *r = reader;
  (void)error;
  *end = r->row == r->table.n_rows;
  if (*end)
    return FALSE;
  *steps = piece_steps(r);
  return TRUE;
}

/* ---- a row ---- */

static float number_of(const AstroPsrfitsReader *r, const AstroFitsColumn *column, guint i,
                       float otherwise)
{
  return column ? (float)astro_fits_table_number(&r->table, column, i) : otherwise;
}

static void read_counts(AstroPsrfitsReader *r)
{
  r->has_lost = FALSE;
  for (guint c = 0; r->has_counts && c < r->channels; c++) {
    if (!r->columns.weights) {
      r->counts[c] = r->full;
      continue;
    }
    const double part = astro_fits_table_number(&r->table, r->columns.weights,
                                                r->is_turned ? r->channels - 1 - c : c) /
                        r->most_weight;
    r->counts[c] = part > 0 ? (guint32)MAX(part * r->full + 0.5, 1) : 0;
    r->has_lost = r->has_lost || r->counts[c] == 0;
  }
}

static gboolean read_row(AstroPsrfitsReader *r, GError **error)
{
  if (r->has_row)
    return TRUE;
  if (!astro_fits_table_read(&r->table, r->row, error))
    return FALSE;
  for (guint p = 0; p < r->pols.products.n; p++)
    for (guint c = 0; c < r->channels; c++) {
      const guint from = p * r->channels + (r->is_turned ? r->channels - 1 - c : c);
      const guint to = p * r->channels + c;
      r->scales[to] = r->pols.signs[p] * number_of(r, r->columns.scales, from, 1);
      r->offsets[to] = r->pols.signs[p] * number_of(r, r->columns.offsets, from, 0);
    }
  read_counts(r);
  return r->has_row = TRUE;
}

/* ---- samples ---- */

static void drop_lost(const AstroPsrfitsReader *r, float *values)
{
  for (guint c = 0; c < r->channels; c++)
    for (guint p = 0; r->counts[c] == 0 && p < r->pols.products.n; p++)
      values[p * r->channels + c] = 0;
}

static void read_samples(AstroPsrfitsReader *r, guint64 steps, float *out)
{
  const guint n = step_numbers(r), channels = r->channels;
  const guint8 *bytes = r->table.row + r->columns.data->offset;
  for (guint64 step = r->at; step < r->at + steps; step++, out += n) {
    astro_psrfits_unpack(&r->packing, bytes, step * n, n, r->numbers);
    for (guint p = 0; p < n; p += channels)
      astro_psrfits_scale(r->numbers + p, r->scales + p, r->offsets + p, channels, r->is_turned,
                          out + p);
    if (r->has_lost)
      drop_lost(r, out);
  }
}

static void add_counts(const AstroPsrfitsReader *r, guint64 steps, GstBuffer *buffer)
{
  const AstroLayout shape = { 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL }, { steps, r->channels } };
  AstroValidityMeta *validity = astro_buffer_add_validity(buffer, &shape, r->full);
  validity->slowest_first = TRUE;
  for (guint64 step = 0; step < steps; step++)
    memcpy(validity->counts + step * r->channels, r->counts, r->channels * sizeof *r->counts);
}

static void place(const AstroPsrfitsReader *r, guint64 steps, GstBuffer *buffer)
{
  const guint64 first = r->first[r->row] + r->at;
  const gboolean is_cut = r->at == 0 && (r->row == 0 || first != r->first[r->row - 1] + r->block);
  GST_BUFFER_OFFSET(buffer) = first;
  GST_BUFFER_OFFSET_END(buffer) = first + steps;
  GST_BUFFER_PTS(buffer) = astro_stream_time(&r->stream, first);
  GST_BUFFER_DURATION(buffer) =
      astro_stream_time(&r->stream, first + steps) - GST_BUFFER_PTS(buffer);
  if (is_cut)
    GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
}

static gboolean read_piece(gpointer reader, AstroFitsFrame *frame, gboolean *end, GError **error)
{
  AstroPsrfitsReader *r = reader;
  guint64 steps;
  if (!next_piece(r, &steps, end, error) || !read_row(r, error))
    return FALSE;
  read_samples(r, steps, frame->data);
  if (r->has_counts)
    add_counts(r, steps, frame->buffer);
  place(r, steps, frame->buffer);
  r->at += steps;
  if (r->at == astro_psrfits_row_steps(r, r->row)) {
    r->row++;
    r->at = 0;
    r->has_row = FALSE;
  }
  return TRUE;
}

/* ---- the file ---- */

static void close_reader(gpointer reader)
{
  AstroPsrfitsReader *r = reader;
  astro_fits_table_clear(&r->table);
  g_free(r->first);
  g_free(r->scales);
  g_free(r->offsets);
  g_free(r->counts);
  g_free(r->numbers);
  g_free(r);
}

static void describe(AstroPsrfitsReader *r, AstroFitsContents *contents)
{
  const guint64 last = r->table.n_rows - 1;
  r->stream.has_counts = r->has_counts;
  contents->stream = r->stream;
  contents->caps = astro_power_to_caps(&r->stream, &r->pols.products);
  contents->duration_ns =
      astro_stream_time(&r->stream, r->first[last] + astro_psrfits_row_steps(r, last));
  contents->is_blocks = contents->continues = TRUE;
}

static gpointer open_reader(AstroFitsFile *file, const AstroFitsOptions *options,
                            AstroFitsContents *contents, GError **error)
{
  AstroPsrfitsReader *r = g_new0(AstroPsrfitsReader, 1);
  r->file = file;
  if (!astro_psrfits_read_header(r, contents, error) || !astro_psrfits_scan(r, contents, error)) {
    close_reader(r);
    return NULL;
  }
  if (options->has_counts && !r->has_counts)
    astro_psrfits_count_all(r);
  r->scales = g_new(float, step_numbers(r));
  r->offsets = g_new(float, step_numbers(r));
  r->numbers = g_new(float, step_numbers(r));
  r->counts = g_new(guint32, r->channels);
  describe(r, contents);
  return r;
}

const AstroFitsReaderKind astro_psrfits_reader = {
  "PSRFITS in search mode",
  "application/x-astro-power",
  recognises,
  open_reader,
  next_piece,
  read_piece,
  close_reader,
};
