/* The plain double loop, against which every other way of counting is checked. */
#include "core/histogram/check.h"
#include "core/histogram/count.h"
#include "core/histogram/fields.h"
#include "core/histogram/pair-weights.h"
#include "core/histogram/space.h"

static void position_at(const AstroPoints *points, guint64 slot, double at[3])
{
  const LeafPositions *leaf = &points->positions[slot / LEAF_POINTS];
  at[0] = leaf->x[slot % LEAF_POINTS];
  at[1] = leaf->y[slot % LEAF_POINTS];
  at[2] = leaf->z[slot % LEAF_POINTS];
}

static double weight_at(const AstroPoints *points, guint64 slot)
{
  return points->weights ? points->weights[slot] : 1;
}

/* The weight of a pair: the product of those of its points, times its own if it has one. */
static double weight_of(const Count *count, guint64 slot_a, guint64 slot_b)
{
  const AstroPoints *a = count->a, *b = count->b;
  const PairTable *table = count->call ? count->call->table : NULL;
  const double product = weight_at(a, slot_a) * weight_at(b, slot_b);
  if (!pairs_are_weighed(a, b, table))
    return product;
  const PairWeigher weigher = pair_weigher(a, b, count->counter->bits_weights, table);
  double at_a[3], at_b[3];
  position_at(a, slot_a, at_a);
  position_at(b, slot_b, at_b);
  return product * pair_weight(&weigher, slot_a, slot_b, at_a, at_b);
}

/* Edges are tried one after another. FALSE: the pair lies in no bin. */
static gboolean find_bin(const SpaceRule *rule, SpaceMeasure m, gsize *bin)
{
  guint row = 0, column = 0;
  while (row <= rule->n_rows && m.row >= rule->rows[row])
    row++;
  if (row == 0 || row > rule->n_rows || !(m.column < rule->limit * m.scale))
    return FALSE;
  while (column + 1 < rule->n_columns && m.column >= rule->columns[column + 1] * m.scale)
    column++;
  *bin = (gsize)(row - 1) * rule->n_columns + column;
  return TRUE;
}

static void reference_row_in_space(Count *count, guint region_a, guint region_b, guint64 i,
                                   guint64 first)
{
  const AstroHistogramConfig *config = &count->counter->config;
  const AstroPoints *a = count->a, *b = count->b;
  const gsize cell = (gsize)region_a * a->n_regions + region_b,
              values = cell * astro_histogram_bins(config);
  const guint64 slot_a = (guint64)a->region_first_leaf[region_a] * LEAF_POINTS + i;
  double at_a[3], at_b[3];
  position_at(a, slot_a, at_a);
  for (guint64 j = first; j < b->region_n[region_b]; j++) {
    const guint64 slot_b = (guint64)b->region_first_leaf[region_b] * LEAF_POINTS + j;
    gsize bin;
    position_at(b, slot_b, at_b);
    if (!find_bin(count->counter->rule, space_measure(config->kind, at_a, at_b), &bin))
      continue;
    count->counts[values + bin]++;
    if (count->sums)
      count->sums[values + bin] += weight_of(count, slot_a, slot_b);
  }
}

static void reference_row(Count *count, guint region_a, guint region_b, guint64 i, guint64 first)
{
  const Counter *counter = count->counter;
  const AstroPoints *a = count->a, *b = count->b;
  guint64 places[ASTRO_HISTOGRAM_MAX_EDGES + 1] = { 0 };
  double weights[ASTRO_HISTOGRAM_MAX_EDGES + 1] = { 0 };
  guint64 slot_a = (guint64)a->region_first_leaf[region_a] * LEAF_POINTS + i;
  const LeafPositions *leaf_a = &a->positions[slot_a / LEAF_POINTS];
  double x = leaf_a->x[slot_a % LEAF_POINTS], y = leaf_a->y[slot_a % LEAF_POINTS],
         z = leaf_a->z[slot_a % LEAF_POINTS];
  for (guint64 j = first; j < b->region_n[region_b]; j++) {
    guint64 slot_b = (guint64)b->region_first_leaf[region_b] * LEAF_POINTS + j;
    const LeafPositions *leaf_b = &b->positions[slot_b / LEAF_POINTS];
    double dx = x - leaf_b->x[slot_b % LEAF_POINTS], dy = y - leaf_b->y[slot_b % LEAF_POINTS],
           dz = z - leaf_b->z[slot_b % LEAF_POINTS];
    double square = (dx * dx + dy * dy) + dz * dz;
    guint place = 0;
    while (place < counter->config.n_edges && square >= counter->squares[place])
      place++;
    places[place]++;
    weights[place] += weight_of(count, slot_a, slot_b);
  }
  count_add(count, region_a, region_b, places, count->sums ? weights : NULL);
}

static gboolean reference_submit(gpointer instance, const AstroBlock *in, guint n_in,
                                 const AstroBlock *out, guint n_out, gconstpointer arguments,
                                 AstroResult *result, GError **error)
{
  Count count;
  if (!count_begin(&count, instance, in, n_in, out, n_out, arguments, error))
    return FALSE;
  gboolean alone = n_in == 1;
  for (guint ra = 0; ra < count.a->n_regions; ra++)
    for (guint rb = alone ? ra : 0; rb < count.b->n_regions; rb++)
      for (guint64 i = 0; i < count.a->region_n[ra] && !count_is_cancelled(&count); i++) {
        guint64 first = alone && ra == rb ? i + 1 : 0;
        if (!count_has(&count, i))
          continue;
        if (count.a->fields)
          fields_reference_row(&count, ra, rb, i, first);
        else if (count.counter->config.kind != ASTRO_BINNING_ANGULAR)
          reference_row_in_space(&count, ra, rb, i, first);
        else
          reference_row(&count, ra, rb, i, first);
        count_report(&count, count.b->region_n[rb] - first);
      }
  if (alone && count.a->fields)
    fields_forget_order(&count.counter->config, count.sums);
  return count_end(&count, error);
}

static gpointer reference_create(gconstpointer config, const AstroPlace *place,
                                 const char **variant, GError **error)
{
  *variant = "reference";
  return histogram_create(config, place, NULL, error);
}

const AstroBackend astro_histogram_reference = {
  .stage = "histogram",
  .kind = ASTRO_BACKEND_REFERENCE,
  .config_bytes = sizeof(AstroHistogramConfig),
  .shape = astro_histogram_shape,
  .create = reference_create,
  .submit = reference_submit,
  .destroy = histogram_destroy,
};
