/* Picks the images of a model out of all images of a file. */
#include "config.h"
#include "core/gridder/degrid/images.h"

#include <math.h>
#include "core/backend/backend.h"
#include "core/kit/pages.h"

static double pixel_at(const AstroModelImages *images, gsize at)
{
  return images->is_double ? ((const double *)images->pixels)[at]
                           : (double)((const float *)images->pixels)[at];
}

static gsize copy_image(const AstroModelImages *images, gsize from, gboolean to_double, gsize to,
                        gpointer picked)
{
  gsize bad = 0;
  for (gsize i = 0; i < images->n; i++) {
    const double value = pixel_at(images, from + i);
    bad += !isfinite(value);
    if (to_double)
      ((double *)picked)[to + i] = value;
    else
      ((float *)picked)[to + i] = (float)value;
  }
  return bad;
}

gpointer astro_model_images_pick(const AstroModelImages *images, const guint *products,
                                 guint n_products, gboolean to_double, GError **error)
{
  const gsize all = images->n * n_products * images->channels;
  gpointer picked = astro_pages_alloc(all * (to_double ? sizeof(double) : sizeof(float)));
  gsize bad = 0;
  if (!picked) {
    astro_backend_no_memory(error, "no memory for %" G_GSIZE_FORMAT " pixels of a model", all);
    return NULL;
  }
  for (guint c = 0; c < images->channels; c++)
    for (guint p = 0; p < n_products; p++)
      bad += copy_image(images, ((gsize)c * images->products + products[p]) * images->n, to_double,
                        ((gsize)c * n_products + p) * images->n, picked);
  if (bad == 0)
    return picked;
  astro_backend_refuse(error,
                       "%" G_GSIZE_FORMAT " pixels of the model are NaN or infinite: expected "
                       "numbers, and 0 where there is nothing",
                       bad);
  free(picked);
  return NULL;
}

char *astro_model_images_checksum(gconstpointer picked, gsize bytes)
{
  enum { SHORT = 16 }; /* digits: enough to tell models apart */
  g_autofree char *whole = g_compute_checksum_for_data(G_CHECKSUM_SHA256, picked, bytes);
  return g_strndup(whole, SHORT);
}
