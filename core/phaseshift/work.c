/* The work of phase shifts, for plans. */
#include "config.h"
#include "core/phaseshift/check.h"
#include "core/phaseshift/phaseshift.h"

/* A complex product for each visibility. */
gboolean astro_phaseshift_work(gconstpointer configuration, const AstroWorkSteps *steps,
                               AstroWork *work)
{
  const AstroPhaseshiftConfig *config = configuration;
  const AstroPhaseshiftSize size = astro_phaseshift_size(&config->in);
  *work = (AstroWork){ 0 };
  work->operations[astro_format_is_double(config->out.format) ? ASTRO_ARITHMETIC_DOUBLE
                                                              : ASTRO_ARITHMETIC_FLOAT] =
      6. * size.channels * (double)size.baselines * size.values * steps->in;
  return TRUE;
}
