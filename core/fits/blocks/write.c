/* Writes files of blocks (core/fits/blocks/blocks.h). */
#include "config.h"
#include "core/fits/blocks/blocks.h"
#include "core/fits/cards.h"

#include <string.h>

#define ROOM (64u << 10)

typedef struct {
  AstroPartFile *file;
  AstroStream stream;
  gint64 blocks;
  guint8 *room; /* buffer for converted numbers */
} Writer;

/* ---- arrays ---- */

/* Starts the header of an array with axes slowest first. More cards may follow. */
static GString *begin_array(const Writer *w, const char *name, const AstroFitsWords *words,
                            const AstroLayout *shape)
{
  GString *header = g_string_new(NULL);
  const gboolean is_pair = words->components > 1;
  guint axis = 1;
  astro_fits_put_string(header, "XTENSION", "IMAGE", "an array");
  astro_fits_put_integer(header, "BITPIX", words->bitpix, "bits of a number; less than 0: float");
  astro_fits_put_integer(header, "NAXIS", shape->n_axes + (is_pair ? 1 : 0), "");
  if (is_pair)
    astro_fits_put_integer_n(header, "NAXIS", axis++, words->components, "real, imaginary");
  for (guint i = shape->n_axes; i-- > 0;)
    astro_fits_put_integer_n(header, "NAXIS", axis++, (gint64)shape->extents[i],
                             shape->axes[i] ? astro_axis_name(shape->axes[i]) : "");
  astro_fits_put_integer(header, "PCOUNT", 0, "");
  astro_fits_put_integer(header, "GCOUNT", 1, "");
  if (words->is_moved) {
    astro_fits_put_double(header, "BSCALE", 1, "");
    astro_fits_put_double(header, "BZERO", astro_fits_words_zero(words), "to be added");
  }
  astro_fits_put_string(header, "EXTNAME", name, "");
  if (w->blocks > 0)
    astro_fits_put_integer(header, "EXTVER", w->blocks, "number of the block");
  return header;
}

/* Frees header. */
static gboolean end_array(Writer *w, GString *header, const AstroFitsWords *words,
                          gconstpointer data, gsize bytes, GError **error)
{
  gboolean ok = astro_fits_write_cards(w->file, header, error);
  g_string_free(header, TRUE);
  for (gsize at = 0; ok && at < bytes; at += ROOM) {
    const gsize n = MIN(ROOM, bytes - at);
    astro_fits_words_pack(words, (const guint8 *)data + at, w->room, n);
    ok = astro_part_file_write(w->file, w->room, n, error);
  }
  return ok && astro_fits_write_padding(w->file, error);
}

static GString *begin_row(const Writer *w, const char *name, const AstroFitsWords *words, gsize n)
{
  const AstroLayout shape = { .n_axes = 1, .axes = { ASTRO_AXIS_NONE }, .extents = { n } };
  return begin_array(w, name, words, &shape);
}

static gboolean write_row(Writer *w, const char *name, const AstroFitsWords *words,
                          gconstpointer data, gsize n, GError **error)
{
  return end_array(w, begin_row(w, name, words, n), words, data,
                   n * (gsize)(ABS(words->bitpix) / 8), error);
}

/* ---- what belongs to a block ---- */

static gboolean write_counts(Writer *w, const AstroValidityMeta *validity, GError **error)
{
  if (!validity || !validity->counts)
    return TRUE;
  const guint64 n = astro_validity_n_counts(validity);
  g_autofree char *axes = astro_layout_to_string(&validity->shape);
  GString *header = validity->shape.n_axes
                        ? begin_array(w, "COUNTS", &astro_fits_counts, &validity->shape)
                        : begin_row(w, "COUNTS", &astro_fits_counts, n);
  astro_fits_put_string(header, "AXES", axes, "slowest first");
  astro_fits_put_integer(header, "FULL", validity->full, "count of a value without losses");
  return end_array(w, header, &astro_fits_counts, validity->counts, n * sizeof *validity->counts,
                   error);
}

