/* The work of transforms, for plans. */
#include "config.h"
#include "core/lib/fft/check.h"

#include <math.h>

/* The usual count for each line that is transformed: 5 n log2(n), half of that where one side is
 * real. */
gboolean astro_fft_work(gconstpointer configuration, const AstroWorkSteps *steps, AstroWork *work)
{
  const AstroFftConfig *config = configuration;
  AstroFftPass passes[ASTRO_MAX_AXES];
  const guint n = astro_fft_passes(config, 1, passes);
  double operations = 0;
  for (guint i = 0; i < n; i++) {
    const AstroFftPass *pass = &passes[i];
    const double lines =
        (double)pass->outer * (double)pass->inner * (double)pass->n_lines / (double)pass->period;
    operations += lines * (pass->real_in || pass->real_out ? 2.5 : 5) * (double)pass->n *
                  log2((double)pass->n);
  }
  *work = (AstroWork){ 0 };
  work->operations[astro_format_is_double(config->from) ? ASTRO_ARITHMETIC_DOUBLE
                                                        : ASTRO_ARITHMETIC_FLOAT] =
      operations * steps->in;
  return TRUE;
}
