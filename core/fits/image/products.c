/* Names of products, and their numbers in FITS. */
#include "core/fits/image/image.h"
#include "core/stream/grid.h"

#include <string.h>

const char *const astro_fits_image_roles[] = { "MODEL", "RESIDUAL",  ASTRO_PRODUCT_PSF,
                                               "SLOPE", "CURVATURE", ASTRO_FITS_INDEX,
                                               NULL };

/* In the order of a stream. */
static const struct {
  const char *name;
  gint code;
} products[] = {
  { "I", 1 },   { "Q", 2 },   { "U", 3 },   { "V", 4 },   { "RR", -1 }, { "RL", -3 },
  { "LR", -4 }, { "LL", -2 }, { "XX", -5 }, { "XY", -7 }, { "YX", -8 }, { "YY", -6 },
};

gboolean astro_fits_product_from_name(AstroFitsProduct *product, const char *name)
{
  const char *dash = strchr(name, '-');
  gsize length = dash ? (gsize)(dash - name) : strlen(name);
  *product = (AstroFitsProduct){ 0 };
  if (g_str_equal(name, ASTRO_PRODUCT_PSF)) {
    *product = (AstroFitsProduct){ ASTRO_PRODUCT_PSF, 1 };
    return TRUE;
  }
  for (guint r = 0; dash && astro_fits_image_roles[r]; r++)
    if (g_str_equal(dash + 1, astro_fits_image_roles[r]))
      product->role = astro_fits_image_roles[r];
  for (guint p = 0; p < G_N_ELEMENTS(products); p++)
    if (strlen(products[p].name) == length && strncmp(products[p].name, name, length) == 0)
      product->code = products[p].code;
  return product->code && (!dash || (product->role && strcmp(product->role, ASTRO_PRODUCT_PSF)));
}

char *astro_fits_product_to_name(const AstroFitsProduct *product)
{
  if (product->role && g_str_equal(product->role, ASTRO_PRODUCT_PSF))
    return g_strdup(ASTRO_PRODUCT_PSF);
  for (guint p = 0; p < G_N_ELEMENTS(products); p++)
    if (products[p].code == product->code)
      return product->role ? g_strdup_printf("%s-%s", products[p].name, product->role)
                           : g_strdup(products[p].name);
  return NULL;
}

gint astro_fits_product_rank(gint code)
{
  gint rank = 0;
  while (rank < (gint)G_N_ELEMENTS(products) && products[rank].code != code)
    rank++;
  return rank;
}
