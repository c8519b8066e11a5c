/* Footprints, and clustered catalogues. */
#include "core/backend/threads.h"
#include "core/lib/catalogue/mask.h"
#include "core/lib/catalogue/uniform.h"
#include "core/kit/fail.h"
#include "core/kit/units.h"

#include <math.h>

#define MOST_DRAWS 1e10 /* takes about a quarter of an hour */

G_DEFINE_QUARK(astro_catalogue_error, astro_catalogue_error)

gboolean astro_footprint_check(const AstroFootprint *footprint, GError **error)
{
  const AstroFootprint *f = footprint;
  if (f->shape == ASTRO_FOOTPRINT_MASK)
    return TRUE;
  gboolean good = f->shape == ASTRO_FOOTPRINT_CAP
                      ? isfinite(f->ra) && fabs(f->dec) <= 90 && f->radius > 0 && f->radius <= 180
                      : isfinite(f->ra_min) && f->ra_max > f->ra_min &&
                            f->ra_max - f->ra_min <= 360 && f->dec_min >= -90 &&
                            f->dec_max > f->dec_min && f->dec_max <= 90;
  if (good)
    return TRUE;
  if (f->shape == ASTRO_FOOTPRINT_CAP)
    g_set_error(
        error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_FOOTPRINT,
        "a cap of %g degrees around %g, %g: radius above 0 and up to 180, declination -90 to 90",
        f->radius, f->ra, f->dec);
  else
    g_set_error(
        error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_FOOTPRINT,
        "a band from right ascension %g to %g, declination %g to %g: expected both to rise, by "
        "at most 360 degrees and within -90 to 90",
        f->ra_min, f->ra_max, f->dec_min, f->dec_max);
  return FALSE;
}

/* The square of half the chord: accurate for small separations too. */
static double haversine(double ra1, double dec1, double ra2, double dec2)
{
  double a = sin((dec2 - dec1) / 2 / ASTRO_DEGREES), b = sin((ra2 - ra1) / 2 / ASTRO_DEGREES);
  return a * a + cos(dec1 / ASTRO_DEGREES) * cos(dec2 / ASTRO_DEGREES) * b * b;
}

gboolean astro_footprint_contains(const AstroFootprint *footprint, double ra, double dec)
{
  if (footprint->shape == ASTRO_FOOTPRINT_MASK)
    return astro_mask_contains(footprint->mask, ra, dec);
  if (footprint->shape == ASTRO_FOOTPRINT_CAP) {
    double half = sin(footprint->radius / 2 / ASTRO_DEGREES);
    return haversine(footprint->ra, footprint->dec, ra, dec) <= half * half;
  }
  double east = fmod(ra - footprint->ra_min, 360);
  if (east < 0)
    east += 360;
  return east <= footprint->ra_max - footprint->ra_min && dec >= footprint->dec_min &&
         dec <= footprint->dec_max;
}

/* The footprint of the centres of discs that may reach into the footprint. */
static AstroFootprint grown(const AstroFootprint *footprint, double by)
{
  AstroFootprint wide = *footprint;
  if (footprint->shape == ASTRO_FOOTPRINT_MASK)
    astro_mask_cap(footprint->mask, &wide);
  wide.radius = MIN(wide.radius + by, 180);
  double furthest = MAX(fabs(footprint->dec_min), fabs(footprint->dec_max)) + by;
  double along = furthest < 89 ? by / cos(furthest / ASTRO_DEGREES) : 360;
  wide.ra_min -= along;
  wide.ra_max += along;
  if (wide.ra_max - wide.ra_min > 360) {
    wide.ra_min = 0;
    wide.ra_max = 360;
  }
  wide.dec_min = MAX(wide.dec_min - by, -90);
  wide.dec_max = MIN(wide.dec_max + by, 90);
  return wide;
}

typedef struct {
  const AstroFootprint *footprint;
  const AstroClustering *clustering;
  double shrink;
  AstroRandom *random;
  AstroCatalogue *catalogue;
  guint64 points;
} Mock;

