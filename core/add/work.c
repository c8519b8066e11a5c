/* The work of add, for plans. */
#include "config.h"
#include "core/add/check.h"

/* A value of each input is added; that of a mean is first multiplied by its count, and counts are
 * added and divided by. */
gboolean astro_add_work(gconstpointer configuration, const AstroWorkSteps *steps, AstroWork *work)
{
  const AstroAddConfig *config = configuration;
  const AstroFormat format = config->stream.format;
  const double parts = astro_format_info(format)->is_complex ? 2 : 1,
               values = steps->samples_in * steps->in;
  *work = (AstroWork){ 0 };
  work->operations[astro_format_is_double(format) ? ASTRO_ARITHMETIC_DOUBLE
                                                  : ASTRO_ARITHMETIC_FLOAT] =
      astro_add_is_mean(&config->stream)
          ? values * (2 * parts + 1) + (double)astro_add_values(config) * parts * steps->out
          : values * parts;
  return TRUE;
}
