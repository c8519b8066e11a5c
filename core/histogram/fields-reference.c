/* Pairs of points add to each plane of sums one after another, by angles. */
#include "core/histogram/fields.h"

#include "core/kit/units.h"

#include <math.h>

typedef struct {
  double at[3], weight, first, second, cos_ra, sin_ra;
} Point;

static Point point_at(const AstroPoints *points, guint region, guint64 i)
{
  const guint64 slot = (guint64)points->region_first_leaf[region] * LEAF_POINTS + i;
  const LeafPositions *leaf = &points->positions[slot / LEAF_POINTS];
  const FieldLeaf *fields = &points->fields[slot / LEAF_POINTS];
  const guint k = slot % LEAF_POINTS;
  return (Point){ { leaf->x[k], leaf->y[k], leaf->z[k] },
                  fields->weight[k],
                  fields->first[k],
                  fields->second[k],
                  fields->cos_ra[k],
                  fields->sin_ra[k] };
}

/* The shear of p along the direction to q, and across it. */
static void turn(const Point *p, const Point *q, double shear[2])
{
  const double d[3] = { q->at[0] - p->at[0], q->at[1] - p->at[1], q->at[2] - p->at[2] };
  const double cos_dec = p->at[0] * p->cos_ra + p->at[1] * p->sin_ra;
  const double north = cos_dec * d[2] - p->at[2] * (d[0] * p->cos_ra + d[1] * p->sin_ra);
  const double east = d[1] * p->cos_ra - d[0] * p->sin_ra;
  const gboolean has_direction = north != 0 || east != 0;
  const double twice = 2 * atan2(east, north);
  if (!has_direction) {
    shear[0] = shear[1] = 0;
    return;
  }
  shear[0] = p->first * cos(twice) + p->second * sin(twice);
  shear[1] = p->second * cos(twice) - p->first * sin(twice);
}

static double size_of(const Point *p)
{
  return p->first * p->first + p->second * p->second;
}

static void add_pair(AstroPairFields fields, const Point *a, const Point *b, double square,
                     double *sums)
{
  const double weight = a->weight * b->weight;
  double of_a[2], of_b[2];
  turn(a, b, of_a);
  turn(b, a, of_b);
  sums[ASTRO_PAIR_PLANE_WEIGHT] = weight;
  sums[ASTRO_PAIR_PLANE_R] = weight * 2 * asin(fmin(sqrt(square) / 2, 1)) * 60 * ASTRO_DEGREES;
  sums += ASTRO_PAIR_PLANE_FIRST;
  switch (fields) {
  case ASTRO_PAIR_FIELDS_KK:
  case ASTRO_PAIR_FIELDS_NK:
    sums[0] = (fields == ASTRO_PAIR_FIELDS_KK ? a->first : a->weight) * b->first;
    sums[1] = sums[0] * sums[0];
    break;
  case ASTRO_PAIR_FIELDS_NG:
    sums[0] = a->weight * of_b[0];
    sums[1] = a->weight * of_b[1];
    sums[2] = a->weight * a->weight * size_of(b) / 2;
    break;
  case ASTRO_PAIR_FIELDS_GG:
    sums[0] = of_a[0] * of_b[0] + of_a[1] * of_b[1];
    sums[1] = of_a[0] * of_b[0] - of_a[1] * of_b[1];
    sums[2] = of_a[1] * of_b[0] - of_a[0] * of_b[1];
    sums[3] = of_a[1] * of_b[0] + of_a[0] * of_b[1];
    sums[4] = size_of(a) * size_of(b) / 2;
    break;
  case ASTRO_PAIR_FIELDS_NONE:
    break;
  }
}

static double chord_square(const Point *a, const Point *b)
{
  const double dx = a->at[0] - b->at[0], dy = a->at[1] - b->at[1], dz = a->at[2] - b->at[2];
  return (dx * dx + dy * dy) + dz * dz;
}

void fields_reference_row(Count *count, guint region_a, guint region_b, guint64 i, guint64 first)
{
  const Counter *counter = count->counter;
  const AstroHistogramConfig *config = &counter->config;
  const guint n_bins = config->n_edges - 1, n_planes = astro_pair_fields_planes(config->fields);
  const gsize values = astro_histogram_values(config),
              cell = ((gsize)region_a * count->a->n_regions + region_b) * n_bins;
  const Point a = point_at(count->a, region_a, i);
  for (guint64 j = first; j < count->b->region_n[region_b]; j++) {
    const Point b = point_at(count->b, region_b, j);
    const double square = chord_square(&a, &b);
    double sums[ASTRO_PAIR_MOST_PLANES];
    guint place = 0;
    while (place < config->n_edges && square >= counter->squares[place])
      place++;
    if (place == 0 || place == config->n_edges)
      continue;
    add_pair(config->fields, &a, &b, square, sums);
    count->counts[cell + place - 1]++;
    for (guint p = 0; p < n_planes; p++)
      count->sums[p * values + cell + place - 1] += sums[p];
  }
}
