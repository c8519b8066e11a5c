/* How many w-planes W-stacking has, and at which w. */
#include "config.h"
#include "core/backend/threads.h"
#include "core/gridder/rows.h"
#include "core/gridder/sorted.h"

#include <math.h>

typedef struct {
  const AstroGridRows *rows;
  const AstroGrid *grid;
  double least[ASTRO_ROWS_PARTS], greatest[ASTRO_ROWS_PARTS];
} Range;

static void find_range(gpointer data, guint64 part)
{
  Range *range = data;
  const AstroGridRows *rows = range->rows;
  double least = INFINITY, greatest = 0;
  guint64 from, to;
  astro_rows_part(rows->rows, part, &from, &to);
  for (guint64 row = from; row < to; row++) {
    const double *uvw = rows->uvw + 3 * row;
    for (guint c = 0; c < rows->channels; c++) {
      const double per = rows->wavenumbers[c], w = uvw[2] * per;
      if ((w < least || w > greatest) && !astro_rows_is_zero(rows, row * rows->channels + c) &&
          astro_grid_holds(range->grid, uvw[0] * per, uvw[1] * per)) {
        least = MIN(least, w);
        greatest = MAX(greatest, w);
      }
    }
  }
  range->least[part] = least;
  range->greatest[part] = greatest;
}

gboolean astro_planes_of_range(AstroPlanes *planes, const AstroGriddingConfig *config,
                               const AstroGrid *grid, double least, double greatest, GError **error)
{
  double n_least, n_greatest;

  if (!astro_grid_n_range(grid, &n_least, &n_greatest, error))
    return FALSE;
  least = MIN(least, greatest);
  const double half_n = (n_greatest - n_least) / 2, half_w = (greatest - least) / 2;
  *planes = (AstroPlanes){ .first = (least + greatest) / 2,
                           .support = grid->spread.support,
                           .n = 1,
                           .n_middle = (n_greatest + n_least) / 2 };
  /* One plane will do where phases in the image differ by less than the accuracy. */
  if (2 * G_PI * half_n * half_w < config->accuracy / 10)
    return TRUE;
  planes->step = 1 / (2 * MIN((double)grid->size / grid->image_size, 2) * half_n);
  planes->first = least - planes->step * planes->support / 2.0;
  const double n = (greatest - least) / planes->step + planes->support + 2;
  if (n <= ASTRO_MAX_PLANES) {
    double inside;
    planes->n = planes->support + astro_first_cell((greatest - planes->first) / planes->step,
                                                   planes->support, &inside);
    return TRUE;
  }
  return astro_backend_refuse(
      error,
      "w from %.0f to %.0f wavelengths over this field needs %.0f planes, at most %d are "
      "possible: expected a smaller field or shorter baselines",
      least, greatest, n, ASTRO_MAX_PLANES);
}

gboolean astro_planes_widen(const AstroGridRows *rows, const AstroGrid *grid, guint threads,
                            double *least, double *greatest, GError **error)
{
  Range range = { .rows = rows, .grid = grid };
  astro_parallel(ASTRO_ROWS_PARTS, threads, find_range, &range);
  for (guint part = 0; part < ASTRO_ROWS_PARTS; part++) {
    *least = MIN(*least, range.least[part]);
    *greatest = MAX(*greatest, range.greatest[part]);
  }
  return astro_backend_goes_on(error);
}

gboolean astro_planes_choose(AstroPlanes *planes, const AstroGriddingConfig *config,
                             const AstroGrid *grid, const AstroGridRows *rows, GError **error)
{
  double least = INFINITY, greatest = 0;
  return astro_planes_widen(rows, grid, config->threads, &least, &greatest, error) &&
         astro_planes_of_range(planes, config, grid, least, greatest, error);
}
