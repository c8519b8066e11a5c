/* Checks the points of a catalogue and sorts them by region; as unit vectors, they then become the
 * tree. */
#include "core/histogram/points.h"
#include "core/backend/threads.h"
#include "core/histogram/halve.h"
#include "core/histogram/tree.h"
#include "core/kit/pages.h"

#include <math.h>

/* A catalogue is read in so many parts at most, each of which knows how many points of each region
 * it has. */
#define MOST_PARTS 64
#define LEAST_PART 16384
/* Points that are placed without asking whether the count was cancelled. */
#define UNASKED_POINTS 65536

typedef struct {
  const PointColumns *columns;
  AstroPoints *points;
  AstroStoppable *work;
  guint n_parts;
  guint64 *counts;         /* [part][region]; then where the next point goes */
  guint64 bad[MOST_PARTS]; /* the first point of each part that cannot be counted, or the end */
} Parts;

static gsize leaves_of(guint64 n)
{
  return (n + LEAF_POINTS - 1) / LEAF_POINTS;
}

static gboolean refuse(GError **error, guint64 i, const char *what, double value,
                       const char *expected)
{
  g_set_error(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_POINTS,
              "point %" G_GUINT64_FORMAT ": %s is %g, expected %s", i, what, value, expected);
  return FALSE;
}

static gboolean refuse_region(GError **error, guint64 at, double value, guint n_regions)
{
  g_autofree char *expected =
      g_strdup_printf("a whole number from 0 to %u, of %u regions", n_regions - 1, n_regions);
  return refuse(error, at, "region", value, expected);
}

/* Distances whose fourth powers are within the range of double precision. */
#define LEAST_DISTANCE 1e-50
#define MOST_DISTANCE 1e50

/* at: the point's number, which errors name. */
static gboolean check_point(const PointColumns *c, guint64 i, guint64 at, guint n_regions,
                            GError **error)
{
  if (!isfinite(c->ra[i]))
    return refuse(error, at, "right ascension", c->ra[i], "a finite number of degrees");
  if (!(fabs(c->dec[i]) <= 90))
    return refuse(error, at, "declination", c->dec[i], "-90 to 90 degrees");
  if (c->distance && !(c->distance[i] >= LEAST_DISTANCE && c->distance[i] <= MOST_DISTANCE))
    return refuse(error, at, "distance", c->distance[i], "a distance above 0, 1e50 at most");
  if (c->weight && !isfinite(c->weight[i]))
    return refuse(error, at, "weight", c->weight[i], "a finite number");
  if (c->region &&
      !(c->region[i] >= 0 && c->region[i] < n_regions && c->region[i] == floor(c->region[i])))
    return refuse_region(error, at, c->region[i], n_regions);
  return TRUE;
}

gboolean points_check(const PointColumns *columns, guint64 first, guint n_regions, GError **error)
{
  for (guint64 i = 0; i < columns->n; i++)
    if (!check_point(columns, i, first + i, MAX(n_regions, 1), error))
      return FALSE;
  return TRUE;
}

static guint64 part_begin(const Parts *parts, guint64 part)
{
  const guint64 n = parts->columns->n;
  return n / parts->n_parts * part + MIN(part, n % parts->n_parts);
}

static guint region_of(const PointColumns *columns, guint64 i)
{
  return columns->region ? (guint)columns->region[i] : 0;
}

static void count_part(gpointer data, guint64 part)
{
  Parts *parts = data;
  const guint n_regions = parts->points->n_regions;
  const guint64 end = part_begin(parts, part + 1);
  guint64 i = part_begin(parts, part), *counts = parts->counts + part * n_regions;
  for (; i < end && check_point(parts->columns, i, i, n_regions, NULL); i++)
    counts[region_of(parts->columns, i)]++;
  parts->bad[part] = i;
}

static gboolean count_regions(Parts *parts, guint threads, GError **error)
{
  AstroPoints *points = parts->points;
  astro_parallel(parts->n_parts, threads, count_part, parts);
  for (guint p = 0; p < parts->n_parts; p++)
    if (parts->bad[p] < part_begin(parts, p + 1))
      return check_point(parts->columns, parts->bad[p], parts->bad[p], points->n_regions, error);
  guint64 leaves = 0;
  for (guint r = 0; r < points->n_regions; r++) {
    points->region_first_leaf[r] = (guint32)leaves;
    guint64 next = leaves * LEAF_POINTS;
    for (guint p = 0; p < parts->n_parts; p++) {
      guint64 *count = &parts->counts[(gsize)p * points->n_regions + r];
      points->region_n[r] += *count;
      next += *count;
      *count = next - *count;
    }
    leaves += leaves_of(points->region_n[r]);
  }
  points->n_leaves = (guint32)leaves;
  return TRUE;
}

