/* Dispersion by free electrons on the way: the one law that simulated pulses have and that stages
 * take out. It delays a frequency f by K DM (1/f^2 - 1/f0^2) against a frequency f0. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ASTRO_DISPERSION 4.148808e15 /* K, s Hz^2 cm^3 / pc */

/* The phase, in cycles, that dispersion adds at a frequency, and how much later that arrives than
 * the reference does, s. dm: pc / cm^3. */
double astro_dispersion_turns(double dm, double reference, double frequency);
double astro_dispersion_delay(double dm, double reference, double frequency);

G_END_DECLS
