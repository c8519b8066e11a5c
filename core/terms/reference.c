/* The reference backend: the fit of one pixel after another. */
#include "config.h"
#include "core/backend/count.h"
#include "core/backend/instance.h"
#include "core/terms/check.h"

#include <math.h>

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  *variant = "terms";
  return astro_instance_new(&astro_terms_reference, sizeof(AstroTermsConfig), config, error);
}

static void fit_pixel(const AstroTermsConfig *config, const AstroPolynomial *fit, gconstpointer in,
                      guint product, gsize at, double *values, gpointer out)
{
  double terms[ASTRO_POLYNOMIAL_MOST_TERMS];
  for (guint channel = 0; channel < config->channels; channel++) {
    ASTRO_COUNT(2 * fit->terms); /* it is multiplied and added for each */
    values[channel] = astro_terms_get(config, astro_terms_plane(config, in, channel, product), at);
  }
  astro_polynomial_solve(fit, values, terms);
  for (guint k = 0; k < fit->terms; k++) {
    const gint to = astro_terms_find(config, (AstroTermsKind)k, product);
    if (to >= 0)
      astro_terms_put(config, out, (gsize)to * astro_terms_pixels(config) + at, terms[k]);
  }
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer given, AstroResult *result, GError **error)
{
  const AstroTermsConfig *config = instance;
  const AstroTermsArguments *arguments = given;
  const gsize n = astro_terms_pixels(config);
  g_autofree double *values = g_new(double, config->channels);
  if (!astro_terms_check_call(config, in, n_in, out, n_out, error))
    return FALSE;
  for (gsize i = 0; i < n * astro_terms_products_out(config); i++)
    astro_terms_put(config, out->data, i, NAN);
  for (guint product = 0; product < config->products; product++) {
    AstroPolynomial fit;
    gboolean any;
    const gboolean ok =
        astro_terms_fit(config, in->data, product, arguments->weights, &fit, &any, error);
    for (gsize i = 0; i < n && ok && any; i++)
      fit_pixel(config, &fit, in->data, product, i, values, out->data);
    astro_polynomial_clear(&fit);
    if (!ok)
      return FALSE;
  }
  astro_terms_fill_indexes(config, out->data);
  return TRUE;
}

const AstroBackend astro_terms_reference = {
  .stage = "terms",
  .kind = ASTRO_BACKEND_REFERENCE,
  .config_bytes = sizeof(AstroTermsConfig),
  .shape = astro_terms_check,
  .create = create,
  .submit = submit,
  .destroy = g_free,
};
