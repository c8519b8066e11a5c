/* Phases and delays of a dispersed wave. */
#include "config.h"
#include "core/lib/sky/dispersion.h"

/* Minus the integral of the delay over frequency, from the reference on. */
double astro_dispersion_turns(double dm, double reference, double frequency)
{
  const double x = (frequency - reference) / reference;
  return ASTRO_DISPERSION * dm * x * x / frequency;
}

double astro_dispersion_delay(double dm, double reference, double frequency)
{
  return ASTRO_DISPERSION * dm * (1 / (frequency * frequency) - 1 / (reference * reference));
}
