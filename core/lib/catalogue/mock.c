/* Random catalogues, uniform and clustered. */
#include "core/backend/threads.h"
#include "core/lib/catalogue/mask.h"
#include "core/kit/fail.h"
#include "core/kit/units.h"

#include <math.h>

#define POINTS_AT_ONCE 65536 /* in a thread's task */
#define MOST_DRAWS 1e10      /* takes about a quarter of an hour */

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

/* The place at a distance and direction (from north through east) from another one. */
static void offset_by(double ra, double dec, double distance, double direction, double *to_ra,
                      double *to_dec)
{
  double d = dec / ASTRO_DEGREES, r = distance / ASTRO_DEGREES;
  double north = sin(r) * cos(direction), east = sin(r) * sin(direction), out = cos(r);
  double x = out * cos(d) - north * sin(d), z = out * sin(d) + north * cos(d);
  *to_ra = fmod(ra + atan2(east, x) * ASTRO_DEGREES + 720, 360);
  *to_dec = atan2(z, hypot(x, east)) * ASTRO_DEGREES;
}

/* The two random numbers for a point. For a band the second is the fourth drawn: an earlier version
 * dropped two, and a seed must keep giving the same points. */
static void draw(const AstroFootprint *footprint, AstroRandom *random, double *u, double *v)
{
  const guint lost = footprint->shape == ASTRO_FOOTPRINT_BAND ? 2 : 0;
  *u = astro_random_uniform(random);
  for (guint i = 0; i < lost; i++)
    astro_random_uniform(random);
  *v = astro_random_uniform(random);
}

static void place_in_cap(double ra, double dec, double radius, double u, double v, double *to_ra,
                         double *to_dec)
{
  double half = sin(radius / 2 / ASTRO_DEGREES) * sqrt(u);
  double direction = 2 * G_PI * v;
  offset_by(ra, dec, 2 * asin(half) * ASTRO_DEGREES, direction, to_ra, to_dec);
}

/* Not for a mask, whose points take three numbers. */
static void place_in(const AstroFootprint *footprint, double u, double v, double *ra, double *dec)
{
  if (footprint->shape == ASTRO_FOOTPRINT_CAP) {
    place_in_cap(footprint->ra, footprint->dec, footprint->radius, u, v, ra, dec);
    return;
  }
  double low = sin(footprint->dec_min / ASTRO_DEGREES),
         high = sin(footprint->dec_max / ASTRO_DEGREES);
  double east = footprint->ra_min + (footprint->ra_max - footprint->ra_min) * u;
  *ra = fmod(fmod(east, 360) + 360, 360);
  *dec = asin(CLAMP(low + (high - low) * v, -1, 1)) * ASTRO_DEGREES;
}

static void random_in(const AstroFootprint *footprint, AstroRandom *random, double *ra, double *dec)
{
  if (footprint->shape == ASTRO_FOOTPRINT_MASK) {
    astro_mask_random(footprint->mask, random, ra, dec);
    return;
  }
  double u, v;
  draw(footprint, random, &u, &v);
  place_in(footprint, u, v, ra, dec);
}

/* Asks only at every 65536th point, since making a point takes little longer than asking. */
static gboolean goes_on(guint64 i)
{
  return i % POINTS_AT_ONCE != 0 || !astro_is_given_up();
}

static gboolean catalogue_alloc(AstroCatalogue *catalogue, guint64 points, GError **error)
{
  *catalogue = (AstroCatalogue){ .n = points,
                                 .ra = g_try_new(double, MAX(points, 1)),
                                 .dec = g_try_new(double, MAX(points, 1)) };
  if (catalogue->ra && catalogue->dec)
    return TRUE;
  astro_catalogue_clear(catalogue);
  return astro_catalogue_no_memory(error, points);
}

typedef struct {
  const AstroFootprint *footprint;
  const AstroCatalogue *catalogue;
} Placing;

static void place_points(gpointer data, guint64 task)
{
  const Placing *p = data;
  double *ra = p->catalogue->ra, *dec = p->catalogue->dec;
  guint64 first = task * POINTS_AT_ONCE, last = MIN(first + POINTS_AT_ONCE, p->catalogue->n);
  for (guint64 i = first; i < last; i++)
    place_in(p->footprint, ra[i], dec[i], &ra[i], &dec[i]);
}

/* The numbers must be drawn one after the other; converting them to places takes most of the time
 * and is done in threads. */
static void draw_and_place(const AstroFootprint *footprint, AstroRandom *random,
                           const AstroCatalogue *catalogue)
{
  Placing placing = { footprint, catalogue };
  for (guint64 i = 0; i < catalogue->n && goes_on(i); i++)
    draw(footprint, random, &catalogue->ra[i], &catalogue->dec[i]);
  astro_parallel((catalogue->n + POINTS_AT_ONCE - 1) / POINTS_AT_ONCE, 0, place_points, &placing);
}

gboolean astro_catalogue_uniform(const AstroFootprint *footprint, guint64 points,
                                 AstroRandom *random, AstroCatalogue *catalogue, GError **error)
{
  if (!astro_footprint_check(footprint, error) || !catalogue_alloc(catalogue, points, error))
    return FALSE;
  if (footprint->shape == ASTRO_FOOTPRINT_MASK)
    for (guint64 i = 0; i < points && goes_on(i); i++)
      astro_mask_random(footprint->mask, random, &catalogue->ra[i], &catalogue->dec[i]);
  else
    draw_and_place(footprint, random, catalogue);
  return TRUE;
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
  for (guint i = 0; i < mock->clustering->children; i++) {
    double to_ra, to_dec;
    double u = astro_random_uniform(mock->random), v = astro_random_uniform(mock->random);
    place_in_cap(ra, dec, radius, u, v, &to_ra, &to_dec);
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
  if (!check_draws(footprint, &wide, points, error) || !catalogue_alloc(catalogue, points, error))
    return FALSE;
  catalogue->n = 0;
  Mock mock = { .footprint = footprint,
                .clustering = clustering,
                .shrink = shrink,
                .random = random,
                .catalogue = catalogue,
                .points = points };
  while (catalogue->n < points && !astro_is_given_up()) {
    double ra, dec;
    random_in(&wide, random, &ra, &dec);
    add_disc(&mock, ra, dec, clustering->radius, 0);
  }
  return TRUE;
}
