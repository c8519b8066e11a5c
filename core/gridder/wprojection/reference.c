/* W-projection: the formula, tap by tap. */
#include "config.h"
#include "core/backend/count.h"
#include "core/gridder/wprojection/places.h"

#include <complex.h>

static double complex complex_at(gconstpointer values, gsize index, gboolean is_double)
{
  if (is_double)
    return ((const double complex *)values)[index];
  return ((const float complex *)values)[index];
}

/* grid[v][u] += value * weight * tap, at each tap of the set. */
static void spread_one(const AstroWProjectionConfig *config, const AstroTapsPoint *point,
                       const AstroTapsPlace *u, const AstroTapsPlace *v, double complex value,
                       double complex *grid)
{
  const AstroTaps *taps = config->taps;
  const AstroTapsPlane *plane = &taps->planes[point->plane];
  gsize set = astro_taps_offset(taps, point->plane, v->set, u->set);
  for (guint y = 0; y < plane->support; y++)
    for (guint x = 0; x < plane->support; x++) {
      ASTRO_COUNT(8);
      grid[(v->cell + y) * config->size + u->cell + x] +=
          value * complex_at(plane->taps, set + (gsize)y * plane->stride + x, taps->is_double);
    }
}

guint64 astro_wprojection_reference(const AstroWProjectionConfig *config, const AstroGridRows *rows,
                                    guint first, guint n, double *grid)
{
  const guint n_corners = config->taps->interpolated ? 8 : 1;
  const gsize plane = (gsize)config->size * config->size;
  guint64 outside = 0;

  for (guint64 row = 0; row < rows->rows; row++) {
    AstroTapsLine line = astro_taps_line(config, rows->uvw + 3 * row);
    for (guint channel = first; channel < first + n; channel++) {
      gsize at = (row * rows->channels + channel) * config->products;
      AstroTapsPoint points[8];
      AstroTapsPlace u[8], v[8];
      double fractions[3];
      gboolean any = FALSE;
      for (guint p = 0; p < config->products; p++)
        any = any || complex_at(rows->values, at + p, rows->is_double) != 0;
      if (!any)
        continue;
      gboolean inside =
          astro_taps_point(&line, rows->wavenumbers[channel], n_corners > 1, &points[0], fractions);
      for (guint corner = n_corners; inside && corner-- > 0;) {
        points[corner] = astro_taps_corner(&points[0], corner);
        inside = astro_taps_inside(config, &points[corner], &u[corner], &v[corner]);
      }
      if (!inside) {
        outside++;
        continue;
      }
      for (guint corner = 0; corner < n_corners; corner++) {
        double complex weight = n_corners > 1 ? astro_taps_corner_weight(fractions, corner) : 1;
        weight *= cexp(-2 * G_PI * I * line.turns * rows->wavenumbers[channel]);
        for (guint p = 0; p < config->products; p++)
          spread_one(config, &points[corner], &u[corner], &v[corner],
                     weight * complex_at(rows->values, at + p, rows->is_double),
                     (double complex *)grid + p * plane);
      }
    }
  }
  return outside;
}
