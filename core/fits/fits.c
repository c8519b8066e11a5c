#include "core/fits/fits.h"
#include "core/fits/uvfits-read.h"
#include "core/fits/uvfits-write.h"

#include <string.h>

G_DEFINE_QUARK(astro_fits_error, astro_fits_error)

const AstroFitsWriterKind *const astro_fits_writer_kinds[] = { &astro_uvfits_writer, NULL };
static const AstroFitsReaderKind *const reader_kinds[] = { &astro_uvfits_reader, NULL };

struct _AstroFitsReader {
  AstroFitsFile *file;
  const AstroFitsReaderKind *kind;
  gpointer instance;
  AstroFitsContents contents;
};

void astro_fits_contents_clear(AstroFitsContents *contents)
{
  g_clear_pointer(&contents->observation, astro_observation_unref);
  memset(contents, 0, sizeof *contents);
}

gboolean astro_fits_contents_from_caps(AstroFitsContents *contents, const GstCaps *caps,
                                       GError **error)
{
  gint stations = 0;
  if (!astro_stream_from_caps(&contents->stream, caps, error))
    return FALSE;
  gst_structure_get_int(gst_caps_get_structure(caps, 0), "stations", &stations);
  contents->stations = MAX(stations, 0);
  return TRUE;
}

GstCaps *astro_fits_contents_to_caps(const AstroFitsContents *contents)
{
  GstCaps *caps = astro_stream_to_caps(&contents->stream);
  if (contents->stations)
    gst_caps_set_simple(caps, "stations", G_TYPE_INT, (gint)contents->stations, NULL);
  return caps;
}

const AstroFitsWriterKind *astro_fits_writer_kind(AstroQuantity quantity)
{
  for (guint i = 0; astro_fits_writer_kinds[i]; i++)
    if (astro_fits_writer_kinds[i]->quantity == quantity)
      return astro_fits_writer_kinds[i];
  return NULL;
}

char *astro_fits_reader_caps(void)
{
  GString *caps = g_string_new(NULL);
  for (guint i = 0; reader_kinds[i]; i++)
    g_string_append_printf(caps, "%s%s", i ? "; " : "", reader_kinds[i]->caps);
  return g_string_free(caps, FALSE);
}

AstroFitsReader *astro_fits_reader_open(const char *path, GError **error)
{
  AstroFitsFile *file = astro_fits_file_open(path, error);
  if (!file)
    return NULL;
  AstroFitsReader *reader = g_new0(AstroFitsReader, 1);
  reader->file = file;
  for (guint i = 0; reader_kinds[i] && !reader->kind; i++)
    if (reader_kinds[i]->recognises(file))
      reader->kind = reader_kinds[i];
  if (reader->kind)
    reader->instance = reader->kind->open(file, &reader->contents, error);
  else
    g_set_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_OPEN,
                "%s: a FITS file of a kind that is not read, expected UVFITS (random groups)",
                path);
  if (reader->instance)
    return reader;
  astro_fits_reader_close(reader);
  return NULL;
}

const AstroFitsContents *astro_fits_reader_contents(const AstroFitsReader *reader)
{
  return &reader->contents;
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
  astro_fits_file_close(reader->file);
  astro_fits_contents_clear(&reader->contents);
  g_free(reader);
}
