/* Leave-one-out sums are always added up, never computed as the whole less a part: with weights of
 * very different sizes the subtraction would lose the small ones. */
#include "core/tpacf/left-out.h"

#include <math.h>

Sum sum_new(guint n_bins)
{
  return (Sum){ g_new0(double, n_bins), 0 };
}

void sums_free(Sum *sums, guint n)
{
  for (guint i = 0; i < n; i++)
    g_free(sums[i].counts);
}

static void sum_cell(const Regions *regions, const double *counts, const double *pairs, guint a,
                     guint b, Sum *sum)
{
  const gsize cell = (gsize)a * regions->n_regions + b;
  for (guint k = 0; k < regions->n_bins; k++)
    sum->counts[k] += counts[cell * regions->n_bins + k];
  sum->pairs += pairs[cell];
}

void sum_all(const Regions *regions, const double *counts, const double *pairs, Sum *sum)
{
  for (guint a = 0; counts && a < regions->n_regions; a++)
    for (guint b = 0; b < regions->n_regions; b++)
      sum_cell(regions, counts, pairs, a, b, sum);
}

static void sum_add(const Regions *regions, const Sum *from, Sum *to)
{
  for (guint k = 0; k < regions->n_bins; k++)
    to->counts[k] += from->counts[k];
  to->pairs += from->pairs;
}

/* Adds the pairs of one region with others to all sums without a third region: in each direction, a
 * sum gets what comes before its own region. */
static void add_row(const Regions *regions, const double *counts, const double *pairs, guint row,
                    gboolean behind, Sum *left)
{
  Sum passed = sum_new(regions->n_bins);
  for (guint i = 0; i < regions->n_regions; i++) {
    const guint other = behind ? regions->n_regions - 1 - i : i;
    if (other != row)
      sum_add(regions, &passed, &left[other]);
    sum_cell(regions, counts, pairs, row, other, &passed);
  }
  g_free(passed.counts);
}

Sum *sums_left(const Regions *regions, const double *counts, const double *pairs)
{
  Sum *left = g_new(Sum, regions->n_regions);
  for (guint region = 0; region < regions->n_regions; region++)
    left[region] = sum_new(regions->n_bins);
  for (guint row = 0; counts && row < regions->n_regions; row++) {
    add_row(regions, counts, pairs, row, FALSE, left);
    add_row(regions, counts, pairs, row, TRUE, left);
  }
  return left;
}

gboolean has_pairs(const Regions *regions, const double *counts, const double *pairs, guint region)
{
  for (guint other = 0; counts && other < regions->n_regions; other++)
    if (pairs[(gsize)region * regions->n_regions + other] != 0 ||
        pairs[(gsize)other * regions->n_regions + region] != 0)
      return TRUE;
  return FALSE;
}

double covariance_of(const double *samples, guint n, guint n_values, const double *mean, guint i,
                     guint j)
{
  double sum = 0;
  for (guint s = 0; s < n; s++)
    sum +=
        (samples[(gsize)s * n_values + i] - mean[i]) * (samples[(gsize)s * n_values + j] - mean[j]);
  return n > 1 ? sum * (n - 1) / n : NAN;
}

void means_of(const double *samples, guint n, guint n_values, double *means)
{
  for (guint k = 0; k < n_values; k++) {
    means[k] = 0;
    for (guint s = 0; s < n; s++)
      means[k] += samples[(gsize)s * n_values + k] / n;
  }
}
