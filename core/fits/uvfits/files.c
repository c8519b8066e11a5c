/* Reads several UVFITS files as one stream. */
#include "core/fits/uvfits/read.h"
#include "core/fits/uvfits/reader.h"
#include "core/lib/rows/files.h"

#include "core/lib/rows/rows.h"

/* A file as core/lib/rows wants it. */
typedef struct {
  AstroFitsReader *reader;
  AstroUvfitsReader *uvfits; /* its instance */
  AstroRowContents contents;
} File;

static void close_one(gpointer reader)
{
  File *file = reader;
  g_clear_pointer(&file->reader, astro_fits_reader_close);
  astro_row_contents_clear(&file->contents);
  g_free(file);
}

static gboolean find_begin(File *file, GError **error)
{
  AstroUvfitsGroup group;
  if (!astro_uvfits_read_group(file->uvfits, 0, &group, error))
    return FALSE;
  const gint64 begin = group.middle_ns - astro_uvfits_length(file->uvfits, &group) / 2;
  file->contents.begin_ns = (guint64)MAX(begin, 0);
  return TRUE;
}

static gboolean describe(File *file, const char *location, GError **error)
{
  const AstroFitsContents *c = astro_fits_reader_contents(file->reader);
  file->uvfits = astro_fits_reader_as(file->reader, &astro_uvfits_reader);
  if (!file->uvfits)
    return astro_fail(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_FORMAT,
                      "%s: found %s among several files of visibilities, expected UVFITS", location,
                      astro_quantity_name(c->stream.quantity));
  file->contents = (AstroRowContents){ .stream = c->stream,
                                       .stations = c->observation->n_stations,
                                       .observation = astro_observation_ref(c->observation),
                                       .duration_ns = c->duration_ns,
                                       .step_ns = c->step_ns,
                                       .note = g_strdup(c->note) };
  return find_begin(file, error);
}

static gpointer open_one(const char *location, gconstpointer options, GError **error)
{
  File *file = g_new0(File, 1);
  file->reader = astro_fits_reader_open(location, options, error);
  if (file->reader && describe(file, location, error))
    return file;
  close_one(file);
  return NULL;
}

static const AstroRowContents *contents_of(gpointer reader)
{
  return &((File *)reader)->contents;
}

static const AstroWeightRange *weights_of(gpointer reader)
{
  return &((File *)reader)->uvfits->weights;
}

static void scale_weights(gpointer reader, double scale, guint32 full)
{
  File *file = reader;
  file->uvfits->weight_scale = scale;
  file->uvfits->full = full;
}

static gboolean read_one(gpointer reader, AstroRowFrame *frame, gboolean *end, GError **error)
{
  File *file = reader;
  AstroFitsFrame own = {
    .data = frame->data, .counts = frame->counts, .uvw = frame->uvw, .absent = frame->absent
  };
  if (!astro_fits_reader_read(file->reader, &own, end, error))
    return FALSE;
  frame->full = own.full;
  frame->not_finite = own.not_finite;
  frame->start_ns = own.start_ns;
  frame->duration_ns = own.duration_ns;
  return TRUE;
}

static const AstroRowReaderKind one = {
  .name = "UVFITS file",
  .open = open_one,
  .contents = contents_of,
  .weights = weights_of,
  .scale_weights = scale_weights,
  .read = read_one,
  .close = close_one,
};

/* ---- one file among those of other kinds ---- */

/* The elements that read rows know the errors of these. */
static gboolean say_as_rows(gboolean done, GError *why, GError **error)
{
  static const AstroRowsError codes[] = { [ASTRO_FITS_ERROR_OPEN] = ASTRO_ROWS_ERROR_OPEN,
                                          [ASTRO_FITS_ERROR_FORMAT] = ASTRO_ROWS_ERROR_FORMAT,
                                          [ASTRO_FITS_ERROR_READ] = ASTRO_ROWS_ERROR_READ };
  if (why && why->domain == ASTRO_FITS_ERROR && why->code < (gint)G_N_ELEMENTS(codes)) {
    why->code = (gint)codes[why->code];
    why->domain = ASTRO_ROWS_ERROR;
  }
  if (why)
    g_propagate_error(error, why);
  return done;
}

static gpointer open_rows(const char *location, gconstpointer options, GError **error)
{
  GError *why = NULL;
  gpointer file = open_one(location, options, &why);
  say_as_rows(file != NULL, why, error);
  return file;
}

static gboolean read_rows(gpointer reader, AstroRowFrame *frame, gboolean *end, GError **error)
{
  GError *why = NULL;
  const gboolean done = read_one(reader, frame, end, &why);
  return say_as_rows(done, why, error);
}

const AstroRowReaderKind astro_uvfits_rows = {
  .name = "UVFITS file",
  .open = open_rows,
  .contents = contents_of,
  .weights = weights_of,
  .scale_weights = scale_weights,
  .read = read_rows,
  .close = close_one,
};

/* ---- all files, as a reader of FITS ---- */

gpointer astro_uvfits_files_open(const char *const *names, const AstroFitsOptions *options,
                                 AstroFitsContents *contents, GError **error)
{
  AstroRowFiles *files = astro_row_files_open(&one, names, options, error);
  if (!files)
    return NULL;
  const AstroRowContents *c = astro_row_files_contents(files);
  contents->stream = c->stream;
  contents->stations = c->stations;
  contents->observation = astro_observation_ref(c->observation);
  contents->duration_ns = c->duration_ns;
  contents->step_ns = c->step_ns;
  contents->note = g_strdup(c->note);
  return files;
}

static gboolean read_next(gpointer reader, AstroFitsFrame *frame, gboolean *end, GError **error)
{
  AstroRowFrame row = {
    .data = frame->data, .counts = frame->counts, .uvw = frame->uvw, .absent = frame->absent
  };
  if (!astro_row_files_read(reader, &row, end, error))
    return FALSE;
  frame->full = row.full;
  frame->not_finite = row.not_finite;
  frame->start_ns = row.start_ns;
  frame->duration_ns = row.duration_ns;
  return TRUE;
}

static void close_all(gpointer reader)
{
  astro_row_files_close(reader);
}

const AstroFitsReaderKind astro_uvfits_files = {
  .name = "UVFITS",
  .read = read_next,
  .close = close_all,
};
