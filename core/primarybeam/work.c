/* The work of the primary beam, for plans. */
#include "config.h"
#include "core/primarybeam/primarybeam.h"

/* A division for each pixel; the beam itself stays the same. */
gboolean astro_primary_beam_work(gconstpointer configuration, const AstroWorkSteps *steps,
                                 AstroWork *work)
{
  const AstroPrimaryBeamConfig *config = configuration;
  *work = (AstroWork){ 0 };
  work->operations[config->format == ASTRO_FORMAT_F64LE ? ASTRO_ARITHMETIC_DOUBLE
                                                        : ASTRO_ARITHMETIC_FLOAT] =
      (double)config->width * config->height * config->channels * config->products * steps->in;
  return TRUE;
}