/* Points become vectors in the leaves of their regions. */
static void place_part(gpointer data, guint64 part)
{
  const Parts *parts = data;
  const PointColumns *columns = parts->columns;
  AstroVector *items = (AstroVector *)(gpointer)parts->points->positions;
  guint64 *next = parts->counts + part * parts->points->n_regions;
  for (guint64 i = part_begin(parts, part); i < part_begin(parts, part + 1); i++) {
    if (i % UNASKED_POINTS == 0 && astro_is_stopped(parts->work))
      return;
    const guint64 place = next[region_of(columns, i)]++;
    double *x = items[place].x;
    astro_unit_vector(columns->ra[i], columns->dec[i], &x[0], &x[1], &x[2]);
    for (guint axis = 0; axis < 3 && columns->distance; axis++)
      x[axis] *= columns->distance[i];
    if (columns->weight)
      parts->points->weights[place] = columns->weight[i];
  }
}

/* The large blocks of a tree, which the system has to itself: what the C library's heap keeps of
 * freed ones would come on top of the memory that a user allows. */
typedef struct {
  gpointer *memory;
  gsize bytes;
} Block;
enum { POSITIONS, WEIGHTS, CELLS, OFFSETS, N_BLOCKS };

static void list_blocks(AstroPoints *points, Block blocks[N_BLOCKS])
{
  const gsize leaves = MAX(points->n_leaves, 1);
  blocks[POSITIONS] = (Block){ (gpointer *)&points->positions, leaves * sizeof(LeafPositions) };
  blocks[WEIGHTS] = (Block){ (gpointer *)&points->weights, leaves * LEAF_POINTS * sizeof(double) };
  blocks[CELLS] =
      (Block){ (gpointer *)&points->cells, (points->n_regions + 2 * leaves) * sizeof(Cell) };
  blocks[OFFSETS] = (Block){ (gpointer *)&points->offsets, leaves * sizeof(LeafOffsets) };
}

static gboolean alloc_block(AstroPoints *points, guint block)
{
  Block blocks[N_BLOCKS];
  list_blocks(points, blocks);
  return (*blocks[block].memory = astro_pages_zeros(blocks[block].bytes)) != NULL;
}

static gboolean alloc_places(AstroPoints *points, gboolean weighted)
{
  return alloc_block(points, POSITIONS) && (!weighted || alloc_block(points, WEIGHTS));
}

static gboolean alloc_tree(AstroPoints *points)
{
  return alloc_block(points, CELLS) && (points->in_space || alloc_block(points, OFFSETS));
}

static gboolean refuse_memory(const AstroPoints *points, GError **error)
{
  return astro_backend_no_memory(
      error, "not enough memory to count the pairs of %" G_GUINT64_FORMAT " points", points->n);
}

guint64 points_bytes_each(gboolean weighted, gboolean in_space)
{
  const gsize leaf = sizeof(LeafPositions) + (in_space ? 0 : sizeof(LeafOffsets)) +
                     (weighted ? LEAF_POINTS * sizeof(double) : 0) + 2 * sizeof(Cell);
  return (leaf + LEAF_POINTS - 1) / LEAF_POINTS;
}

guint64 points_bytes_of_region(void)
{
  return sizeof(LeafPositions) + sizeof(LeafOffsets) + LEAF_POINTS * sizeof(double) +
         (3 + 1) * sizeof(Cell) + (1 + MOST_PARTS) * sizeof(guint64) + sizeof(guint32) +
         sizeof(Top);
}

static AstroPoints *points_of(const PointColumns *columns, guint n_regions)
{
  static guint64 serial;
  AstroPoints *points = g_new0(AstroPoints, 1);
  points->serial = __atomic_add_fetch(&serial, 1, __ATOMIC_RELAXED);
  points->n = columns->n;
  points->n_regions = MAX(n_regions, 1);
  points->in_space = columns->distance != NULL;
  points->region_n = g_new0(guint64, points->n_regions);
  points->region_first_leaf = g_new0(guint32, points->n_regions);
  return points;
}

