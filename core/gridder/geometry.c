/* Sizes of grids, and checks of settings that all algorithms share. */
#include "config.h"
#include "core/gridder/gridder.h"

#include <math.h>

#include "core/kit/units.h"

guint astro_grid_good_size(guint at_least)
{
  static const guint factors[] = { 2, 3, 5, 7 };
  for (guint size = MAX((at_least + 7) / 8, 1) * 8;; size += 8) {
    guint rest = size;
    for (guint i = 0; i < G_N_ELEMENTS(factors); i++)
      while (rest % factors[i] == 0)
        rest /= factors[i];
    if (rest == 1)
      return size;
  }
}

gboolean astro_gridder_check_spread(const AstroGriddingConfig *config, guint least, guint most,
                                    GError **error)
{
  if (config->support && (config->support < least || config->support > most))
    return astro_backend_refuse(error, "support is %u, expected %u to %u or 0 for the best",
                                config->support, least, most);
  if (config->padding > 0 && config->padding < 1)
    return astro_backend_refuse(error, "padding is %g, expected 1 or more, or 0 for the best",
                                config->padding);
  return TRUE;
}

double astro_grid_reach(const AstroGrid *grid)
{
  return (((double)grid->size - grid->spread.support) / 2 - 1) * grid->cell;
}

gboolean astro_grid_holds(const AstroGrid *grid, double u, double v)
{
  const double reach = astro_grid_reach(grid);
  return fabs(u) <= reach && fabs(v) <= reach;
}
