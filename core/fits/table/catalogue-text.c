/* Reads catalogues from text. */
#include "core/fits/table/catalogue-read.h"
#include "core/fits/foreign.h"
#include "core/fits/open.h"
#include "core/fits/table/text-filter.h"
#include "core/lib/catalogue/columns.h"

#include <unistd.h>

typedef struct {
  AstroCatalogue points; /* of all catalogues */
  GArray *ends;          /* of each catalogue, as a number of points */
  guint next;
} Reader;

static gboolean is_text(const AstroFitsFile *file)
{
  return !astro_fits_file_primary(file) && !astro_fits_file_is_hdf5(file);
}

static gboolean refuse(const AstroFitsFile *file, GError **error, const char *why)
{
  g_set_error(
      error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_OPEN,
      "%s is not a FITS file (it does not begin with \"SIMPLE  =\"), and was read as text: %s",
      astro_fits_file_name(file), why);
  return FALSE;
}

static gboolean parse(Reader *r, AstroFitsFile *file, const AstroFitsOptions *options,
                      GError **error)
{
  const AstroCatalogueColumns *columns = &options->columns;
  AstroCatalogueColumns named = *columns;
  named.ra = columns->ra ? columns->ra : "RA";
  named.dec = columns->dec ? columns->dec : "DEC";
  g_autoptr(GError) why = NULL;
  g_autoptr(GMappedFile) bytes = astro_fits_file_map(file, &why);
  if (!bytes)
    return refuse(file, error, why->message);
  const char *text = g_mapped_file_get_contents(bytes);
  const gsize length = g_mapped_file_get_length(bytes);
  const gboolean good = options->where
                            ? astro_text_filter_parse(file, text, length, &named, options->where,
                                                      &r->points, r->ends, &why)
                            : astro_catalogue_parse_text(text, length, astro_fits_file_name(file),
                                                         &named, &r->points, r->ends, &why);
  return good || refuse(file, error, why->message);
}

gboolean astro_fits_read_text(const char *path, const AstroCatalogueColumns *columns,
                              AstroCatalogue *catalogue, GArray *ends, GError **error)
{
  int fd = astro_fits_open(path, error);
  *catalogue = (AstroCatalogue){ 0 };
  if (fd < 0)
    return FALSE;
  g_autoptr(GMappedFile) file = g_mapped_file_new_from_fd(fd, FALSE, error);
  close(fd);
  if (!file)
    return FALSE;
  const char *text = g_mapped_file_get_contents(file);
  const gsize length = g_mapped_file_get_length(file);
  if (astro_fits_is_beginning(text, length))
    return astro_fail(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_OPEN,
                      "%s is a FITS file, expected text: astrofitssrc reads it", path);
  const char *foreign = astro_foreign_bytes((const guint8 *)text, MIN(length, ASTRO_FOREIGN_BYTES));
  if (foreign)
    return astro_fail(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_OPEN, "%s is %s", path, foreign);
  return astro_catalogue_parse_text(text, length, path, columns, catalogue, ends, error);
}

static void close_text(gpointer reader)
{
  Reader *r = reader;
  astro_catalogue_clear(&r->points);
  g_array_unref(r->ends);
  g_free(r);
}

static gpointer open_text(AstroFitsFile *file, const AstroFitsOptions *options,
                          AstroFitsContents *contents, GError **error)
{
  Reader *r = g_new0(Reader, 1);
  r->ends = g_array_new(FALSE, FALSE, sizeof(guint64));
  astro_catalogue_describe(contents, &options->columns);
  if (parse(r, file, options, error)) {
    contents->note = g_strdup(r->points.note);
    return r;
  }
  close_text(r);
  return NULL;
}

static gboolean next_text(gpointer reader, guint64 *steps, gboolean *end, GError **error)
{
  const Reader *r = reader;
  *end = r->next == r->ends->len;
  if (!*end)
    *steps = astro_catalogue_part(&r->points, r->ends, r->next).n;
  return !*end;
}

static gboolean read_text(gpointer reader, AstroFitsFrame *frame, gboolean *end, GError **error)
{
  Reader *r = reader;
  AstroCatalogue points = astro_catalogue_part(&r->points, r->ends, r->next++);
  double *data = frame->data;
  for (guint c = 0; c < ASTRO_CATALOGUE_COLUMNS; c++) {
    const double *column = *astro_catalogue_column(&points, c);
    if (column) {
      memcpy(data, column, points.n * sizeof *data);
      data += points.n;
    }
  }
  return TRUE;
}

const AstroFitsReaderKind astro_catalogue_text_reader = {
  .name = "text (a catalogue)",
  .caps = ASTRO_CATALOGUE_CAPS,
  .recognises = is_text,
  .open = open_text,
  .next = next_text,
  .read = read_text,
  .close = close_text,
};
