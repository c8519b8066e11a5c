/* Sums over all pairs follow from sums over points; of those with bits, by how many are set. */
#include "core/histogram/totals.h"

#include "core/histogram/pair-weights.h"

typedef struct {
  const AstroPairBits *bits;
  const double *means;
  guint classes; /* numbers of bits that can be set */
} Totals;

/* The weights of a region's points with each number of set bits. */
static const double *of_region(const Totals *t, const double *sums, guint region)
{
  return sums + (gsize)region * t->classes;
}

static double both_have_bits(const Totals *t, const double *a, const double *b)
{
  double sum = 0;
  for (guint c = 0; c < t->classes; c++)
    for (guint d = 0; d < t->classes && a[c] != 0; d++)
      sum += a[c] * b[d] * t->means[c * t->classes + d];
  return sum;
}

/* Points are no pairs with themselves. */
static double within_region(const Totals *t, const Side *side, guint region)
{
  const double *sums = of_region(t, side->of_bits, region),
               *squares = of_region(t, side->square_of_bits, region);
  double itself = 0;
  for (guint c = 0; c < t->classes; c++)
    itself += squares[c] * t->means[c * t->classes + c];
  return (both_have_bits(t, sums, sums) - itself) / 2;
}

/* All points of the other catalogue are selected always. */
static double by_own_bits(const Totals *t, const double *sums)
{
  double sum = 0;
  for (guint c = 0; c < t->classes; c++)
    sum += sums[c] * pair_bits_weight(t->bits, c);
  return sum;
}

static double between(const Totals *t, const Side *a, guint i, const Side *b, guint j)
{
  if (a->of_bits && b->of_bits)
    return a == b && i == j
               ? within_region(t, a, i)
               : both_have_bits(t, of_region(t, a->of_bits, i), of_region(t, b->of_bits, j));
  if (a == b && i == j)
    return (a->weight[i] * a->weight[i] - a->square[i]) / 2;
  const double of_a = a->of_bits ? by_own_bits(t, of_region(t, a->of_bits, i)) : a->weight[i],
               of_b = b->of_bits ? by_own_bits(t, of_region(t, b->of_bits, j)) : b->weight[j];
  return of_a * of_b;
}

void totals_of(const AstroHistogramConfig *config, const double *means, const Side *a,
               const Side *b, double *pairs)
{
  const guint regions = astro_histogram_regions(config);
  const Totals totals = { &config->bits, means, 32 * config->bits.n_words + 1 };
  for (guint i = 0; i < regions; i++)
    for (guint j = a == b ? i : 0; j < regions; j++)
      pairs[i * regions + j] = between(&totals, a, i, b, j);
}
