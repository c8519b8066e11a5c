/* Pairs of points that carry something: leaves near enough for pairs in the bins are compared pair
 * by pair, with the few bins that their pairs can be in. */
#include "core/histogram/bounds.h"
#include "core/histogram/fields.h"
#include "core/histogram/walk.h"

static Edges edges_of(const Walk *walk, const Cell *a, const Cell *b)
{
  const AstroHistogramConfig *config = &walk->counter->config;
  const Edges all = { 0, config->n_edges };
  return config->method == ASTRO_PAIR_METHOD_BRUTE ? all
                                                   : narrow(walk->counter->squares, a, b, all);
}

/* Places are below the first edge, in a bin, and from the last edge on. */
static gboolean may_count(const Walk *walk, const Cell *a, const Cell *b)
{
  const Edges edges = edges_of(walk, a, b);
  return edges.last > 0 && edges.first < walk->counter->config.n_edges;
}

/* The bins between the edges, and those around them. */
static void add_leaves(Walk *walk, const FieldLeaves *leaves, Edges edges)
{
  const Counter *counter = walk->counter;
  const AstroPairFields fields = counter->config.fields;
  const guint first = MAX(edges.first, 1), last = MIN(edges.last + 1, counter->config.n_edges);
  for (guint k = first; k < last; k++) {
    double sums[ASTRO_PAIR_MOST_PLANES] = { 0 };
    counter->kernels->fields(fields, leaves, counter->squares[k - 1], counter->squares[k],
                             &walk->counts[k - 1], sums);
    for (guint p = 0; p < astro_pair_fields_planes(fields); p++)
      walk->sums[p * walk->n_bins + k - 1] += sums[p];
  }
}

static void visit_leaves(Walk *walk, const Cell *a, const Cell *b)
{
  const FieldLeaves leaves = { .at_a = &walk->a->positions[a->first_leaf],
                               .at_b = &walk->b->positions[b->first_leaf],
                               .a = &walk->a->fields[a->first_leaf],
                               .b = &walk->b->fields[b->first_leaf],
                               .to = (guint)a->n };
  add_leaves(walk, &leaves, edges_of(walk, a, b));
}

/* A point meets those behind it, as the others are NaN by then. */
static void visit_leaf(Walk *walk, const Cell *cell)
{
  LeafPositions behind = walk->a->positions[cell->first_leaf];
  const FieldLeaf *fields = &walk->a->fields[cell->first_leaf];
  const Edges edges = edges_of(walk, cell, cell);
  for (guint i = 0; i < cell->n; i++) {
    const FieldLeaves leaves = { .at_a = &walk->a->positions[cell->first_leaf],
                                 .at_b = &behind,
                                 .a = fields,
                                 .b = fields,
                                 .from = i,
                                 .to = i + 1 };
    behind.x[i] = NAN;
    add_leaves(walk, &leaves, edges);
  }
}

gboolean fields_count(Count *count, gboolean alone, GError **error)
{
  static const Visits visits = { may_count, visit_leaves, visit_leaf };
  if (!walk_count(count, alone, &visits, error))
    return FALSE;
  if (alone)
    fields_forget_order(&count->counter->config, count->sums);
  return TRUE;
}
