/* Reads the images that go with one to be cleaned. */
#include "config.h"
#include "elements/astroclean-files.h"

#include "core/stream/uvw.h"
#include "elements/base/astroimagefile.h"

#include <math.h>

/* Pixels of two images are the same if they are no further apart than this part of a pixel, over
 * the whole image. */
#define SAME 0.1

/* Distance on the sky between the same pixel of the file and of the image, in pixels. A file or a
 * stream that does not say where it is is taken as it is. */
static double farthest(const AstroImageFile *file, const AstroCleanImageShape *shape)
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

static gboolean check(const AstroImageFile *file, const AstroCleanImageShape *shape, GError **error)
{
  if (file->width != shape->size || file->height != shape->size)
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "%s has %u x %u pixels, expected %u x %u as the image that is cleaned", file->path,
        file->width, file->height, shape->size, shape->size);
  const double apart = farthest(file, shape);
  if (apart > SAME)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "%s is not of the same part of the sky as the image that is "
                               "cleaned: their pixels are up to %.3g pixels apart",
                               file->path, apart);
  return TRUE;
}

static gboolean read_file(AstroImageFile *file, const char *path, const AstroCleanImageShape *shape,
                          GError **error)
{
  return astro_image_file_open(file, path, error) && check(file, shape, error) &&
         astro_image_file_read_pixels(file, error);
}

guint8 *astro_clean_read_mask(const char *path, const AstroCleanImageShape *shape, GError **error)
{
  g_auto(AstroImageFile) file = { 0 };
  if (!read_file(&file, path, shape, error))
    return NULL;
  const gsize n = (gsize)shape->size * shape->size;
  guint8 *mask = g_malloc(n);
  for (gsize i = 0; i < n; i++)
    mask[i] = isfinite(file.pixels[i]) && file.pixels[i] != 0;
  return mask;
}

/* The number of a product's model in the file; -1: there is none. */
static gint find_model(const AstroImageFile *file, const char *product)
{
  g_autofree char *model = g_strconcat(product, "-MODEL", NULL);
  const gint found = astro_grid_find(&file->contents->grid, model);
  return found >= 0 ? found : astro_grid_find(&file->contents->grid, product);
}

static gboolean copy_model(const AstroImageFile *file, const AstroCleanImageShape *shape,
                           guint product, float *model, GError **error)
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
  g_auto(AstroImageFile) file = { 0 };
  if (!read_file(&file, path, shape, error))
    return NULL;
  const AstroObservation *observation = file.contents->observation;
  if (observation && observation->done.primary_beam) {
    astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                        "%s was divided by a primary beam (%s): expected the model as the array "
                        "sees it",
                        path, observation->done.primary_beam);
    return NULL;
  }
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
