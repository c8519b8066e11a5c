/* The work of the filter bank, for plans. */
#include "config.h"
#include "core/channelizer/channelizer.h"

#include <math.h>

/* For each spectrum a filter of `taps` weighted samples for each value that is transformed, of
 * which the first is not added to anything, then the transform, and a gain for each channel if
 * there are gains. */
gboolean astro_channelizer_work(gconstpointer configuration, const AstroWorkSteps *steps,
                                AstroWork *work)
{
  const AstroChannelizerConfig *config = configuration;
  const AstroStream *in = &config->in;
  const double inputs = steps->samples_in;
  const double step = (double)astro_channelizer_step(config);
  const guint components = astro_format_info(in->format)->is_complex ? 2 : 1;
  const double filter = components * step * (2. * config->taps - 1);
  const double transform = 2.5 * components * step * log2(step);
  const double gains = config->gains ? 2. * config->channels : 0;
  *work = (AstroWork){ .kept = inputs * (double)astro_channelizer_span(config) * components *
                               sizeof(float) };
  work->operations[ASTRO_ARITHMETIC_FLOAT] = inputs * (filter + transform + gains) * steps->out;
  return TRUE;
}
