/* Errors of w: by the jackknife over regions, or by the number of pairs. */
#include "core/tpacf/errors.h"

#include <math.h>

/* The values of leave-one-out samples, and how many there are. FALSE: there is no memory. */
static gboolean make_samples(const AstroTpacfConfig *config, const AstroPairs *kinds[N_KINDS],
                             guint n_values, double *samples, guint *n)
{
  const Regions regions = regions_of(config);
  Sum *left[N_KINDS];
  gboolean has_room = TRUE;
  for (guint kind = 0; kind < N_KINDS; kind++) {
    left[kind] = has_room ? sums_left(&regions, kinds[kind]->counts, kinds[kind]->pairs) : NULL;
    has_room = has_room && left[kind];
  }
  for (guint region = 0; has_room && region < config->n_regions; region++) {
    Sum sample[N_KINDS];
    gboolean touched = FALSE;
    for (guint kind = 0; kind < N_KINDS; kind++) {
      sample[kind] = left[kind][region];
      touched |= has_pairs(&regions, kinds[kind]->counts, kinds[kind]->pairs, region);
    }
    for (guint k = 0; k < n_values && touched; k++)
      samples[(gsize)*n * n_values + k] = value_of(config, sample, k);
    *n += touched;
  }
  for (guint kind = 0; kind < N_KINDS; kind++) {
    sums_free(left[kind], left[kind] ? config->n_regions : 0);
    g_free(left[kind]);
  }
  return has_room;
}

gboolean jackknife(const AstroTpacfConfig *config, const AstroPairs *kinds[N_KINDS],
                   AstroTpacfResult *result)
{
  const guint n_bins = result->n_bins;
  const gboolean whole = !in_space(config) || config->sums;
  if (whole && !(result->covariance = g_try_new(double, (gsize)n_bins *n_bins)))
    return FALSE;
  g_autofree double *samples = g_try_new(double, (gsize)config->n_regions *n_bins),
                    *mean = g_try_new0(double, MAX(n_bins, 1));
  if (!samples || !mean || !make_samples(config, kinds, n_bins, samples, &result->n_used))
    return FALSE;
  guint n = result->n_used;
  means_of(samples, n, n_bins, mean);
  for (guint i = 0; i < n_bins; i++) {
    result->error[i] = sqrt(covariance_of(samples, n, n_bins, mean, i, i));
    for (guint j = 0; whole && j < n_bins; j++)
      result->covariance[(gsize)i * n_bins + j] = covariance_of(samples, n, n_bins, mean, i, j);
  }
  return TRUE;
}

static double pairs_in_bin(const AstroTpacfConfig *config, const Sum *dd, guint bin)
{
  const gsize cells = (gsize)config->n_regions * config->n_regions;
  double pairs = 0;
  for (gsize cell = 0; config->dd_numbers && cell < cells; cell++)
    pairs += (double)config->dd_numbers[cell * config->n_bins + bin];
  return config->dd_numbers ? pairs : dd->counts[bin];
}

/* The error of a bin by the number of its pairs. */
static double poisson(double w, double pairs)
{
  return pairs > 0 ? fabs(1 + w) / sqrt(pairs) : NAN;
}

static void set_errors_of_bins(const AstroTpacfConfig *config, const Sum sums[N_KINDS],
                               AstroTpacfResult *result)
{
  for (guint k = 0; k < result->n_bins; k++) {
    result->pairs[k] = pairs_in_bin(config, &sums[DD], k);
    if (config->n_regions < 2)
      result->error[k] = poisson(result->w[k], result->pairs[k]);
  }
}

static void set_errors_of_sums(const AstroTpacfConfig *config, const Sum sums[N_KINDS],
                               AstroTpacfResult *result)
{
  const AstroTpacfSums *of = config->sums;
  for (guint value = 0; value < result->n_bins; value++) {
    const guint row = value % n_rows(config), sum = value / n_rows(config);
    double variance = 0, all = 0;
    for (guint column = 0; column < of->n_columns; column++) {
      const guint bin = row * of->n_columns + column;
      const double share = of->shares[sum * of->n_columns + column],
                   pairs = share != 0 ? pairs_in_bin(config, &sums[DD], bin) : 0;
      const double error = pairs > 0 ? share * poisson(estimate(config, sums, bin), pairs) : 0;
      variance += error * error;
      all += pairs;
    }
    result->pairs[value] = all;
    if (config->n_regions < 2)
      result->error[value] = all > 0 ? sqrt(variance) : NAN;
  }
}

void set_errors(const AstroTpacfConfig *config, const Sum sums[N_KINDS], AstroTpacfResult *result)
{
  if (config->sums)
    set_errors_of_sums(config, sums, result);
  else
    set_errors_of_bins(config, sums, result);
}
