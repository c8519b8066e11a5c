/* Delays of a fraction of a sample: a windowed sinc, within 4e-4 cycles and 0.5% in amplitude of a
 * true delay over the inner 90% of the band. Real samples have their band in half of the
 * frequencies that complex ones have, and so need twice as many taps. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ASTRO_FRACTION_TAPS 32
#define ASTRO_FRACTION_REAL_TAPS 64
#define ASTRO_FRACTION_CENTRE(taps) ((taps) / 2 - 1) /* the tap for a delay of zero */

/* Taps with which the sum of taps[k] x[n + k] is gain * x(n + centre + fraction), for 0 <= fraction
 * < 1. */
void astro_fraction_taps(double fraction, double gain, float taps[ASTRO_FRACTION_TAPS]);

/* The same for real samples: complex taps, the real parts first, with which that sum is the
 * analytic signal of x, which has no negative frequencies. Its real part is the delayed x; if it is
 * multiplied by a phasor first, its real part is x with all its frequencies rotated by that phase.
 */
void astro_fraction_real_taps(double fraction, double gain,
                              float taps[2 * ASTRO_FRACTION_REAL_TAPS]);

/* The number of samples (a power of two from 64 to 1024) over which a delay that changes by the
 * rotation of the Earth may be taken as linear and its fraction as constant, with an error of 1e-4
 * cycles. reach: the largest delay, seconds. 0: not even over 64. */
guint astro_fraction_stretch(double reach, double frequency, double rate);

/* The rate above which that is possible, rounded up a little; INFINITY: no rate is enough. */
double astro_fraction_least_rate(double reach, double frequency);

G_END_DECLS
