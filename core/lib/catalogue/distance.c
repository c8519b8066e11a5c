/* Distances of points: as they are in a column, or from redshifts. */
#include "core/lib/catalogue/distance.h"

#include "core/kit/fail.h"

#include <math.h>

#define HUBBLE_DISTANCE 2997.92458 /* the speed of light by 100 km/s, in Mpc/h */
#define MOST_REDSHIFT 1100
#define MOST_DISTANCE 1e50 /* products of four are within the range of doubles */

/* Gauss and Legendre's rule of 8 points, of which half are given, on panels of this width in
 * ln(1 + z): the integrand is so smooth that only rounding errors are left. */
#define PANEL 0.25
static const double nodes[] = { 0.1834346424956498, 0.5255324099163290, 0.7966664774136267,
                                0.9602898564975363 };
static const double shares[] = { 0.3626837833783620, 0.3137066458778873, 0.2223810344533745,
                                 0.1012285362903763 };

/* The distance in Hubble distances for each step of ln(1 + z). */
static double integrand(double x, double omega_m)
{
  const double scale = exp(x);
  return scale / sqrt(omega_m * (scale * scale * scale) + (1 - omega_m));
}

double astro_comoving_distance(double redshift, double omega_m)
{
  const double end = log1p(redshift);
  const guint panels = (guint)ceil(end / PANEL);
  double sum = 0;
  for (guint p = 0; p < panels; p++) {
    const double half = end / panels / 2, middle = (2 * p + 1) * half;
    for (guint i = 0; i < G_N_ELEMENTS(nodes); i++)
      sum += shares[i] * half *
             (integrand(middle - nodes[i] * half, omega_m) +
              integrand(middle + nodes[i] * half, omega_m));
  }
  return HUBBLE_DISTANCE * sum;
}

double astro_random_distance(AstroRandom *random, double min, double max)
{
  const double least = min / max, cube = least * least * least;
  /* 1 - uniform is above 0, as a distance has to be */
  return max * cbrt(cube + (1 - cube) * (1 - astro_random_uniform(random)));
}

gboolean astro_catalogue_distance(const AstroCatalogueColumns *columns, double value,
                                  double *distance)
{
  if (!(value > 0 && value <= (columns->is_redshift ? MOST_REDSHIFT : MOST_DISTANCE)))
    return FALSE;
  *distance = columns->is_redshift ? astro_comoving_distance(value, columns->omega_m) : value;
  return *distance > 0;
}

const char *astro_catalogue_distance_expected(const AstroCatalogueColumns *columns)
{
  return columns->is_redshift ? "a redshift above 0, at most 1100"
                              : "a distance above 0, at most 1e50";
}

gboolean astro_catalogue_choose_distance(const char *distance_column, const char *redshift_column,
                                         double omega_m, AstroCatalogueColumns *columns,
                                         GError **error)
{
  const gboolean has_distance = distance_column && *distance_column,
                 has_redshift = redshift_column && *redshift_column;
  if (has_distance && has_redshift)
    return astro_fail(error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_COLUMN,
                      "distance-column=%s and redshift-column=%s are both set, expected one of "
                      "them",
                      distance_column, redshift_column);
  if (has_redshift && !(omega_m >= 0))
    return astro_fail(error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_COLUMN,
                      "redshift-column=%s needs a cosmology to give distances: expected omega-m, "
                      "the density of matter (0.31 for example), or distance-column",
                      redshift_column);
  columns->is_redshift = has_redshift;
  columns->omega_m = omega_m;
  columns->distance = has_distance ? distance_column : has_redshift ? redshift_column : NULL;
  return TRUE;
}
