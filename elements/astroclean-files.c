/* Reads the images that go with one to be cleaned. */
#include "config.h"
#include "elements/astroclean-files.h"

#include "core/fits/fits.h"
#include "core/stream/uvw.h"

#include <math.h>

/* Pixels of two images are the same if they are no further apart than this part of a pixel, over
 * the whole image. */
#define SAME 0.1

typedef struct {
  char *path;
  AstroFitsReader *reader;
  const AstroFitsContents *contents;
  guint channels, products;
  float *pixels; /* [channel][product][y][x] */
} File;

static void clear(File *file)
{
  g_clear_pointer(&file->reader, astro_fits_reader_close);
  g_clear_pointer(&file->pixels, g_free);
  g_clear_pointer(&file->path, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(File, clear)

/* Distance on the sky between the same pixel of the file and of the image, in pixels. A file or a
 * stream that does not say where it is is taken as it is. */
static double farthest(const File *file, const AstroCleanImageShape *shape)
{
  const AstroGrid *own = shape->grid, *other = &file->contents->grid;
  const AstroObservation *from = file->contents->observation, *to = shape->observation;
  double lmn[3] = { 0, 0, 1 };
  if (!(other->pixel > 0))
    return 0;
  if (from && to && from->has_phase_centre && to->has_phase_centre)
    astro_lmn_from_direction(to, from->phase_ra, from->phase_dec, lmn);
  const double scale = fabs(other->pixel / own->pixel - 1) * shape->size / 2;
  const double l = lmn[0] + other->centre_l - own->centre_l;
  const double m = lmn[1] + other->centre_m - own->centre_m;
  return scale + hypot(l, m) / own->pixel;
}

static gboolean check(const File *file, const AstroCleanImageShape *shape, GError **error)
{
  const AstroStream *stream = &file->contents->stream;
  const guint64 width = astro_stream_extent(stream, ASTRO_AXIS_X),
                height = astro_stream_extent(stream, ASTRO_AXIS_Y);
  if (stream->quantity != ASTRO_QUANTITY_IMAGE)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS, "%s has %s, expected an image",
                               file->path, astro_quantity_name(stream->quantity));
  if (width != shape->size || height != shape->size)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "%s has %" G_GUINT64_FORMAT " x %" G_GUINT64_FORMAT
                               " pixels, expected %u x %u as the image that is cleaned",
                               file->path, width, height, shape->size, shape->size);
  const double apart = farthest(file, shape);
  if (apart > SAME)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "%s is not of the same part of the sky as the image that is "
                               "cleaned: their pixels are up to %.3g pixels apart",
                               file->path, apart);
  return TRUE;
}

static gboolean read_pixels(File *file, guint size, GError **error)
{
  const AstroStream *stream = &file->contents->stream;
  const gsize n = (gsize)size * size * file->channels * file->products;
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

static gboolean read_file(File *file, const char *path, const AstroCleanImageShape *shape,
                          GError **error)
{
  const AstroFitsOptions options = { .takes_models = TRUE };
  file->path = g_strdup(path);
  file->reader = astro_fits_reader_open(path, &options, error);
  if (!file->reader)
    return FALSE;
  file->contents = astro_fits_reader_contents(file->reader);
  if (!check(file, shape, error))
    return FALSE;
  const AstroStream *stream = &file->contents->stream;
  file->channels = (guint)MAX(astro_stream_extent(stream, ASTRO_AXIS_CHANNEL), 1);
  file->products = (guint)MAX(astro_stream_extent(stream, ASTRO_AXIS_POL), 1);
  return read_pixels(file, shape->size, error);
}

guint8 *astro_clean_read_mask(const char *path, const AstroCleanImageShape *shape, GError **error)
{
  g_auto(File) file = { 0 };
  if (!read_file(&file, path, shape, error))
    return NULL;
  const gsize n = (gsize)shape->size * shape->size;
  guint8 *mask = g_malloc(n);
  for (gsize i = 0; i < n; i++)
    mask[i] = isfinite(file.pixels[i]) && file.pixels[i] != 0;
  return mask;
}

/* The number of a product's model in the file; -1: there is none. */
static gint find_model(const File *file, const char *product)
{
  g_autofree char *model = g_strconcat(product, "-MODEL", NULL);
  const gint found = astro_grid_find(&file->contents->grid, model);
  return found >= 0 ? found : astro_grid_find(&file->contents->grid, product);
}

static gboolean copy_model(const File *file, const AstroCleanImageShape *shape, guint product,
                           float *model, GError **error)
{
  const gsize n = (gsize)shape->size * shape->size;
  const char *name = shape->grid->products[product];
  const gint from = find_model(file, name);
  if (from < 0)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS, "%s has no model of %s", file->path,
                               name);
  for (guint channel = 0; channel < shape->channels; channel++) {
    const guint own = file->channels == 1 ? 0 : channel;
    memcpy(model + (channel * shape->products + product) * n,
           file->pixels + (own * file->products + (guint)from) * n, n * sizeof(float));
  }
  return TRUE;
}

float *astro_clean_read_model(const char *path, const AstroCleanImageShape *shape, GError **error)
{
  g_auto(File) file = { 0 };
  if (!read_file(&file, path, shape, error))
    return NULL;
  if (file.channels != 1 && file.channels != shape->channels) {
    astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                        "%s has %u channels, expected 1 or the %u of the image that is cleaned",
                        path, file.channels, shape->channels);
    return NULL;
  }
  const gsize n = (gsize)shape->size * shape->size * shape->channels * shape->products;
  g_autofree float *model = g_new(float, n);
  for (guint i = 0; i < shape->products; i++)
    if (!copy_model(&file, shape, i, model, error))
      return NULL;
  for (gsize i = 0; i < n; i++)
    if (!isfinite(model[i]))
      model[i] = 0;
  return g_steal_pointer(&model);
}
