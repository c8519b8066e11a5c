/* The images of a model as degridding takes them, out of all images of a file. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  gconstpointer pixels; /* [channel][product][pixel] */
  gboolean is_double;
  guint channels, products;
  gsize n; /* pixels of an image */
} AstroModelImages;

/* Copies those products, in that order, to double or single precision; free with free(). NULL, with
 * an error, where a pixel is not finite. */
gpointer astro_model_images_pick(const AstroModelImages *images, const guint *products,
                                 guint n_products, gboolean to_double, GError **error);

/* Identifies the pixels of those products, whatever their precision was; to be freed. */
char *astro_model_images_checksum(gconstpointer picked, gsize bytes);

G_END_DECLS
