/* Filters for delays of a fraction of a sample. */
#include "config.h"
#include "core/lib/interpolate/fraction.h"

#include <math.h>

#define STEPS 1024      /* rows of the tables; interpolation between them has an error of 2e-6 */
#define KAISER_BETA 4.9 /* the smallest error over 90% of the band for this number of taps */

#define EARTH_RATE 7.2921e-5 /* radians per second */
#define LIMIT 1e-4           /* cycles */
#define SHORTEST 64          /* samples taken as linear */
#define LONGEST 1024

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

/* im: of the analytic signal; NULL: not wanted. */
static void exact_taps(double fraction, guint taps, float *re, float *im)
{
  for (guint k = 0; k < taps; k++) {
    double x = (double)k - ASTRO_FRACTION_CENTRE(taps) - fraction, edge = x / (taps / 2);
    double window = bessel_i0(KAISER_BETA * sqrt(MAX(1 - edge * edge, 0))) / bessel_i0(KAISER_BETA);
    re[k] = (float)(window * (x == 0 ? 1 : sin(G_PI * x) / (G_PI * x)));
    if (im)
      im[k] = (float)(window * (x == 0 ? 0 : (cos(G_PI * x) - 1) / (G_PI * x)));
  }
}

typedef float Row[ASTRO_FRACTION_TAPS];
typedef float RealRow[2 * ASTRO_FRACTION_REAL_TAPS];

static const Row *table(void)
{
  static Row rows[STEPS + 1];
  static gsize filled = 0;
  if (g_once_init_enter(&filled)) {
    for (guint i = 0; i <= STEPS; i++)
      exact_taps((double)i / STEPS, ASTRO_FRACTION_TAPS, rows[i], NULL);
    g_once_init_leave(&filled, 1);
  }
  return (const Row *)rows;
}

static const RealRow *real_table(void)
{
  static RealRow rows[STEPS + 1];
  static gsize filled = 0;
  if (g_once_init_enter(&filled)) {
    for (guint i = 0; i <= STEPS; i++)
      exact_taps((double)i / STEPS, ASTRO_FRACTION_REAL_TAPS, rows[i],
                 rows[i] + ASTRO_FRACTION_REAL_TAPS);
    g_once_init_leave(&filled, 1);
  }
  return (const RealRow *)rows;
}

/* Interpolates linearly between a row of n numbers and the next. */
static void between(const float *rows, guint n, double fraction, double gain, float *out)
{
  guint step = (guint)MIN(fraction * STEPS, STEPS - 1);
  float right = (float)(gain * (fraction * STEPS - step)), left = (float)gain - right;
  const float *a = rows + step * n, *b = a + n;
  for (guint k = 0; k < n; k++)
    out[k] = left * a[k] + right * b[k];
}

void astro_fraction_taps(double fraction, double gain, float taps[ASTRO_FRACTION_TAPS])
{
  between(table()[0], ASTRO_FRACTION_TAPS, fraction, gain, taps);
}

void astro_fraction_real_taps(double fraction, double gain,
                              float taps[2 * ASTRO_FRACTION_REAL_TAPS])
{
  between(real_table()[0], 2 * ASTRO_FRACTION_REAL_TAPS, fraction, gain, taps);
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
  const double angle = EARTH_RATE * SHORTEST;
  /* Rounded up so that the four digits in the message are enough when typed. */
  return reach * angle / 4 < LIMIT ? 1.001 * angle * sqrt(frequency * reach / (8 * LIMIT))
                                   : INFINITY;
}
