/* Chooses the reader or writer of a FITS file, and keeps what they share. */
#include "core/fits/fits.h"
#include "core/backend/backend.h"
#include "core/kit/enum.h"
#include "core/fits/table/catalogue-read.h"
#include "core/fits/foreign.h"
#include "core/fits/blocks/blocks.h"
#include "core/fits/gains/stream.h"
#include "core/lib/files/gzip.h"
#include "core/fits/image/reader.h"
#include "core/fits/psrfits/psrfits.h"
#include "core/fits/table/write.h"
#include "core/fits/uvfits/read.h"
#include "core/fits/uvfits/write.h"
#include "core/kit/units.h"

#include <math.h>
#include <string.h>

G_DEFINE_QUARK(astro_fits_error, astro_fits_error)

ASTRO_ENUM_TYPE(astro_fits_uvw_get_type, "AstroFitsUvw",
                { ASTRO_FITS_UVW_AUTO,
                  "Those of the stations; refused if the file's own would give another picture",
                  "auto" },
                { ASTRO_FITS_UVW_FILE, "The file's own, sent along with the buffers", "file" },
                { ASTRO_FITS_UVW_TABLE, "Those of the stations, times and phase centre", "table" })

const AstroFitsWriterKind *const astro_fits_writer_kinds[] = { &astro_uvfits_writer,
                                                               &astro_catalogue_csv_writer,
                                                               &astro_catalogue_ecsv_writer,
                                                               &astro_catalogue_writer,
                                                               &astro_correlation_csv_writer,
                                                               &astro_correlation_ecsv_writer,
                                                               &astro_correlation_writer,
                                                               &astro_image_writer,
                                                               &astro_uvgrid_writer,
                                                               &astro_histogram_writer,
                                                               &astro_spectra_writer,
                                                               &astro_psrfits_search_writer,
                                                               &astro_power_writer,
                                                               &astro_psrfits_fold_writer,
                                                               &astro_profile_writer,
                                                               &astro_voltages_writer,
                                                               NULL };
static const AstroFitsReaderKind *const reader_kinds[] = {
  &astro_blocks_reader,         &astro_psrfits_reader,        &astro_gains_reader,
  &astro_uvfits_reader,         &astro_image_reader,          &astro_catalogue_table_reader,
  &astro_catalogue_hdf5_reader, &astro_catalogue_text_reader, NULL
};

struct _AstroFitsReader {
  AstroFitsFile *file;
  const AstroFitsReaderKind *kind;
  gpointer instance;
  AstroFitsContents contents;
};

void astro_fits_contents_clear(AstroFitsContents *contents)
{
  g_clear_pointer(&contents->observation, astro_observation_unref);
  g_free(contents->columns);
  g_free(contents->note);
  gst_clear_caps(&contents->caps);
  g_clear_pointer(&contents->unit, g_free);
  astro_grid_clear(&contents->grid);
  memset(contents, 0, sizeof *contents);
}

void astro_fits_contents_note(AstroFitsContents *contents, const char *file, const char *format,
                              ...)
{
  g_autofree char *before = contents->note;
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  contents->note =
      before ? g_strconcat(before, "; ", text, NULL) : g_strconcat(file, ": ", text, NULL);
}

gboolean astro_fits_contents_from_caps(AstroFitsContents *contents, const GstCaps *caps,
                                       GError **error)
{
  gint stations = 0;
  if (!astro_stream_from_caps(&contents->stream, caps, error))
    return FALSE;
  gst_caps_replace(&contents->caps, (GstCaps *)caps);
  const GstStructure *fields = gst_caps_get_structure(caps, 0);
  gst_structure_get_int(fields, "stations", &stations);
  contents->stations = MAX(stations, 0);
  g_free(contents->columns);
  contents->columns = g_strdup(gst_structure_get_string(fields, "columns"));
  astro_grid_clear(&contents->grid);
  return contents->stream.quantity != ASTRO_QUANTITY_IMAGE ||
         astro_grid_from_image_caps(&contents->grid, caps, error);
}

/* The field psf says that there is a point-spread function. */
static void put_grid(const AstroGrid *grid, GstCaps *caps)
{
  astro_grid_to_caps(grid, caps);
  if (!(grid->pixel > 0))
    gst_structure_remove_field(gst_caps_get_structure(caps, 0), "pixel");
  if (astro_grid_find(grid, ASTRO_PRODUCT_PSF) >= 0)
    gst_caps_set_simple(caps, "psf", G_TYPE_BOOLEAN, TRUE, NULL);
}

