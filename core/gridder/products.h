/* Products: the combinations of a visibility's correlations that are gridded. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ASTRO_MAX_PRODUCTS 5 /* four and the PSF */

/* A weighted sum of the correlations of a pair, in the order of the stream (XX XY YX YY). */
typedef struct {
  gboolean is_psf; /* 1 whatever the correlations are */
  gboolean used[4];
  double factors[4][2]; /* complex */
} AstroProduct;

/* The product of that name ("XX", "I", "PSF") in a basis (linear, circular) with that many
 * polarisations. The error lists the possible ones. */
gboolean astro_product_find(AstroProduct *product, const char *name, const char *basis, guint pols,
                            GError **error);

/* Whether it is possible in any basis. */
gboolean astro_product_is_known(const char *name);

G_END_DECLS
