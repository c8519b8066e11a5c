/* The work of beamforming, for plans. */
#include "config.h"
#include "core/beamform/beamform.h"
#include "core/beamform/check.h"

/* A sample is multiplied by its factor and added, 8 operations, for each beam and each station of
 * the input, whether or not it takes part. */
gboolean astro_beamform_work(gconstpointer configuration, const AstroWorkSteps *steps,
                             AstroWork *work)
{
  const AstroBeamformConfig *config = configuration;
  const AstroBeamformSize size = astro_beamform_size(config);
  const double factors = (double)size.stations * size.beams * size.channels;
  *work = (AstroWork){ .kept = factors * 2 * sizeof(float) };
  work->operations[ASTRO_ARITHMETIC_FLOAT] = 8 * factors * size.pols * steps->in;
  return TRUE;
}
