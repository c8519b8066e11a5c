/* Fits power laws. */
#include "core/kit/power-law.h"

#include <math.h>

#define LEAST_SHARE 0.1 /* of the Poisson error: a smaller jackknife error is no estimate */
#define LEAST_BINS 3    /* that exceed their error: a power law fits any two points */

double astro_power_law_error(const AstroPowerLawBins *bins, guint k)
{
  const double error = bins->error[k];
  if (!isfinite(bins->x[k]) || !isfinite(bins->y[k]) || !isfinite(error) || !(error > 0))
    return NAN;
  if (!bins->pairs)
    return error;
  if (!(bins->pairs[k] > 0))
    return NAN;
  const double poisson = fabs(1 + bins->y[k]) / sqrt(bins->pairs[k]);
  return error < LEAST_SHARE * poisson ? NAN : fmax(error, poisson);
}

static gboolean is_within(const AstroPowerLawBins *bins, guint k, double low, double high)
{
  return bins->x[k] > 0 && bins->x[k] >= low && bins->x[k] <= high &&
         !isnan(astro_power_law_error(bins, k));
}

/* Fits a straight line through the logarithms: the error of log y is error / y. */
gboolean astro_power_law_line(const AstroPowerLawBins *bins, double low, double high,
                              AstroPowerLaw *law)
{
  double s = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  *law = (AstroPowerLaw){ .amplitude = NAN, .slope = NAN, .from = INFINITY, .to = -INFINITY };
  for (guint k = 0; k < bins->n; k++) {
    if (!is_within(bins, k, low, high) || !(bins->y[k] > 0))
      continue;
    const double significance = bins->y[k] / astro_power_law_error(bins, k),
                 weight = significance * significance, log_x = log(bins->x[k]),
                 log_y = log(bins->y[k]);
    s += weight;
    sx += weight * log_x;
    sy += weight * log_y;
    sxx += weight * log_x * log_x;
    sxy += weight * log_x * log_y;
    law->from = fmin(law->from, bins->x[k]);
    law->to = fmax(law->to, bins->x[k]);
    law->n_used++;
  }
  double determinant = s * sxx - sx * sx;
  if (law->n_used < 2 || !(determinant > 0)) {
    g_snprintf(law->reason, sizeof law->reason, "%u of %u bins can be used, expected at least 2",
               law->n_used, bins->n);
    return FALSE;
  }
  law->slope = (s * sxy - sx * sy) / determinant;
  law->amplitude = exp((sy - law->slope * sx) / s);
  return TRUE;
}

/* Chi squared of n bins by chance, plus two standard deviations. */
static double most_by_chance(guint n)
{
  return n + 2 * sqrt(2.0 * n);
}

static gboolean stands_out(const AstroPowerLawBins *bins, double low, double high,
                           AstroPowerLaw *law)
{
  guint n = 0, out = 0;
  double chi_square = 0;
  for (guint k = 0; k < bins->n; k++) {
    if (!is_within(bins, k, low, high))
      continue;
    const double significance = bins->y[k] / astro_power_law_error(bins, k);
    chi_square += significance * significance;
    out += significance > 1;
    n++;
  }
  if (out < LEAST_BINS)
    g_snprintf(law->reason, sizeof law->reason,
               "%u of %u bins are above 0 by more than their error, expected at least %u", out,
               bins->n, LEAST_BINS);
  else if (chi_square <= most_by_chance(n))
    g_snprintf(law->reason, sizeof law->reason,
               "all agree with 0 within their errors (chi squared is %.3g in %u bins)", chi_square,
               n);
  return !*law->reason;
}

gboolean astro_power_law_fit(const AstroPowerLawBins *bins, double low, double high,
                             AstroPowerLaw *law)
{
  *law = (AstroPowerLaw){ .amplitude = NAN, .slope = NAN };
  return stands_out(bins, low, high, law) && astro_power_law_line(bins, low, high, law);
}
