/* Leave-one-out sums are always added up, never computed as the whole less a part: with weights of
 * very different sizes the subtraction would lose the small ones. */
#include "core/tpacf/left-out.h"

#include <math.h>
#include <string.h>

gboolean sums_init(Sum *sums, guint n, guint n_bins)
{
  gboolean has_room = TRUE;
  for (guint i = 0; i < n; i++) {
    sums[i] = (Sum){ has_room ? g_try_new0(double, MAX(n_bins, 1)) : NULL, 0 };
    has_room = has_room && sums[i].counts;
  }
  return has_room;
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
 * sum gets what comes before its own region, which is kept in `passed`. */
static void add_row(const Regions *regions, const double *counts, const double *pairs, guint row,
                    gboolean behind, Sum *passed, Sum *left)
{
  memset(passed->counts, 0, regions->n_bins * sizeof *passed->counts);
  passed->pairs = 0;
  for (guint i = 0; i < regions->n_regions; i++) {
    const guint other = behind ? regions->n_regions - 1 - i : i;
    if (other != row)
      sum_add(regions, passed, &left[other]);
    sum_cell(regions, counts, pairs, row, other, passed);
  }
}

Sum *sums_left(const Regions *regions, const double *counts, const double *pairs)
{
  const guint n = regions->n_regions;
  Sum passed = { NULL, 0 }, *left = g_try_new0(Sum, n);
  if (!left || !sums_init(&passed, 1, regions->n_bins) || !sums_init(left, n, regions->n_bins)) {
    sums_free(left, left ? n : 0);
    g_clear_pointer(&left, g_free);
  }
  for (guint row = 0; left && counts && row < n; row++) {
    add_row(regions, counts, pairs, row, FALSE, &passed, left);
    add_row(regions, counts, pairs, row, TRUE, &passed, left);
  }
  g_free(passed.counts);
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

double sum_bins(const Sum *sum, guint n_bins)
{
  double all = 0;
  for (guint k = 0; k < n_bins; k++)
    all += sum->counts[k];
  return all;
}