GstCaps *astro_fits_contents_to_caps(const AstroFitsContents *contents)
{
  if (contents->caps)
    return gst_caps_ref(contents->caps);
  GstCaps *caps = astro_stream_to_caps(&contents->stream);
  if (contents->stations)
    gst_caps_set_simple(caps, "stations", G_TYPE_INT, (gint)contents->stations, NULL);
  if (contents->columns)
    gst_caps_set_simple(caps, "columns", G_TYPE_STRING, contents->columns, NULL);
  if (contents->grid.products)
    put_grid(&contents->grid, caps);
  return caps;
}

/* Kinds with a suffix come before those without one in the list. A file to be packed has its suffix
 * before ".gz". */
const AstroFitsWriterKind *astro_fits_writer_kind(AstroQuantity quantity, const char *path,
                                                  GError **error)
{
  const gsize packed = astro_gzip_is_name(path) ? strlen(".gz") : 0;
  g_autofree char *name = g_ascii_strdown(path, (gssize)(strlen(path) - packed));
  for (guint i = 0; astro_fits_writer_kinds[i]; i++) {
    const AstroFitsWriterKind *kind = astro_fits_writer_kinds[i];
    if (kind->quantity == quantity && (!kind->suffix || g_str_has_suffix(name, kind->suffix)))
      return kind;
  }
  astro_fits_refuse(error, "there is no file format for %s", astro_quantity_name(quantity));
  return NULL;
}

char *astro_fits_reader_caps(void)
{
  GString *caps = g_string_new(NULL);
  for (guint i = 0; reader_kinds[i]; i++)
    g_string_append_printf(caps, "%s%s", i ? "; " : "", reader_kinds[i]->caps);
  return g_string_free(caps, FALSE);
}

static gboolean is_wanted(const AstroFitsReaderKind *kind, const AstroFitsOptions *options)
{
  g_autoptr(GstCaps) caps = gst_caps_from_string(kind->caps);
  return !options->wanted || gst_caps_can_intersect(caps, options->wanted);
}

/* fpack stores tiles of an image in the rows of a table. */
static gboolean is_packed_image(const AstroFitsFile *file)
{
  const AstroFitsHeader *header;
  guint i = 0;
  while ((header = astro_fits_file_header(file, i++)) && !astro_fits_is_binary_table(header))
    ;
  return header && g_strcmp0(g_hash_table_lookup(header->values, "ZIMAGE"), "T") == 0;
}

/* How messages name the streams of each media type, and where such a file belongs if it was given
 * to the wrong element. */
static const struct {
  const char *media_type, *name, *goes_to;
} roles[] = {
  { "application/x-astro-visibilities", "visibilities (UVFITS)",
    "visibilities go to astrogridder, as in the graph image" },
  { "application/x-astro-image", "a FITS image",
    "an image goes to astrorender, as examples/picture.sh makes pictures" },
  { "application/x-astro-catalogue", "a catalogue (a FITS table, HDF5 or text)",
    "a catalogue goes to astrohistogram, as in the graph tpacf-files" },
  { "application/x-astro-power", "detected power",
    "power goes to astrorender, as in the graph look" },
  { "application/x-astro-spectra", "spectra",
    "spectra go to astropower, as in the graph spectrometer" },
  { "application/x-astro-gains", "a table of gains",
    "gains go to astrocalibrate or astrodelay by their property, or to astrorender for a picture" },
  { "application/x-astro-voltages", "voltages",
    "voltages go to astrochannelizer, as in the graph spectrometer" },
};

static gint find_role(const GstCaps *caps)
{
  for (guint i = 0; i < gst_caps_get_size(caps); i++)
    for (guint k = 0; k < G_N_ELEMENTS(roles); k++)
      if (gst_structure_has_name(gst_caps_get_structure(caps, i), roles[k].media_type))
        return (gint)k;
  return -1;
}

static void refuse_unwanted(const char *file, const AstroFitsReaderKind *found,
                            const GstCaps *wanted, GError **error)
{
  g_autoptr(GstCaps) gives = gst_caps_from_string(found->caps);
  /* Blocks may be of any stream. */
  const gint has = found == &astro_blocks_reader ? -1 : find_role(gives);
  const gint wants = find_role(wanted);
  g_autofree char *caps = gst_caps_to_string(wanted);
  if (has >= 0 && wants >= 0 && has != wants)
    astro_fail(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_OPEN,
               "%s: found %s, expected %s: %s (downstream takes %s)", file, found->name,
               roles[wants].name, roles[has].goes_to, caps);
  else
    astro_fail(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_OPEN,
               "%s: found %s, but downstream needs %s", file, found->name, caps);
}

