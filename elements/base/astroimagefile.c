/* Reads the first image of a FITS file. */
#include "config.h"
#include "elements/base/astroimagefile.h"

void astro_image_file_clear(AstroImageFile *file)
{
  g_clear_pointer(&file->reader, astro_fits_reader_close);
  g_clear_pointer(&file->pixels, g_free);
  g_clear_pointer(&file->path, g_free);
}

gboolean astro_image_file_open(AstroImageFile *file, const char *path, GError **error)
{
  const AstroFitsOptions options = { .takes_models = TRUE };
  file->path = g_strdup(path);
  file->reader = astro_fits_reader_open(path, &options, error);
  if (!file->reader)
    return FALSE;
  file->contents = astro_fits_reader_contents(file->reader);
  const AstroStream *stream = &file->contents->stream;
  if (stream->quantity != ASTRO_QUANTITY_IMAGE)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS, "%s has %s, expected an image", path,
                               astro_quantity_name(stream->quantity));
  file->width = (guint)astro_stream_extent(stream, ASTRO_AXIS_X);
  file->height = (guint)astro_stream_extent(stream, ASTRO_AXIS_Y);
  file->channels = (guint)MAX(astro_stream_extent(stream, ASTRO_AXIS_CHANNEL), 1);
  file->products = (guint)MAX(astro_stream_extent(stream, ASTRO_AXIS_POL), 1);
  return TRUE;
}

gboolean astro_image_file_read_pixels(AstroImageFile *file, GError **error)
{
  const AstroStream *stream = &file->contents->stream;
  const gsize n = (gsize)file->width * file->height * file->channels * file->products;
  const gboolean is_double = stream->format == ASTRO_FORMAT_F64LE;
  g_autofree gpointer data = g_try_malloc_n(n, astro_format_info(stream->format)->bytes);
  AstroFitsFrame frame = { .data = data };
  gboolean end = FALSE;
  file->pixels = g_try_new(float, n);
  if (!data || !file->pixels)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                               "no memory for the %" G_GSIZE_FORMAT " pixels of %s", n, file->path);
  if (!astro_fits_reader_read(file->reader, &frame, &end, error))
    return !end
               ? FALSE
               : astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE, "%s has no image", file->path);
  for (gsize i = 0; i < n; i++)
    file->pixels[i] = is_double ? (float)((double *)data)[i] : ((float *)data)[i];
  return TRUE;
}
