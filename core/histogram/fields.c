/* Puts what points carry beside their places in a tree. */
#include "core/histogram/fields.h"

#include "core/kit/units.h"

#include <math.h>
#include <string.h>

typedef struct {
  AstroPoints *points;
  const PointColumns *columns;
  const double *first, *second; /* columns; NULL: none */
} Fill;

#define LEAVES_AT_ONCE 1024

static void fill_point(const Fill *fill, FieldLeaf *leaf, guint k, double *index)
{
  const guint64 i = (guint64)*index;
  const PointColumns *columns = fill->columns;
  const double ra = columns->ra[i] * ASTRO_DEGREE,
               weight = columns->weight ? columns->weight[i] : 1;
  leaf->weight[k] = *index = weight;
  leaf->first[k] = fill->first ? weight * fill->first[i] : 0;
  leaf->second[k] = fill->second ? weight * fill->second[i] : 0;
  leaf->cos_ra[k] = cos(ra);
  leaf->sin_ra[k] = sin(ra);
}

/* Places past the last point of a leaf stay 0. */
static void fill_leaves(gpointer data, guint64 task)
{
  const Fill *fill = data;
  AstroPoints *points = fill->points;
  const guint64 first = task * LEAVES_AT_ONCE, last = MIN(first + LEAVES_AT_ONCE, points->n_leaves);
  for (guint64 l = first; l < last; l++)
    for (guint k = 0; k < LEAF_POINTS; k++)
      if (!isnan(points->positions[l].x[k]))
        fill_point(fill, &points->fields[l], k, &points->weights[l * LEAF_POINTS + k]);
}

/* Children are behind their parents. */
void points_weigh_cells(AstroPoints *points)
{
  for (gsize c = points->n_regions + 2 * (gsize)points->n_leaves; c-- > 0;) {
    Cell *cell = &points->cells[c];
    const double *weights = points->weights + (gsize)cell->first_leaf * LEAF_POINTS;
    cell->weight =
        cell->left ? points->cells[cell->left].weight + points->cells[cell->left + 1].weight : 0;
    for (guint k = 0; k < cell->n && !cell->left; k++)
      cell->weight += weights[k];
  }
}

AstroPoints *points_of_indices(const PointColumns *columns, guint n_regions, guint threads,
                               const AstroStop *stop, GError **error)
{
  PointColumns indexed = *columns;
  g_autofree double *index = g_try_new(double, MAX(columns->n, 1));
  if (!index) {
    astro_backend_no_memory(error, "no memory for what %" G_GUINT64_FORMAT " points carry",
                            columns->n);
    return NULL;
  }
  for (guint64 i = 0; i < columns->n; i++)
    index[i] = (double)i;
  indexed.weight = index;
  return points_new(&indexed, n_regions, threads, stop, NULL, NULL, error);
}

AstroPoints *points_with_fields(const PointColumns *columns, const FieldColumns *fields,
                                AstroCarried carried, guint n_regions, guint threads,
                                const AstroStop *stop, GError **error)
{
  g_autoptr(AstroPoints) points = points_of_indices(columns, n_regions, threads, stop, error);
  if (!points)
    return NULL;
  points->fields = g_try_new0(FieldLeaf, MAX(points->n_leaves, 1));
  if (!points->fields) {
    astro_backend_no_memory(error, "no memory for what %" G_GUINT64_FORMAT " points carry",
                            columns->n);
    return NULL;
  }
  Fill fill = { points, columns, NULL, NULL };
  if (carried == ASTRO_CARRIED_SCALAR)
    fill.first = fields->k;
  if (carried == ASTRO_CARRIED_SHEAR) {
    fill.first = fields->g1;
    fill.second = fields->g2;
  }
  astro_parallel((points->n_leaves + LEAVES_AT_ONCE - 1) / LEAVES_AT_ONCE, threads, fill_leaves,
                 &fill);
  points_weigh_cells(points);
  return g_steal_pointer(&points);
}

guint64 fields_bytes_each(void)
{
  return sizeof(FieldLeaf) / LEAF_POINTS + sizeof(double); /* and an index */
}

void fields_forget_order(const AstroHistogramConfig *config, double *sums)
{
  const gsize values = astro_histogram_values(config);
  for (guint p = 0; p < astro_pair_fields_planes(config->fields); p++)
    if (g_strcmp0(astro_pair_fields_plane(config->fields, p), "xip_im") == 0)
      memset(sums + p * values, 0, values * sizeof *sums);
}
