/* The work of conversion, for plans. */
#include "config.h"
#include "core/convert/convert.h"
#include "core/stream/stream.h"

/* One multiplication for each component. */
gboolean astro_convert_work(gconstpointer configuration, const AstroWorkSteps *steps,
                            AstroWork *work)
{
  const AstroConvertConfig *config = configuration;
  *work = (AstroWork){ 0 };
  work->operations[astro_format_is_double(config->from) || astro_format_is_double(config->to)
                       ? ASTRO_ARITHMETIC_DOUBLE
                       : ASTRO_ARITHMETIC_FLOAT] =
      (astro_format_info(config->from)->is_complex ? 2 : 1) * steps->samples_in * steps->in;
  return TRUE;
}
