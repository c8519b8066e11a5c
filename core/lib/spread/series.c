/* Factors for a finished image. */
#include "config.h"
#include "core/lib/spread/series.h"

#include <math.h>

#include "core/lib/spread/spread.h"

/* A series is accurate enough when its last terms are this small, relative to the first. */
#define NEGLIGIBLE 1e-15

static void fit_series(const AstroGrid *grid, double w_step, AstroImageSeries *series, guint n)
{
  double values[ASTRO_IMAGE_TERMS];
  for (guint i = 0; i < n; i++) {
    double at = cos(G_PI * (i + 0.5) / n);
    values[i] = 1 / astro_spread_correction_w(grid, w_step,
                                              (series->least + series->greatest) / 2 +
                                                  at * (series->greatest - series->least) / 2);
  }
  series->n = n;
  for (guint k = 0; k < n; k++) {
    series->terms[k] = 0;
    for (guint i = 0; i < n; i++)
      series->terms[k] += values[i] * cos(G_PI * k * (i + 0.5) / n) * (k ? 2.0 : 1.0) / n;
  }
}

/* n - 1 is greatest at the pixel next to the phase centre, and least at a corner. */
void astro_image_series_set(AstroImageSeries *series, const AstroGrid *grid, double w_step)
{
  double half = grid->image_size / 2 * grid->pixel;
  double l = fabs(grid->centre_l), m = fabs(grid->centre_m);

  series->n = 0;
  if (w_step == 0)
    return;
  series->least = astro_grid_n_minus_1(l + half, m + half);
  series->greatest = astro_grid_n_minus_1(MAX(l - half, 0), MAX(m - half, 0));
  if (!(series->greatest > series->least)) /* a single pixel */
    series->least = series->greatest - 1e-9;
  for (guint n = 16; n <= ASTRO_IMAGE_TERMS; n *= 2) {
    fit_series(grid, w_step, series, n);
    double last = fabs(series->terms[n - 1]) + fabs(series->terms[n - 2]);
    if (last < NEGLIGIBLE * fabs(series->terms[0]))
      break;
  }
  while (series->n > 1 && fabs(series->terms[series->n - 1]) < NEGLIGIBLE * series->terms[0] / 10)
    series->n--;
}

double *astro_image_inverse(const AstroGrid *grid)
{
  double *inverse = g_new(double, grid->image_size + 1);
  for (guint i = 0; i <= grid->image_size; i++)
    inverse[i] =
        1 / astro_spread_correction(grid, (i - (double)(grid->image_size / 2)) * grid->pixel);
  return inverse;
}
