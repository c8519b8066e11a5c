/* The range of n - 1 in an image. */
#include "config.h"
#include "core/lib/spread/spread.h"

#include <math.h>

#include "core/backend/backend.h"
#include "core/kit/units.h"

/* A quarter of the beam of 1e12 m at 1e13 Hz is larger. */
#define LEAST_PIXEL (1e-12 / 3600 * ASTRO_DEGREE)

static double n_minus_1(double r2)
{
  return -r2 / (1 + sqrt(1 - r2));
}

double astro_grid_n_minus_1(double l, double m)
{
  double r2 = l * l + m * m;
  return -r2 / (1 + sqrt(1 - r2));
}

/* The size in pixels, an even number, of the largest image there that does not reach the horizon.
 */
static guint most_pixels(const AstroGrid *grid)
{
  const double l = fabs(grid->centre_l), m = fabs(grid->centre_m), sum = l + m;
  const double half = (sqrt(sum * sum + 2 * (1 - l * l - m * m)) - sum) / 2;
  return l * l + m * m < 1 ? 2 * (guint)CLAMP((half - 1e-9) / grid->pixel, 0, G_MAXINT / 2) : 0;
}

gboolean astro_grid_n_range(const AstroGrid *grid, double *least, double *greatest, GError **error)
{
  const double half = grid->image_size / 2.0 * grid->pixel;
  const double l = fabs(grid->centre_l), m = fabs(grid->centre_m);
  const double far = (l + half) * (l + half) + (m + half) * (m + half);
  if (!(grid->pixel >= LEAST_PIXEL))
    return astro_backend_refuse(
        error,
        "pixels of %.4g arcsec, expected at least %.0e: no baseline that a stream may have tells "
        "apart what is closer",
        grid->pixel * ASTRO_DEGREES * 3600, LEAST_PIXEL * ASTRO_DEGREES * 3600);
  const double near_l = MAX(l - half, 0), near_m = MAX(m - half, 0);
  if (!(far < 1)) {
    const guint most = most_pixels(grid);
    g_autofree char *size = most ? g_strdup_printf(", a size of at most %u", most) : g_strdup("");
    return astro_backend_refuse(
        error,
        "the image reaches beyond the hemisphere: with a size of %u pixels of %.4g arcsec its "
        "farthest corner is at l^2 + m^2 = %.3f, expected less than 1%s (a smaller field, or one "
        "nearer to the phase centre)",
        grid->image_size, grid->pixel * ASTRO_DEGREES * 3600, far, size);
  }
  *least = n_minus_1(far);
  *greatest = n_minus_1(near_l * near_l + near_m * near_m);
  return TRUE;
}
