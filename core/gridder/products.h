/* What is gridded of a visibility's correlations. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ASTRO_MAX_PRODUCTS 5 /* four and the PSF */

/* A sum of the correlations of a pair in the order of the stream (XX XY YX YY). */
typedef struct {
  gboolean is_psf; /* 1 whatever they are */
  gboolean used[4];
  double factors[4][2]; /* complex */
} AstroProduct;

/* Of a product's name ("XX", "I", "PSF") in a basis (linear, circular) with that many
 * polarisations; an error says what there is. */
gboolean astro_product_find(AstroProduct *product, const char *name, const char *basis, guint pols,
                            GError **error);

/* Whether any basis has it. */
gboolean astro_product_is_known(const char *name);

G_END_DECLS
