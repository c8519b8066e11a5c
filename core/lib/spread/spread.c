/* Corrections of images for the functions with which visibilities were spread. */
#include "config.h"
#include "core/lib/spread/spread.h"

#include <math.h>

#include "core/lib/spread/semicircle.h"
#include "core/lib/spread/taper.h"

static double none(const AstroGrid *grid, double l)
{
  return 1;
}

static double semicircle(const AstroGrid *grid, double l)
{
  return astro_semicircle_transform(grid->spread.support, grid->spread.beta, l * grid->cell);
}

/* Nearest taps, and linear interpolation between taps, reduce the image by the transform of their
 * own spread. */
static double taper(const AstroGrid *grid, double l)
{
  const AstroSpread *spread = &grid->spread;
  double x = l / (grid->size * grid->pixel), t = G_PI * x / spread->oversampling;
  double loss = fabs(t) < 1e-8 ? 1 : sin(t) / t;
  return astro_taper(spread->kind, spread->beta, x) * (spread->interpolated ? loss * loss : loss);
}

static double (*const corrections[ASTRO_N_SPREADS])(const AstroGrid *, double) = {
  [ASTRO_SPREAD_NONE] = none,
  [ASTRO_SPREAD_SEMICIRCLE] = semicircle,
  [ASTRO_SPREAD_KAISER_BESSEL] = taper,
  [ASTRO_SPREAD_SPHEROIDAL] = taper,
};

double astro_spread_correction(const AstroGrid *grid, double l)
{
  return corrections[grid->spread.kind](grid, l);
}

/* The centre of n - 1, around which planes are spread. */
static double n_middle(const AstroGrid *grid)
{
  double least, greatest;
  return astro_grid_n_range(grid, &least, &greatest, NULL) ? (least + greatest) / 2 : 0;
}

double astro_spread_correction_w(const AstroGrid *grid, double w_step, double n_minus_1)
{
  if (w_step == 0 || grid->spread.kind != ASTRO_SPREAD_SEMICIRCLE)
    return 1;
  return astro_semicircle_transform(grid->spread.support, grid->spread.beta,
                                    (n_minus_1 - n_middle(grid)) * w_step);
}
