/* The sky halved again and again by planes along the widest axis, in proportion to the regions that
 * each side is to hold. */
#include "core/catalogue/catalogue.h"
#include "core/histogram/histogram.h"
#include "core/histogram/select.h"

typedef struct {
  guint axis;
  double threshold;  /* points below it are on the left */
  guint left, right; /* splits; those of n_regions - 1 and above are regions */
} Split;

struct _AstroRegions {
  guint n_regions;
  Split *splits; /* n_regions - 1 */
};

static guint widest_axis(const AstroVector *places, guint64 n)
{
  guint widest = 0;
  double width = -1;
  for (guint axis = 0; axis < 3; axis++) {
    double low = 2, high = -2;
    for (guint64 i = 0; i < n; i++) {
      low = MIN(low, places[i].x[axis]);
      high = MAX(high, places[i].x[axis]);
    }
    if (high - low > width) {
      width = high - low;
      widest = axis;
    }
  }
  return widest;
}

/* Returns the split, or region, of places. */
static guint halve(AstroRegions *regions, AstroVector *places, guint64 n, guint first_region,
                   guint n_regions, guint *n_splits)
{
  if (n_regions == 1)
    return regions->n_regions - 1 + first_region;
  guint index = (*n_splits)++, on_left = n_regions / 2;
  guint axis = widest_axis(places, n);
  guint64 n_left = n * on_left / n_regions;
  astro_select(places, NULL, n, n_left, axis);
  double below = -2, above = 2;
  for (guint64 i = 0; i < n_left; i++)
    below = MAX(below, places[i].x[axis]);
  for (guint64 i = n_left; i < n; i++)
    above = MIN(above, places[i].x[axis]);
  /* a plane between two points rather than through one */
  double threshold = (below + above) / 2;
  guint left = halve(regions, places, n_left, first_region, on_left, n_splits),
        right = halve(regions, places + n_left, n - n_left, first_region + on_left,
                      n_regions - on_left, n_splits);
  regions->splits[index] = (Split){ axis, threshold, left, right };
  return index;
}

AstroRegions *astro_regions_new(const double *ra, const double *dec, guint64 n, guint n_regions,
                                GError **error)
{
  if (n_regions < 1 || n_regions > n) {
    g_set_error(error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_REGIONS,
                "%u regions of %" G_GUINT64_FORMAT " points: 1 to as many as there are points",
                n_regions, n);
    return NULL;
  }
  AstroVector *places = g_try_new(AstroVector, n);
  if (!places) {
    astro_catalogue_no_memory(error, n);
    return NULL;
  }
  AstroRegions *regions = g_new(AstroRegions, 1);
  regions->n_regions = n_regions;
  regions->splits = g_new0(Split, n_regions);
  for (guint64 i = 0; i < n; i++)
    astro_unit_vector(ra[i], dec[i], &places[i].x[0], &places[i].x[1], &places[i].x[2]);
  guint n_splits = 0;
  halve(regions, places, n, 0, n_regions, &n_splits);
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