static Parts parts_of(const PointColumns *columns, AstroPoints *points, AstroStoppable *work)
{
  const guint n_parts = (guint)CLAMP(columns->n / LEAST_PART, 1, MOST_PARTS);
  return (Parts){ .columns = columns,
                  .points = points,
                  .work = work,
                  .n_parts = n_parts,
                  .counts = g_new0(guint64, (gsize)n_parts * points->n_regions) };
}

static gboolean place_all(Parts *parts, guint threads, GError **error)
{
  if (!count_regions(parts, threads, error))
    return FALSE;
  if (!alloc_places(parts->points, parts->columns->weight != NULL))
    return refuse_memory(parts->points, error);
  tree_find_tops(parts->points);
  astro_parallel(parts->n_parts, threads, place_part, parts);
  return TRUE;
}

static gboolean refuse_stopped(const AstroPoints *points, GError **error)
{
  return astro_fail(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_CANCELLED,
                    "stopped while %" G_GUINT64_FORMAT " points were being prepared", points->n);
}

AstroPoints *points_new(const PointColumns *columns, guint n_regions, guint threads,
                        const AstroStop *stop, GDestroyNotify free_columns, gpointer data,
                        GError **error)
{
  g_autoptr(AstroPoints) points = points_of(columns, n_regions);
  AstroStoppable work = { .stop = stop };
  Parts parts = parts_of(columns, points, &work);
  const gboolean placed = place_all(&parts, threads, error);
  g_free(parts.counts);
  if (!placed)
    return NULL;
  if (free_columns)
    free_columns(data);
  if (!alloc_tree(points)) {
    refuse_memory(points, error);
    return NULL;
  }
  if (!work.stopped && tree_build(points, threads, stop))
    return g_steal_pointer(&points);
  refuse_stopped(points, error);
  return NULL;
}

AstroPoints *points_hold(const PointColumns *columns, guint n_regions, guint threads,
                         GDestroyNotify free_columns, gpointer data, GError **error)
{
  g_autoptr(AstroPoints) points = points_of(columns, n_regions);
  Parts parts = parts_of(columns, points, NULL);
  const gboolean counted = count_regions(&parts, threads, error);
  g_free(parts.counts);
  if (!counted)
    return NULL;
  tree_find_tops(points);
  points->held = *columns;
  points->free_held = free_columns;
  points->data = data;
  return g_steal_pointer(&points);
}

AstroPoints *astro_points_held(const double *ra_degrees, const double *dec_degrees,
                               const double *weight, const double *region, guint64 n,
                               guint n_regions, guint threads, GError **error)
{
  const PointColumns columns = { n, ra_degrees, dec_degrees, NULL, weight, region };
  return points_hold(&columns, n_regions, threads, NULL, NULL, error);
}

AstroPoints *astro_points_in_space(const double *ra_degrees, const double *dec_degrees,
                                   const double *distance, const double *weight,
                                   const double *region, guint64 n, guint n_regions, guint threads,
                                   const AstroStop *stop, GError **error)
{
  const PointColumns columns = { n, ra_degrees, dec_degrees, distance, weight, region };
  return points_new(&columns, n_regions, threads, stop, NULL, NULL, error);
}

AstroPoints *astro_points_new(const double *ra_degrees, const double *dec_degrees,
                              const double *weight, const double *region, guint64 n,
                              guint n_regions, guint threads, const AstroStop *stop, GError **error)
{
  return astro_points_in_space(ra_degrees, dec_degrees, NULL, weight, region, n, n_regions, threads,
                               stop, error);
}

void astro_points_free(AstroPoints *points)
{
  if (!points)
    return;
  Block blocks[N_BLOCKS];
  list_blocks(points, blocks);
  for (guint b = 0; b < N_BLOCKS; b++)
    if (*blocks[b].memory)
      astro_pages_zeros_free(*blocks[b].memory, blocks[b].bytes);
  if (points->free_held)
    points->free_held(points->data);
  g_free(points->fields);
  g_free(points->bits);
  g_free(points->region_n);
  g_free(points->region_first_leaf);
  g_free(points->tops);
  g_free(points);
}

guint64 astro_points_count(const AstroPoints *points)
{
  return points->n;
}
