/* Pairs of points in space. Two balls that cannot hold a pair within the bins are left out. */
#include "core/histogram/space-cpu.h"

#include "core/histogram/pair-weights.h"
#include "core/histogram/space-bounds.h"
#include "core/histogram/walk.h"

static gboolean may_count(const Walk *walk, const Cell *a, const Cell *b)
{
  return walk->counter->config.method == ASTRO_PAIR_METHOD_BRUTE ||
         space_may_count(&walk->counter->rule->reach, a, b);
}

static double weight_at(const AstroPoints *points, gsize slot)
{
  return points->weights ? points->weights[slot] : 1;
}

static void add_hits(Walk *walk, gsize slot_a, gsize leaf_b, const SpaceHits *hits)
{
  for (guint k = 0; k < hits->n; k++)
    walk->counts[hits->bin[k]]++;
  if (!walk->sums)
    return;
  const double weight = weight_at(walk->a, slot_a);
  for (guint k = 0; k < hits->n; k++)
    walk->sums[hits->bin[k]] += weight * weight_at(walk->b, leaf_b * LEAF_POINTS + hits->point[k]);
}

static void position_at(const AstroPoints *points, gsize slot, double at[3])
{
  const LeafPositions *leaf = &points->positions[slot / LEAF_POINTS];
  at[0] = leaf->x[slot % LEAF_POINTS];
  at[1] = leaf->y[slot % LEAF_POINTS];
  at[2] = leaf->z[slot % LEAF_POINTS];
}

/* The same where pairs have weights of their own. */
static void weigh_hits(Walk *walk, const PairTable *table, gsize slot_a, gsize leaf_b,
                       const SpaceHits *hits)
{
  const PairWeigher weigher = pair_weigher(walk->a, walk->b, walk->counter->bits_weights, table);
  const double weight = weight_at(walk->a, slot_a);
  double at_a[3], at_b[3];
  position_at(walk->a, slot_a, at_a);
  for (guint k = 0; k < hits->n; k++) {
    const gsize slot_b = leaf_b * LEAF_POINTS + hits->point[k];
    position_at(walk->b, slot_b, at_b);
    walk->counts[hits->bin[k]]++;
    walk->sums[hits->bin[k]] +=
        weight * weight_at(walk->b, slot_b) * pair_weight(&weigher, slot_a, slot_b, at_a, at_b);
  }
}

static void place_point(Walk *walk, const Cell *a, guint i, const Cell *b,
                        const LeafPositions *positions_b)
{
  const LeafPositions *leaf = &walk->a->positions[a->first_leaf];
  const double at[3] = { leaf->x[i], leaf->y[i], leaf->z[i] };
  SpaceHits hits;
  walk->counter->kernels->space(walk->counter->rule, at, positions_b, &hits);
  const gsize slot_a = (gsize)a->first_leaf * LEAF_POINTS + i;
  const PairTable *table = walk->call ? walk->call->table : NULL;
  if (pairs_are_weighed(walk->a, walk->b, table))
    weigh_hits(walk, table, slot_a, b->first_leaf, &hits);
  else
    add_hits(walk, slot_a, b->first_leaf, &hits);
}

/* The square of a distance from b's middle beyond which a point has no pair with b in the bins. */
static double far_from(const Walk *walk, const Cell *b)
{
  if (walk->counter->config.method == ASTRO_PAIR_METHOD_BRUTE)
    return INFINITY;
  const double far = (walk->counter->rule->reach.most + b->chord) * (1 + SPACE_MARGIN);
  return far * far;
}

static void visit_leaves(Walk *walk, const Cell *a, const Cell *b)
{
  const LeafPositions *at = &walk->a->positions[a->first_leaf];
  const double far = far_from(walk, b);
  for (guint i = 0; i < a->n; i++) {
    const double dx = at->x[i] - b->x, dy = at->y[i] - b->y, dz = at->z[i] - b->z;
    if (dx * dx + dy * dy + dz * dz <= far)
      place_point(walk, a, i, b, &walk->b->positions[b->first_leaf]);
  }
}

/* Each pair within a leaf once: a point meets those behind it, as the others are NaN by then. */
static void visit_leaf(Walk *walk, const Cell *cell)
{
  LeafPositions behind = walk->a->positions[cell->first_leaf];
  for (guint i = 0; i < cell->n; i++) {
    behind.x[i] = NAN;
    place_point(walk, cell, i, cell, &behind);
  }
}

gboolean space_count(Count *count, gboolean alone, GError **error)
{
  static const Visits visits = { may_count, visit_leaves, visit_leaf };
  return walk_count(count, alone, &visits, error);
}
