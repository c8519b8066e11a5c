/* The work of dedispersion, for plans. */
#include "config.h"
#include "core/dedisperse/dedisperse.h"

/* Each trial adds up all channels and divides. The cpu backend shares sums among trials, so that it
 * makes fewer additions. What coherent work takes depends on the length of its transforms, which
 * the backend chooses. */
gboolean astro_dedisperse_work(gconstpointer configuration, const AstroWorkSteps *steps,
                               AstroWork *work)
{
  const AstroDedisperseConfig *config = configuration;
  if (config->coherent)
    return FALSE;
  *work = (AstroWork){ .kept = astro_dedisperse_bytes(config) };
  work->operations[ASTRO_ARITHMETIC_FLOAT] = (double)config->stations * config->n_dms *
                                             config->pols * (config->channels + 1.) * steps->out;
  return TRUE;
}
