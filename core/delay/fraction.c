#include "config.h"
#include "core/delay/fraction.h"

#include <math.h>

#define STEPS 1024      /* linear between them: 2e-6 */
#define KAISER_BETA 4.9 /* the least error over 90% of the band for this number of taps */

#define EARTH_RATE 7.2921e-5 /* radians a second */
#define LIMIT 1e-4           /* turns */
#define SHORTEST 64          /* samples of a straight line */
#define LONGEST 1024

typedef float Row[ASTRO_FRACTION_TAPS];

/* The modified Bessel function of order zero, by its series. */
static double bessel_i0(double x)
{
  double sum = 1, term = 1;
  for (guint k = 1; term > 1e-17 * sum; k++) {
    term *= x / (2 * k) * (x / (2 * k));
    sum += term;
  }
  return sum;
}

static void exact_taps(double fraction, Row row)
{
  for (guint k = 0; k < ASTRO_FRACTION_TAPS; k++) {
    double x = (double)k - ASTRO_FRACTION_CENTRE - fraction;
    double edge = x / (ASTRO_FRACTION_TAPS / 2);
    double sinc = x == 0 ? 1 : sin(G_PI * x) / (G_PI * x);
    row[k] = (float)(sinc * bessel_i0(KAISER_BETA * sqrt(MAX(1 - edge * edge, 0))) /
                     bessel_i0(KAISER_BETA));
  }
}

static const Row *table(void)
{
  static Row rows[STEPS + 1];
  static gsize filled = 0;
  if (g_once_init_enter(&filled)) {
    for (guint i = 0; i <= STEPS; i++)
      exact_taps((double)i / STEPS, rows[i]);
    g_once_init_leave(&filled, 1);
  }
  return (const Row *)rows;
}

void astro_fraction_taps(double fraction, double gain, float taps[ASTRO_FRACTION_TAPS])
{
  guint step = (guint)MIN(fraction * STEPS, STEPS - 1);
  float right = (float)(gain * (fraction * STEPS - step)), left = (float)gain - right;
  const float *a = table()[step], *b = table()[step + 1];
  for (guint k = 0; k < ASTRO_FRACTION_TAPS; k++)
    taps[k] = left * a[k] + right * b[k];
}

guint astro_fraction_stretch(double reach, double frequency, double rate)
{
  for (guint stretch = LONGEST; stretch >= SHORTEST; stretch /= 2) {
    double angle = EARTH_RATE * stretch / rate;
    double bend = frequency * reach * angle * angle / 8;
    double drift = rate * reach * angle / 4;
    if (bend < LIMIT && drift < LIMIT)
      return stretch;
  }
  return 0;
}

double astro_fraction_least_rate(double reach, double frequency)
{
  const double turn = EARTH_RATE * SHORTEST;
  /* What is told in four digits is to be enough when it is typed. */
  return reach * turn / 4 < LIMIT ? 1.001 * turn * sqrt(frequency * reach / (8 * LIMIT)) : INFINITY;
}
