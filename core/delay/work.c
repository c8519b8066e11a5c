/* The work of delays, for plans. */
#include "config.h"
#include "core/delay/instance.h"

/* Spectra are multiplied by a phase, a complex product. Voltages are sums over taps first, of 4
 * operations each. */
gboolean astro_delay_work(gconstpointer configuration, const AstroWorkSteps *steps, AstroWork *work)
{
  const AstroDelayConfig *config = configuration;
  const AstroStream *in = &config->in;
  const double taps = in->quantity == ASTRO_QUANTITY_VOLTAGES ? astro_delay_taps(in) : 0;
  *work = (AstroWork){ .kept = steps->samples_in * taps * 2 * sizeof(float) };
  work->operations[ASTRO_ARITHMETIC_FLOAT] = steps->samples_in * (4 * taps + 6) * steps->in;
  return TRUE;
}
