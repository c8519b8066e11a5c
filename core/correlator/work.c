/* The work of the correlator, for plans. */
#include "config.h"
#include "core/correlator/correlator.h"
#include "core/lib/formats/arithmetic.h"

/* A complex product and its sum are 8 operations, for each pair of inputs, stations with themselves
 * included. Means at the end of an integration are not included. */
gboolean astro_correlator_work(gconstpointer configuration, const AstroWorkSteps *steps,
                               AstroWork *work)
{
  const AstroCorrelatorConfig *config = configuration;
  const double products =
      (double)astro_correlator_baselines(config->stations, ASTRO_TRIANGLE_LOWER) * config->pols *
      config->pols;
  *work = (AstroWork){ .kept = products * (config->channels / config->channel_step) * 16 };
  work->operations[astro_format_arithmetic(config->from)] =
      8 * products * config->channels * steps->in;
  return TRUE;
}
