/* Bits of points, and what they say of pairs. */
#include "core/histogram/pair-weights.h"

#include "core/histogram/fields.h"

#include <math.h>

double *pair_bits_weights(const AstroPairBits *bits)
{
  const guint n = 32 * bits->n_words;
  double *weights = g_new(double, n + 1);
  for (guint k = 0; k <= n; k++)
    weights[k] = pair_bits_weight(bits, k);
  return weights;
}

/* ---- points ---- */

static guint words_of_64(guint n_words)
{
  return (n_words + 1) / 2;
}

guint64 bits_bytes_each(guint n_words)
{
  return words_of_64(n_words) * sizeof(guint64) + sizeof(double); /* and an index */
}

guint pair_bits_set(double *const *words, guint n_words, guint64 i)
{
  guint n = 0;
  for (guint w = 0; w < n_words; w++)
    n += (guint)__builtin_popcount((guint32)words[w][i]);
  return n;
}

static void fill_slot(AstroPoints *points, const PointColumns *columns, double *const *words,
                      guint n_words, gsize slot)
{
  const guint64 i = (guint64)points->weights[slot];
  guint64 *bits = points->bits + slot * points->n_bit_words;
  for (guint w = 0; w < n_words; w++)
    bits[w / 2] |= (guint64)words[w][i] << 32 * (w % 2);
  points->weights[slot] = columns->weight ? columns->weight[i] : 1;
}

AstroPoints *points_with_bits(const PointColumns *columns, double *const *words, guint n_words,
                              guint n_regions, guint threads, const AstroStop *stop, GError **error)
{
  g_autoptr(AstroPoints) points = points_of_indices(columns, n_regions, threads, stop, error);
  if (!points)
    return NULL;
  const gsize slots = MAX((gsize)points->n_leaves, 1) * LEAF_POINTS;
  points->n_bit_words = words_of_64(n_words);
  points->bits = g_try_new0(guint64, slots * points->n_bit_words);
  if (!points->bits) {
    astro_backend_no_memory(error, "no memory for the bits of %" G_GUINT64_FORMAT " points",
                            columns->n);
    return NULL;
  }
  for (gsize slot = 0; slot < (gsize)points->n_leaves * LEAF_POINTS; slot++)
    if (!isnan(points->positions[slot / LEAF_POINTS].x[slot % LEAF_POINTS]))
      fill_slot(points, columns, words, n_words, slot);
  points_weigh_cells(points);
  return g_steal_pointer(&points);
}

/* ---- pairs ---- */

gboolean pairs_are_weighed(const AstroPoints *a, const AstroPoints *b, const PairTable *table)
{
  return a->bits || b->bits || table;
}

PairWeigher pair_weigher(const AstroPoints *a, const AstroPoints *b, const double *weights,
                         const PairTable *table)
{
  return (PairWeigher){ .bits_a = a->bits,
                        .bits_b = b->bits,
                        .n_words = MAX(a->n_bit_words, b->n_bit_words),
                        .weights = a->bits || b->bits ? weights : NULL,
                        .table = table ? *table : (PairTable){ 0 },
                        .in_space = a->in_space };
}

/* ---- totals ---- */

/* log C(n, k) */
static double log_choose(guint n, guint k)
{
  return lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0);
}

/* Two points that c and d of the n realisations select. */
static double mean_weight(const AstroPairBits *bits, guint n, guint c, guint d)
{
  const guint least = c + d > n ? c + d - n : 0, most = MIN(c, d);
  double mean = 0;
  for (guint k = least; k <= most; k++)
    mean += pair_bits_weight(bits, k) *
            exp(log_choose(c, k) + log_choose(n - c, d - k) - log_choose(n, d));
  return mean;
}

double *pair_bits_means(const AstroPairBits *bits)
{
  const guint n = 32 * bits->n_words, classes = n + 1, free = bits->realizations - bits->offset;
  double *means = g_new0(double, (gsize)classes *classes);
  for (guint c = 0; c <= MIN(n, free); c++)
    for (guint d = 0; d <= c; d++)
      means[c * classes + d] = means[d * classes + c] = mean_weight(bits, free, c, d);
  return means;
}
