/* Correlations of a visibility, made of the products of a model. */
#pragma once

#include "core/gridder/products.h"

G_BEGIN_DECLS

/* correlation k is the sum of factors[k][p], complex, times product p. */
typedef struct {
  guint n, products; /* correlations, in the order of the stream */
  double factors[4][ASTRO_MAX_PRODUCTS][2];
} AstroCorrelations;

/* The reverse of products; those that the model does not have are 0. An error if one polarisation's
 * power would be known and the other's not. */
gboolean astro_correlations_set(AstroCorrelations *correlations, const AstroProduct *products,
                                guint n_products, guint pols, GError **error);

G_END_DECLS
