/* Delays of a fraction of a sample: a windowed sinc, within 4e-4 of a turn and 0.5% in amplitude of
 * a true delay over the inner 90% of the band. Real samples have their band in half of the
 * frequencies that complex ones have, and so need twice the taps. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ASTRO_FRACTION_TAPS 32
#define ASTRO_FRACTION_REAL_TAPS 64
#define ASTRO_FRACTION_CENTRE(taps) ((taps) / 2 - 1) /* the tap that a delay of nothing takes */

/* Taps with which sum of taps[k] x[n + k] is gain * x(n + centre + fraction), for 0 <= fraction
 * < 1.
 */
void astro_fraction_taps(double fraction, double gain, float taps[ASTRO_FRACTION_TAPS]);

/* The same of real samples: complex taps, the real parts first, with which that sum is the analytic
 * signal of x, which has no negative frequencies. Its real part is x, delayed; multiplied by a
 * phasor before that, x with all its frequencies turned. */
void astro_fraction_real_taps(double fraction, double gain,
                              float taps[2 * ASTRO_FRACTION_REAL_TAPS]);

/* Over how many samples (a power of two from 64 to 1024) a delay by the earth's rotation may be
 * taken for a straight line, its fraction for constant, at an error of 1e-4 of a turn. reach: the
 * largest delay, seconds. 0: not even over 64. */
guint astro_fraction_stretch(double reach, double frequency, double rate);

/* The rate above which that is possible, a little rounded up; INFINITY: none is enough. */
double astro_fraction_least_rate(double reach, double frequency);

G_END_DECLS
