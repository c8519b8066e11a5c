/* The work of the search, for plans. */
#include "config.h"
#include "core/search/check.h"

/* Each value is taken off the baseline, divided by the noise and weighted. A boxcar adds as many
 * values and weights as it is wide, and divides them. */
gboolean astro_search_work(gconstpointer configuration, const AstroWorkSteps *steps,
                           AstroWork *work)
{
  const AstroSearchConfig *config = configuration;
  double operations = 3;
  for (guint k = 0; k < config->n_widths; k++)
    operations += 2. * config->widths[k] + 1;
  *work = (AstroWork){ .kept = astro_search_bytes(config),
                       .besides = "the noise of each window, by medians of its good values" };
  work->operations[ASTRO_ARITHMETIC_DOUBLE] =
      operations * config->stations * config->dms * steps->in;
  return TRUE;
}