static gboolean write_grid(Writer *w, const AstroGridMeta *grid, GError **error)
{
  if (!grid)
    return TRUE;
  if (grid->touched)
    return astro_fits_refuse(error, "the grid has undefined tiles (touched-only=true "
                                    "in its caps), expected a whole one");
  GString *header = begin_row(w, "WEIGHTS", &astro_fits_doubles, grid->n_weights);
  astro_fits_put_double(header, "W", grid->w, "wavelengths, of the block's first plane");
  astro_fits_put_double(header, "WSTEP", grid->w_step, "wavelengths, between planes");
  astro_fits_put_integer(header, "PLANE", grid->plane, "the first one of the block");
  astro_fits_put_integer(header, "PLANES", grid->planes, "of the whole grid");
  astro_fits_put_integer(header, "USED", (gint64)grid->used, "visibilities");
  astro_fits_put_integer(header, "OUTSIDE", (gint64)grid->outside, "visibilities");
  astro_fits_put_integer(header, "FLAGGED", (gint64)grid->flagged, "visibilities");
  astro_fits_put_integer(header, "NOTFINIT", (gint64)grid->not_finite, "visibilities");
  return end_array(w, header, &astro_fits_doubles, grid->weights,
                   grid->n_weights * sizeof *grid->weights, error);
}

static gboolean write_summary(Writer *w, GstEvent *told, GError **error)
{
  AstroSummary summary = { 0 };
  if (!told)
    return TRUE;
  if (!astro_summary_from_event(&summary, told, error))
    return FALSE;
  GString *header = begin_row(w, "EDGES", &astro_fits_doubles, summary.n_edges);
  if (summary.most_across > 0)
    astro_fits_put_double(header, "ACROSS", summary.most_across, "upper limit of mu or pi");
  else
    astro_fits_put_string(header, "BUNIT", "arcmin", "");
  astro_fits_put_integer(header, "NKINDS", summary.n_kinds, "of pairs");
  astro_fits_put_integer(header, "NREGIONS", summary.n_regions, "1: none");
  for (AstroSide side = 0; side < ASTRO_N_SIDES; side++)
    astro_fits_put_integer_n(header, "POINTS", side + 1, (gint64)summary.points[side],
                             astro_side_name(side));
  astro_fits_put_integer(header, "NRANDOM", (gint64)summary.catalogues,
                         "random catalogues per side");
  gboolean ok = end_array(w, header, &astro_fits_doubles, summary.edges,
                          summary.n_edges * sizeof *summary.edges, error) &&
                write_row(w, "PAIRS", &astro_fits_doubles, summary.pairs,
                          (gsize)summary.n_kinds * summary.n_regions * summary.n_regions, error);
  if (ok && summary.counts) {
    gsize bytes;
    gconstpointer counts = g_bytes_get_data(summary.counts, &bytes);
    ok = write_row(w, "SUMS", &astro_fits_sums, counts, bytes / sizeof(guint64), error);
  }
  astro_summary_clear(&summary);
  return ok;
}

/* ---- blocks ---- */

static void put_place(GString *header, GstBuffer *buffer)
{
  const struct {
    const char *key;
    guint64 value;
    const char *comment;
  } numbers[] = { { "OFFSET", GST_BUFFER_OFFSET(buffer), "the first step" },
                  { "OFFEND", GST_BUFFER_OFFSET_END(buffer), "the step after the last one" },
                  { "PTS", GST_BUFFER_PTS(buffer), "ns from the observation's start" },
                  { "DURATION", GST_BUFFER_DURATION(buffer), "ns" } };
  for (guint i = 0; i < G_N_ELEMENTS(numbers); i++)
    if (numbers[i].value != GST_BUFFER_OFFSET_NONE)
      astro_fits_put_integer(header, numbers[i].key, (gint64)numbers[i].value, numbers[i].comment);
  astro_fits_put_logical(header, "DISCONT", GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT),
                         "something is missing before it");
  astro_fits_put_logical(header, "GAP", GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP),
                         "nothing was received");
}

