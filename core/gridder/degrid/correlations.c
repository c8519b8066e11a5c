/* Makes the correlations of a visibility of the products of a model. */
#include "config.h"
#include "core/gridder/degrid/correlations.h"

#include <string.h>
#include "core/backend/backend.h"

/* Products are sums of correlations at right angles to each other (I and Q of XX and YY), so that
 * a product goes back to each correlation by its conjugate factor over their squares' sum. */
static void add_product(AstroCorrelations *self, guint p, const AstroProduct *product)
{
  double squares = 0;
  for (guint k = 0; k < self->n; k++)
    squares += product->factors[k][0] * product->factors[k][0] +
               product->factors[k][1] * product->factors[k][1];
  for (guint k = 0; k < self->n && squares > 0; k++) {
    self->factors[k][p][0] = product->factors[k][0] / squares;
    self->factors[k][p][1] = -product->factors[k][1] / squares;
  }
}

static gboolean is_known(const AstroCorrelations *self, guint k)
{
  gboolean any = FALSE;
  for (guint p = 0; p < self->products; p++)
    any |= self->factors[k][p][0] != 0 || self->factors[k][p][1] != 0;
  return any;
}

gboolean astro_correlations_set(AstroCorrelations *self, const AstroProduct *products,
                                guint n_products, guint pols, GError **error)
{
  memset(self, 0, sizeof *self);
  self->n = pols * pols;
  self->products = n_products;
  for (guint p = 0; p < n_products; p++)
    add_product(self, p, &products[p]);
  return (is_known(self, 0) && is_known(self, self->n - 1)) ||
         astro_backend_refuse(error, "the model does not say what the power of each polarisation "
                                     "is: expected product I, I with others of Q, U and V, or both "
                                     "parallel correlations (XX and YY, or RR and LL)");
}
