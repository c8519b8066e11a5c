/* The weights of the filter bank: windows, and the lowpass. */
#include "config.h"
#include "core/channelizer/channelizer.h"

#include <math.h>

/* How far from a channel's centre, in channels, the response stays flat, and to which factor. */
#define FLAT_TO 0.4
#define FLAT_FACTOR 0.98855 /* -0.1 dB */
#define LEAST_CUTOFF 0.5
#define MOST_CUTOFF 0.7
/* Samples per tap in the search for the cutoff, which hardly depends on it. */
#define TRIAL_STEP 64

/* Windows as functions of u from -1 to 1. */
static double hann(double u, double beta)
{
  return 0.5 + 0.5 * cos(M_PI * u);
}

static double hamming(double u, double beta)
{
  return 0.54 + 0.46 * cos(M_PI * u);
}

static double blackman_harris(double u, double beta)
{
  double p = M_PI * u;
  return 0.35875 + 0.48829 * cos(p) + 0.14128 * cos(2 * p) + 0.01168 * cos(3 * p);
}

/* The modified Bessel function of the first kind of order 0, as a series. */
static double bessel(double x)
{
  double sum = 1, term = 1;
  for (guint i = 1; term > 1e-17 * sum; i++) {
    term *= x / 2 / i * (x / 2 / i);
    sum += term;
  }
  return sum;
}

static double kaiser(double u, double beta)
{
  return bessel(beta * sqrt(MAX(0, 1 - u * u))) / bessel(beta);
}

static double rectangular(double u, double beta)
{
  return 1;
}

typedef double (*Window)(double u, double beta);

static const Window windows[ASTRO_N_WINDOWS] = {
  [ASTRO_WINDOW_AUTO] = kaiser,     [ASTRO_WINDOW_HANN] = hann,
  [ASTRO_WINDOW_HAMMING] = hamming, [ASTRO_WINDOW_BLACKMAN_HARRIS] = blackman_harris,
  [ASTRO_WINDOW_KAISER] = kaiser,   [ASTRO_WINDOW_RECTANGULAR] = rectangular,
};

static double sinc(double x)
{
  return fabs(x) < 1e-12 ? 1 : sin(M_PI * x) / (M_PI * x);
}

/* The lowpass at sample i of taps x step; cutoff is in channels, 0: no sinc. */
static double lowpass(const AstroChannelizerConfig *config, double step, double i, double cutoff)
{
  AstroWindow window = config->window;
  double length = config->taps * step, from_middle = i - (length - 1) / 2;
  if (window == ASTRO_WINDOW_AUTO && config->taps == 1)
    window = ASTRO_WINDOW_RECTANGULAR;
  return windows[window](2 * from_middle / length, config->beta) *
         sinc(2 * cutoff * from_middle / step);
}

/* The response FLAT_TO channels from the centre, relative to that at the centre. */
static double flatness(const AstroChannelizerConfig *config, double cutoff)
{
  guint length = config->taps * TRIAL_STEP;
  double at_centre = 0, aside = 0;
  for (guint i = 0; i < length; i++) {
    double h = lowpass(config, TRIAL_STEP, i, cutoff);
    at_centre += h;
    aside += h * cos(2 * M_PI * FLAT_TO * (i - (length - 1) / 2.0) / TRIAL_STEP);
  }
  return aside / at_centre;
}

static double find_cutoff(const AstroChannelizerConfig *config)
{
  double low = LEAST_CUTOFF, high = MOST_CUTOFF;
  if (config->taps == 1)
    return 0;
  if (flatness(config, low) >= FLAT_FACTOR)
    return low;
  for (guint i = 0; i < 40; i++) {
    double middle = (low + high) / 2;
    *(flatness(config, middle) < FLAT_FACTOR ? &low : &high) = middle;
  }
  return high;
}

void astro_channelizer_weights(const AstroChannelizerConfig *config, double *weights)
{
  double step = (double)astro_channelizer_step(config), cutoff = find_cutoff(config), power = 0;
  guint64 length = astro_channelizer_span(config);
  for (guint64 i = 0; i < length; i++) {
    weights[i] = lowpass(config, step, (double)i, cutoff);
    power += weights[i] * weights[i];
  }
  double scale = config->gain / sqrt(power);
  for (guint64 i = 0; i < length; i++)
    weights[i] *= scale;
}
