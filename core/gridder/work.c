/* The work of gridding and degridding, for plans. */
#include "config.h"
#include "core/gridder/backend.h"
#include "core/gridder/degrid/degridder.h"
#include "core/gridder/work.h"
#include "core/gridder/wprojection/wprojection.h"

double astro_gridder_pairs(guint baselines)
{
  guint stations = 1;
  while ((stations + 1) * (stations + 2) / 2 <= baselines)
    stations++;
  return (double)(baselines - stations);
}

/* A value times a tap and the sum are 4 operations, in each cell of the footprint, on each plane
 * within reach: as many as the footprint has cells along a side, unless w is so small everywhere
 * that there is one plane. */
static double spread_operations(const AstroGrid *grid)
{
  const double support = grid->spread.support;
  return 4 * support * support * support;
}

/* By the formula each visibility is turned and added at each pixel, 8 operations. */
static double direct_operations(const AstroGrid *grid)
{
  return 8. * grid->image_size * grid->image_size;
}

static void tell(const AstroPrepareConfig *visibilities, const AstroGrid *grid, gboolean is_double,
                 double operations, double dumps, AstroWork *work)
{
  const double values = astro_gridder_pairs(visibilities->baselines) * visibilities->channels *
                        g_strv_length(grid->products) * dumps;
  *work = (AstroWork){ 0 };
  work->operations[is_double ? ASTRO_ARITHMETIC_DOUBLE : ASTRO_ARITHMETIC_FLOAT] =
      values * operations;
}

/* W-projection multiplies a value by a complex tap and adds, 8 operations, in each cell of the
 * footprint, which is wider for larger w unless the support is set; around a visibility that is
 * interpolated there are 8 of these. */
static double project_operations(const AstroGridderConfig *config)
{
  const AstroTapsConfig taps = astro_wprojection_taps(&config->gridder, &config->grid);
  guint support;
  astro_taps_supports(&taps, 0, 1, &support);
  return 8. * support * support * (config->gridder.interpolated ? 8 : 1);
}

static double operations_of(const AstroGridderConfig *config)
{
  return config->algorithm == &astro_direct        ? direct_operations(&config->grid)
         : config->algorithm == &astro_wprojection ? project_operations(config)
                                                   : spread_operations(&config->grid);
}

gboolean astro_gridder_work(gconstpointer configuration, const AstroWorkSteps *steps,
                            AstroWork *work)
{
  const AstroGridderConfig *config = configuration;
  const AstroGrid *grid = &config->grid;
  const gboolean is_direct = config->algorithm == &astro_direct;
  *work = (AstroWork){ .besides = config->prepare.smearing > 0
                                      ? "visibilities that are left once channels are added up"
                                      : NULL };
  if (work->besides || !grid->products)
    return FALSE;
  tell(&config->prepare, grid, is_direct || config->gridder.is_double, operations_of(config),
       steps->in, work);
  if (config->algorithm == &astro_wprojection && !config->gridder.support)
    work->besides = "the wider footprints of visibilities at larger w";
  return TRUE;
}

gboolean astro_degridder_work(gconstpointer configuration, const AstroWorkSteps *steps,
                              AstroWork *work)
{
  const AstroDegridderConfig *config = configuration;
  if (!config->grid.products)
    return FALSE;
  tell(&config->visibilities, &config->grid, config->gridder.is_double,
       spread_operations(&config->grid), steps->in, work);
  return TRUE;
}