/* A file may be of several kinds: UVFITS also contains tables. */
static const AstroFitsReaderKind *find_kind(const AstroFitsFile *file,
                                            const AstroFitsOptions *options, GError **error)
{
  const AstroFitsReaderKind *unwanted = NULL;
  const char *name = astro_fits_file_name(file);
  if (is_packed_image(file)) {
    g_set_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_OPEN,
                "%s: found an image packed in tiles (ZIMAGE), expected an unpacked one: "
                "unpack it with funpack",
                name);
    return NULL;
  }
  /* Who wants visibilities has a file of those. */
  const gboolean is_elsewhere =
      astro_fits_file_is_hdf5(file) && !is_wanted(&astro_catalogue_hdf5_reader, options);
  const char *foreign = is_elsewhere ? ASTRO_HDF5_IS : astro_foreign_fits(file);
  if (foreign) {
    astro_fail(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_OPEN, "%s is %s", name, foreign);
    return NULL;
  }
  for (guint i = 0; reader_kinds[i]; i++) {
    if (!reader_kinds[i]->recognises(file))
      continue;
    if (is_wanted(reader_kinds[i], options))
      return reader_kinds[i];
    unwanted = unwanted ? unwanted : reader_kinds[i];
    if (unwanted == &astro_blocks_reader || unwanted == &astro_psrfits_reader ||
        unwanted == &astro_gains_reader)
      break; /* their arrays and tables look like others too, and would be read wrongly */
  }
  if (!unwanted) {
    g_set_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_OPEN,
                "%s: a FITS file of an unknown kind, expected UVFITS (random groups), "
                "an image, a catalogue (a table), a table of gains, PSRFITS in search mode or the "
                "blocks of a stream",
                name);
    return NULL;
  }
  refuse_unwanted(name, unwanted, options->wanted, error);
  return NULL;
}

AstroFitsReader *astro_fits_reader_open(const char *path, const AstroFitsOptions *options,
                                        GError **error)
{
  static const AstroFitsOptions none;
  AstroFitsFile *file = astro_fits_file_open_any(path, error);
  if (!file)
    return NULL;
  options = options ? options : &none;
  AstroFitsReader *reader = g_new0(AstroFitsReader, 1);
  reader->file = file;
  reader->kind = find_kind(file, options, error);
  if (reader->kind)
    reader->instance = reader->kind->open(file, options, &reader->contents, error);
  /* If opening was given up, something optional may be missing although the file has it. */
  if (reader->instance && astro_backend_goes_on(error))
    return reader;
  astro_fits_reader_close(reader);
  return NULL;
}

static gboolean is_uvfits(const char *name, const AstroFitsOptions *options, GError **error)
{
  AstroFitsFile *file = astro_fits_file_open_any(name, error);
  if (!file)
    return FALSE;
  const AstroFitsReaderKind *kind = find_kind(file, options, error);
  astro_fits_file_close(file);
  return kind == &astro_uvfits_reader;
}

AstroFitsReader *astro_fits_reader_open_some(const char *const *names, guint *n,
                                             const AstroFitsOptions *options, GError **error)
{
  g_autoptr(GError) wrong = NULL;
  *n = 1;
  if (!names[1] || !is_uvfits(names[0], options, &wrong)) {
    if (!wrong)
      return astro_fits_reader_open(names[0], options, error);
    g_propagate_error(error, g_steal_pointer(&wrong));
    return NULL;
  }
  AstroFitsReader *reader = g_new0(AstroFitsReader, 1);
  *n = g_strv_length((char **)names);
  reader->kind = &astro_uvfits_files;
  reader->instance = astro_uvfits_files_open(names, options, &reader->contents, error);
  if (reader->instance)
    return reader;
  astro_fits_reader_close(reader);
  return NULL;
}

gpointer astro_fits_reader_as(AstroFitsReader *reader, const AstroFitsReaderKind *kind)
{
  return reader->kind == kind ? reader->instance : NULL;
}

const AstroFitsContents *astro_fits_reader_contents(const AstroFitsReader *reader)
{
  return &reader->contents;
}

gboolean astro_fits_reader_next(AstroFitsReader *reader, guint64 *steps, gboolean *end,
                                GError **error)
{
  *end = FALSE;
  *steps = 1;
  return !reader->kind->next || reader->kind->next(reader->instance, steps, end, error);
}

gboolean astro_fits_reader_read(AstroFitsReader *reader, AstroFitsFrame *frame, gboolean *end,
                                GError **error)
{
  *end = FALSE;
  return reader->kind->read(reader->instance, frame, end, error);
}

void astro_fits_reader_close(AstroFitsReader *reader)
{
  if (reader->instance)
    reader->kind->close(reader->instance);
  g_clear_pointer(&reader->file, astro_fits_file_close);
  astro_fits_contents_clear(&reader->contents);
  g_free(reader);
}
