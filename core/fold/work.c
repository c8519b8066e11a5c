/* The work of folding, for plans. */
#include "config.h"
#include "core/fold/fold.h"

/* Each value is added to its bin, and each bin is divided. */
gboolean astro_fold_work(gconstpointer configuration, const AstroWorkSteps *steps, AstroWork *work)
{
  const AstroFoldConfig *config = configuration;
  const double series = (double)config->stations * config->channels;
  *work = (AstroWork){ .kept = series * config->bins *
                               (config->pols * sizeof(double) + sizeof(guint32)) };
  work->operations[ASTRO_ARITHMETIC_DOUBLE] =
      series * config->pols * (steps->in + config->bins * steps->out);
  return TRUE;
}
