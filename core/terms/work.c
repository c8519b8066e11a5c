/* The work of terms, for plans. */
#include "config.h"
#include "core/terms/check.h"

/* Each channel's value is multiplied and added for each term of its product's fit, in doubles. What
 * depends on the values is not told: the noise, and where a spectral index is divided. */
gboolean astro_terms_work(gconstpointer configuration, const AstroWorkSteps *steps, AstroWork *work)
{
  const AstroTermsConfig *config = configuration;
  double terms = 0;
  for (guint product = 0; product < config->products; product++)
    terms += astro_terms_fitted(config, product);
  *work = (AstroWork){ 0 };
  work->operations[ASTRO_ARITHMETIC_DOUBLE] =
      2 * terms * config->channels * (double)astro_terms_pixels(config) * steps->in;
  return TRUE;
}
