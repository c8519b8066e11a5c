/* The work of flags, for plans. */
#include "config.h"
#include "core/flag/flag.h"

/* Kurtosis of samples: 3 operations for a power, one for its square, and two sums. What power takes
 * is in its products already. How often SumThreshold looks at a value depends on what it flags. */
gboolean astro_flag_work(gconstpointer configuration, const AstroWorkSteps *steps, AstroWork *work)
{
  const AstroFlagConfig *config = configuration;
  if (config->method != ASTRO_FLAG_KURTOSIS || !astro_flag_has_blocks(config))
    return FALSE;
  *work = (AstroWork){ .kept = steps->samples_in * (2 * sizeof(double) + sizeof(guint32)) };
  work->operations[ASTRO_ARITHMETIC_FLOAT] = 6 * steps->samples_in * steps->in;
  return TRUE;
}