static gboolean write_block(gpointer writer, const AstroFitsFrames *frames, AstroFitsTally *tally,
                            GError **error)
{
  Writer *w = writer;
  const AstroFitsWords words = astro_fits_words_of(w->stream.format);
  AstroLayout shape;
  astro_stream_shape(&w->stream, frames->frames, &shape);
  w->blocks++;
  GString *header = begin_array(w, "BLOCK", &words, &shape);
  put_place(header, frames->buffer);
  tally->values += astro_layout_samples(&shape);
  return end_array(w, header, &words, frames->data,
                   frames->frames * astro_stream_step_bytes(&w->stream), error) &&
         write_counts(w, frames->validity, error) &&
         write_grid(w, astro_buffer_get_grid(frames->buffer), error) &&
         write_summary(w, frames->told, error);
}

/* ---- the file ---- */

static GString *first_cards(const Writer *w)
{
  GString *header = g_string_new(NULL);
  astro_fits_put_logical(header, "SIMPLE", TRUE, "FITS");
  astro_fits_put_integer(header, "BITPIX", 8, "");
  astro_fits_put_integer(header, "NAXIS", 0, "arrays follow");
  astro_fits_put_logical(header, "EXTEND", TRUE, "");
  astro_fits_put_string(header, "ASTROSTR", astro_quantity_name(w->stream.quantity),
                        "a stream of gst-astro");
  astro_fits_put_integer(header, "NBLOCKS", w->blocks, "arrays BLOCK");
  return header;
}

static gboolean begin_file(Writer *w, const AstroFitsContents *contents, GError **error)
{
  g_autofree char *caps = gst_caps_to_string(contents->caps), *told = NULL;
  GString *header = first_cards(w);
  gboolean ok = astro_fits_write_cards(w->file, header, error) &&
                write_row(w, "CAPS", &astro_fits_letters, caps, strlen(caps), error);
  g_string_free(header, TRUE);
  if (!ok || !contents->observation)
    return ok;
  g_autoptr(GstEvent) event = astro_observation_to_event(contents->observation);
  told = gst_structure_to_string(gst_event_get_structure(event));
  return write_row(w, "OBSERVATION", &astro_fits_letters, told, strlen(told), error);
}

static void destroy(gpointer writer)
{
  Writer *w = writer;
  g_free(w->room);
  g_free(w);
}

static gpointer create(AstroPartFile *file, const AstroFitsContents *contents, GError **error)
{
  Writer *w = g_new0(Writer, 1);
  w->file = file;
  w->stream = contents->stream;
  w->room = g_malloc(ROOM);
  if (begin_file(w, contents, error))
    return w;
  destroy(w);
  return NULL;
}

static gboolean finish(gpointer writer, AstroFitsTally *tally, GError **error)
{
  Writer *w = writer;
  GString *header = first_cards(w);
  gboolean ok = astro_part_file_patch(w->file, 0, header->str, header->len, error);
  g_string_free(header, TRUE);
  return ok;
}

#define WRITER(symbol, of, media_type)                                                             \
  const AstroFitsWriterKind symbol = {                                                             \
    .name = "FITS blocks",                                                                         \
    .quantity = of,                                                                                \
    .caps = media_type,                                                                            \
    .frame = "block",                                                                              \
    .is_blocks = TRUE,                                                                             \
    .create = create,                                                                              \
    .write = write_block,                                                                          \
    .finish = finish,                                                                              \
    .destroy = destroy,                                                                            \
  }

WRITER(astro_uvgrid_writer, ASTRO_QUANTITY_UVGRID, "application/x-astro-uvgrid");
WRITER(astro_histogram_writer, ASTRO_QUANTITY_HISTOGRAM, "application/x-astro-histogram");
WRITER(astro_spectra_writer, ASTRO_QUANTITY_SPECTRA, "application/x-astro-spectra");
WRITER(astro_power_writer, ASTRO_QUANTITY_POWER, "application/x-astro-power");
WRITER(astro_profile_writer, ASTRO_QUANTITY_PROFILE, "application/x-astro-profile");
WRITER(astro_voltages_writer, ASTRO_QUANTITY_VOLTAGES, "application/x-astro-voltages");
