/* Regions are made by planes that cut the sky in two, again and again, each across the widest axis.
 * Either side gets points in proportion to the regions that it is to hold. */
#include "core/histogram/regions.h"
#include "core/histogram/histogram.h"
#include "core/histogram/halve.h"
#include "core/lib/catalogue/catalogue.h"

typedef struct {
  guint axis;
  double threshold;  /* points below it are on the left */
  guint left, right; /* splits; from n_regions - 1 on, regions */
} Split;

struct _AstroRegions {
  guint n_regions;
  Split *splits; /* n_regions - 1 */
};

/* n places that are still to be cut into n_regions. */
typedef struct {
  AstroVector *places;
  guint64 n;
  double low[3], high[3]; /* of the places */
  guint first_region, n_regions;
  guint split; /* the first of its n_regions - 1 splits */
} Part;

typedef struct {
  AstroRegions *regions;
  Part *parts, *halves; /* of this level, and two of the next for each */
  AstroStoppable *work;
} Level;

/* Parts of this many places are cut without asking whether the work was cancelled. */
#define UNASKED_PLACES 65536

/* Enough tasks for many cores; the result does not depend on them. */
#define PARTS_WANTED 64
#define POINTS_AT_ONCE 65536

static void measure(Part *part)
{
  for (guint axis = 0; axis < 3; axis++) {
    part->low[axis] = 2;
    part->high[axis] = -2;
  }
  for (guint64 i = 0; i < part->n; i++)
    for (guint axis = 0; axis < 3; axis++) {
      part->low[axis] = MIN(part->low[axis], part->places[i].x[axis]);
      part->high[axis] = MAX(part->high[axis], part->places[i].x[axis]);
    }
}

/* The index of a part in Split: that of its region, or of the split that cuts it further. */
static guint name_of(const AstroRegions *regions, const Part *part)
{
  return part->n_regions == 1 ? regions->n_regions - 1 + part->first_region : part->split;
}

static void halve(AstroRegions *regions, const Part *part, Part halves[2])
{
  guint on_left = part->n_regions / 2, axis = astro_widest_axis(part->low, part->high);
  guint64 n_left = part->n * on_left / part->n_regions;
  astro_select(part->places, NULL, part->n, n_left, axis);
  halves[0] = (Part){ .places = part->places,
                      .n = n_left,
                      .first_region = part->first_region,
                      .n_regions = on_left,
                      .split = part->split + 1 };
  halves[1] = (Part){ .places = part->places + n_left,
                      .n = part->n - n_left,
                      .first_region = part->first_region + on_left,
                      .n_regions = part->n_regions - on_left,
                      .split = part->split + on_left };
  measure(&halves[0]);
  measure(&halves[1]);
  /* The plane runs between two points rather than through one. */
  double threshold = (halves[0].high[axis] + halves[1].low[axis]) / 2;
  regions->splits[part->split] =
      (Split){ axis, threshold, name_of(regions, &halves[0]), name_of(regions, &halves[1]) };
}

static void cut_part(const Level *level, const Part *part)
{
  Part halves[2];
  if (part->n_regions < 2 || (part->n > UNASKED_PLACES && astro_is_stopped(level->work)))
    return;
  halve(level->regions, part, halves);
  cut_part(level, &halves[0]);
  cut_part(level, &halves[1]);
}

static void halve_task(gpointer data, guint64 task)
{
  const Level *level = data;
  const Part *part = &level->parts[task];
  if (part->n_regions > 1 && !astro_is_stopped(level->work))
    halve(level->regions, part, &level->halves[2 * task]);
}

static void cut_task(gpointer data, guint64 task)
{
  const Level *level = data;
  cut_part(level, &level->parts[task]);
}

/* Cuts level by level until there are parts for all cores. Then each part is cut down to its
 * regions by one thread, while its places are in the caches. */
static void cut(AstroRegions *regions, AstroVector *places, guint64 n, AstroStoppable *work)
{
  Level level = { .regions = regions, .parts = g_new(Part, 1), .work = work };
  guint n_parts = 1;
  *level.parts = (Part){ .places = places, .n = n, .n_regions = regions->n_regions };
  measure(level.parts);
  for (; n_parts < PARTS_WANTED; n_parts *= 2) {
    level.halves = g_new0(Part, 2 * n_parts);
    astro_parallel(n_parts, 0, halve_task, &level);
    g_free(level.parts);
    level.parts = level.halves;
  }
  astro_parallel(n_parts, 0, cut_task, &level);
  g_free(level.parts);
}

typedef struct {
  const double *ra, *dec;
  AstroVector *places;
  guint64 n;
  AstroStoppable *work;
} Directions;

static void find_directions(gpointer data, guint64 task)
{
  const Directions *d = data;
  guint64 first = task * POINTS_AT_ONCE, last = MIN(first + POINTS_AT_ONCE, d->n);
  if (astro_is_stopped(d->work))
    return;
  for (guint64 i = first; i < last; i++)
    astro_unit_vector(d->ra[i], d->dec[i], &d->places[i].x[0], &d->places[i].x[1],
                      &d->places[i].x[2]);
}

static gboolean check_number(guint n_regions, guint64 n, GError **error)
{
  if (n_regions >= 1 && n_regions <= n)
    return TRUE;
  g_set_error(error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_REGIONS,
              "%u regions of %" G_GUINT64_FORMAT
              " points: expected at least 1, and no more than there are points",
              n_regions, n);
  return FALSE;
}

static AstroRegions *cut_places(AstroVector *places, guint64 n, guint n_regions,
                                AstroStoppable *work, GError **error)
{
  AstroRegions *regions = g_new(AstroRegions, 1);
  regions->n_regions = n_regions;
  regions->splits = g_new0(Split, n_regions);
  cut(regions, places, n, work);
  if (!work->stopped)
    return regions;
  g_set_error(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_CANCELLED,
              "stopped while %" G_GUINT64_FORMAT " points were being cut into regions", n);
  astro_regions_free(regions);
  return NULL;
}

AstroRegions *astro_regions_of_places(AstroVector *places, guint64 n, guint n_regions,
                                      const AstroStop *stop, GError **error)
{
  AstroStoppable work = { .stop = stop };
  return check_number(n_regions, n, error) ? cut_places(places, n, n_regions, &work, error) : NULL;
}

AstroRegions *astro_regions_new(const double *ra, const double *dec, guint64 n, guint n_regions,
                                const AstroStop *stop, GError **error)
{
  AstroStoppable work = { .stop = stop };
  if (!check_number(n_regions, n, error))
    return NULL;
  AstroVector *places = g_try_new(AstroVector, n);
  if (!places) {
    astro_catalogue_no_memory(error, n);
    return NULL;
  }
  Directions directions = { ra, dec, places, n, &work };
  astro_parallel((n + POINTS_AT_ONCE - 1) / POINTS_AT_ONCE, 0, find_directions, &directions);
  AstroRegions *regions = cut_places(places, n, n_regions, &work, error);
  g_free(places);
  return regions;
}

void astro_regions_free(AstroRegions *regions)
{
  if (!regions)
    return;
  g_free(regions->splits);
  g_free(regions);
}

guint astro_regions_find(const AstroRegions *regions, double ra, double dec)
{
  double x[3];
  guint index = 0, n_splits = regions->n_regions - 1;
  astro_unit_vector(ra, dec, &x[0], &x[1], &x[2]);
  while (index < n_splits) {
    const Split *split = &regions->splits[index];
    index = x[split->axis] < split->threshold ? split->left : split->right;
  }
  return index - n_splits;
}
