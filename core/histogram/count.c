/* Shared by the backends: their instance, outputs and progress. */
#include "core/histogram/count.h"

#include "core/histogram/check.h"
#include "core/histogram/deal.h"
#include "core/histogram/pair-weights.h"
#include "core/histogram/space.h"

gpointer histogram_create(gconstpointer config, const AstroPlace *place,
                          const HistogramKernels *kernels, GError **error)
{
  if (!astro_histogram_shape(config, error))
    return NULL;
  Counter *counter = g_new(Counter, 1);
  counter->config = *(const AstroHistogramConfig *)config;
  const gboolean in_space = counter->config.kind != ASTRO_BINNING_ANGULAR;
  const AstroHistogramConfig *own = &counter->config;
  counter->rule = in_space || own->weighs_pairs ? space_rule_new(own) : NULL;
  counter->bits_weights = own->bits.n_words ? pair_bits_weights(&own->bits) : NULL;
  for (guint k = 0; k < counter->config.n_edges && !in_space; k++)
    counter->squares[k] = astro_chord_square(counter->config.edges[k]);
  counter->threads = place ? place->threads : 0;
  counter->kernels = kernels;
  return counter;
}

void histogram_destroy(gpointer instance)
{
  Counter *counter = instance;
  space_rule_free(counter->rule);
  g_free(counter->bits_weights);
  g_free(counter);
}

gboolean count_begin(Count *count, const Counter *counter, const AstroBlock *in, guint n_in,
                     const AstroBlock *out, guint n_out, gconstpointer arguments, GError **error)
{
  const AstroHistogramConfig *config = &counter->config;
  if (!astro_histogram_check(config, in, n_in, out, n_out, error))
    return FALSE;
  const AstroPoints *a = in[0].data, *b = in[n_in - 1].data;
  *count = (Count){ .counter = counter,
                    .a = a,
                    .b = b,
                    .counts = out[0].data,
                    .sums = config->weighted ? out[1].data : NULL,
                    .call = arguments,
                    .total = n_in == 2  ? a->n * b->n
                             : a->n > 0 ? a->n * (a->n - 1) / 2
                                        : 0 };
  g_mutex_init(&count->lock);
  gsize bytes = astro_histogram_values(config) * sizeof(guint64);
  memset(count->counts, 0, bytes);
  if (count->sums)
    memset(count->sums, 0, astro_histogram_sums(config) * sizeof(double));
  return TRUE;
}

gboolean count_is_near(const Count *count)
{
  const AstroHistogramConfig *config = &count->counter->config;
  return config->kind != ASTRO_BINNING_ANGULAR || config->fields != ASTRO_PAIR_FIELDS_NONE ||
         (config->weighs_pairs &&
          pairs_are_weighed(count->a, count->b, count->call ? count->call->table : NULL));
}

CellRule count_cell_rule(const Count *count)
{
  const Counter *counter = count->counter;
  const AstroHistogramConfig *config = &counter->config;
  CellRule rule = { .squares = counter->squares,
                    .n_edges = config->n_edges,
                    .in_space = config->kind != ASTRO_BINNING_ANGULAR,
                    .is_near = count_is_near(count),
                    .is_brute = config->method == ASTRO_PAIR_METHOD_BRUTE };
  if (rule.in_space)
    rule.reach = counter->rule->reach;
  return rule;
}

gboolean count_is_cancelled(Count *count)
{
  return g_atomic_int_get(&count->cancelled);
}

gboolean count_takes(Count *count, guint64 *a, guint64 *b)
{
  gboolean is_own;
  const AstroHistogramCall *call = count->call;
  return !call || !call->deal || histogram_deal_take(call->deal, call->lane, a, b, &is_own);
}

gboolean count_has(const Count *count, guint64 number)
{
  const AstroHistogramCall *call = count->call;
  return !call || !call->deal || histogram_deal_has(call->deal, call->lane, number);
}

void count_report(Count *count, guint64 pairs)
{
  if (!count->call || !count->call->progress)
    return;
  g_mutex_lock(&count->lock);
  count->done += pairs;
  if (!count->call->progress(count->done, count->total, count->call->data))
    g_atomic_int_set(&count->cancelled, TRUE);
  g_mutex_unlock(&count->lock);
}

gboolean count_end(Count *count, GError **error)
{
  g_mutex_clear(&count->lock);
  if (!count->cancelled)
    return TRUE;
  g_set_error(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_CANCELLED,
              "stopped after %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " pairs", count->done,
              count->total);
  return FALSE;
}

void count_add(Count *count, guint region_a, guint region_b, const guint64 *places,
               const double *weights)
{
  guint n_bins = count->counter->config.n_edges - 1;
  gsize first = ((gsize)region_a * count->a->n_regions + region_b) * n_bins;
  for (guint k = 0; k < n_bins; k++) {
    if (places[k + 1])
      __atomic_fetch_add(&count->counts[first + k], places[k + 1], __ATOMIC_RELAXED);
    if (weights)
      count->sums[first + k] += weights[k + 1];
  }
}