static void add_disc(Mock *mock, double ra, double dec, double radius, guint level)
{
  AstroCatalogue *catalogue = mock->catalogue;
  if (level == mock->clustering->levels) {
    if (catalogue->n < mock->points && astro_footprint_contains(mock->footprint, ra, dec)) {
      catalogue->ra[catalogue->n] = ra;
      catalogue->dec[catalogue->n++] = dec;
    }
    return;
  }
  double sin_dec, cos_dec, half, unused;
  astro_sin_cos(dec, &sin_dec, &cos_dec);
  astro_sin_cos(radius / 2, &half, &unused);
  for (guint i = 0; i < mock->clustering->children; i++) {
    double to_ra, to_dec;
    double u = astro_random_uniform(mock->random), v = astro_random_uniform(mock->random);
    astro_place_in_cap(ra, sin_dec, cos_dec, half, u, v, &to_ra, &to_dec);
    add_disc(mock, to_ra, to_dec, radius / mock->shrink, level + 1);
  }
}

#define refuse_model(error, ...)                                                                   \
  astro_fail(error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_MODEL, __VA_ARGS__)

static gboolean check_clustering(const AstroClustering *clustering, GError **error)
{
  const AstroClustering *c = clustering;
  if (!(c->slope > -2 && c->slope < 0))
    return refuse_model(error, "clusters with slope %g, expected one above -2 and below 0",
                        c->slope);
  if (!(c->radius > 0 && c->radius <= 60))
    return refuse_model(error, "clusters of radius %g degrees, expected above 0 and at most 60",
                        c->radius);
  if (c->children < 2 || c->levels < 1 || pow(c->children, c->levels) > 1e6)
    return refuse_model(error,
                        "clusters of %u levels with %u clusters in each (levels, children): "
                        "expected 1 or more levels of 2 or more, with at most 1e6 points",
                        c->levels, c->children);
  return TRUE;
}

static double area_of(const AstroFootprint *f)
{
  if (f->shape == ASTRO_FOOTPRINT_MASK)
    return astro_mask_area(f->mask) / (ASTRO_DEGREES * ASTRO_DEGREES);
  double half = sin(f->radius / 2 / ASTRO_DEGREES);
  return f->shape == ASTRO_FOOTPRINT_CAP
             ? 4 * G_PI * half * half
             : (sin(f->dec_max / ASTRO_DEGREES) - sin(f->dec_min / ASTRO_DEGREES)) *
                   (f->ra_max - f->ra_min) / ASTRO_DEGREES;
}

/* Points are drawn uniformly, on average, over the wide footprint, and those outside the footprint
 * are lost. */
static gboolean check_draws(const AstroFootprint *footprint, const AstroFootprint *wide,
                            guint64 points, GError **error)
{
  double lost = area_of(wide) / area_of(footprint), draws = lost * (double)points;
  if (draws <= MOST_DRAWS)
    return TRUE;
  g_set_error(error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_MODEL,
              "clusters cover %g times the area of the footprint, so that %g points would be drawn "
              "for %" G_GUINT64_FORMAT " within it: expected smaller clusters, with at most %g",
              lost, draws, points, MOST_DRAWS);
  return FALSE;
}

gboolean astro_catalogue_clustered(const AstroFootprint *footprint,
                                   const AstroClustering *clustering, guint64 points,
                                   AstroRandom *random, AstroCatalogue *catalogue, GError **error)
{
  if (!astro_footprint_check(footprint, error) || !check_clustering(clustering, error))
    return FALSE;
  double shrink = pow(clustering->children, 1 / (2 + clustering->slope)), reach = 0,
         radius = clustering->radius;
  for (guint level = 0; level < clustering->levels; level++, radius /= shrink)
    reach += radius;
  AstroFootprint wide = grown(footprint, reach);
  if (!check_draws(footprint, &wide, points, error) ||
      !astro_catalogue_alloc(catalogue, points, error))
    return FALSE;
  catalogue->n = 0;
  Mock mock = { .footprint = footprint,
                .clustering = clustering,
                .shrink = shrink,
                .random = random,
                .catalogue = catalogue,
                .points = points };
  const AstroPlacing placing = astro_placing_of(&wide);
  while (catalogue->n < points && !astro_is_given_up()) {
    double ra, dec;
    astro_place(&placing, random, &ra, &dec);
    add_disc(&mock, ra, dec, clustering->radius, 0);
  }
  return TRUE;
}
