/* W-projection as one of the gridder's algorithms. */
#include "config.h"
#include "core/gridder/wprojection/wprojection.h"
#include "core/kit/units.h"

#include <math.h>

#define DEFAULT_OVERSAMPLING 8
#define DEFAULT_PADDING 1.5
#define DEFAULT_ACCURACY 1e-3

struct _AstroGridding {
  AstroTaps *taps;
  guint channels;
  gsize grid_bytes; /* of one channel */
  AstroWProjection **channel;
};

/* The accuracy to choose supports for: a share of the error that tables have however wide supports
 * are. */
static double table_accuracy(const AstroSpread *spread)
{
  double n = spread->oversampling;
  return spread->interpolated ? 0.02 / (n * n) : 0.01 / n;
}

/* Fitted to measured errors against the direct transform: 1.4e-2 and 2.4e-4 with 8 taps a cell. */
double astro_wprojection_reach(const AstroSpread *spread)
{
  double n = spread->oversampling;
  return spread->interpolated ? 0.016 / (n * n) : 0.11 / n;
}

guint astro_wprojection_oversampling(gboolean interpolated, double accuracy)
{
  AstroSpread spread = { .interpolated = interpolated };
  for (spread.oversampling = 1; spread.oversampling <= ASTRO_TAPS_MAX_OVERSAMPLING;
       spread.oversampling++)
    if (astro_wprojection_reach(&spread) <= accuracy)
      return spread.oversampling;
  return 0;
}

AstroTapsConfig astro_wprojection_taps(const AstroGriddingConfig *config, const AstroGrid *grid)
{
  double accuracy = config->accuracy > 0 ? config->accuracy : DEFAULT_ACCURACY;
  return (AstroTapsConfig){ .grid = grid,
                            .w_max = config->longest,
                            .planes = config->w_planes,
                            .support = config->support,
                            .accuracy = MAX(accuracy, table_accuracy(&grid->spread)),
                            .is_double = config->is_double,
                            .threads = config->threads };
}

static gboolean check(const AstroGriddingConfig *config, GError **error)
{
  const struct {
    const char *name;
    guint found, least, most;
  } checks[] = {
    { "oversampling", config->oversampling, 1, ASTRO_TAPS_MAX_OVERSAMPLING },
    { "w-planes", config->w_planes, config->interpolated ? 2 : 1, ASTRO_TAPS_MAX_PLANES },
  };
  for (guint i = 0; i < G_N_ELEMENTS(checks); i++)
    if (checks[i].found && (checks[i].found < checks[i].least || checks[i].found > checks[i].most))
      return astro_backend_refuse(error, "%s is %u, expected %u to %u or 0 for the best",
                                  checks[i].name, checks[i].found, checks[i].least, checks[i].most);
  return astro_gridder_check_spread(config, ASTRO_TAPS_MIN_SUPPORT, ASTRO_TAPS_MAX_SUPPORT, error);
}

/* The largest support, plus what an image off the phase centre moves it by on either side. */
static gboolean choose_support(const AstroGriddingConfig *config, AstroGrid *grid, GError **error)
{
  AstroTapsConfig taps = astro_wprojection_taps(config, grid);
  guint support, planes = astro_taps_planes(&taps);
  double slope = hypot(grid->centre_l, grid->centre_m) /
                 sqrt(1 - grid->centre_l * grid->centre_l - grid->centre_m * grid->centre_m);
  if (!astro_taps_supports(&taps, planes - 1, 1, &support))
    return astro_backend_refuse(
        error,
        "convolution functions for w up to %.0f wavelengths and a field of %.3g degrees are "
        "wider than %d cells at accuracy %.1g: expected a smaller field, shorter "
        "baselines, or algorithm=wstacking",
        config->longest, grid->image_size * grid->pixel * ASTRO_DEGREES, ASTRO_TAPS_MAX_SUPPORT,
        taps.accuracy);
  const double cells = support + 2 * ceil(slope * config->longest / grid->cell);
  if (cells + 2 >= grid->size)
    return astro_backend_refuse(
        error,
        "visibilities are spread over %.0f cells, %.0f of them for an image off the phase centre, "
        "of a grid that has %u: expected a larger size or padding, less support where it is set, "
        "an image nearer to the phase centre, or algorithm=wstacking",
        cells, cells - support, grid->size);
  grid->spread.support = (guint)cells;
  return TRUE;
}

static gboolean choose(const AstroGriddingConfig *config, AstroGrid *grid, GError **error)
{
  double padding = config->padding > 0 ? config->padding : DEFAULT_PADDING;
  double least, greatest;

  if (!check(config, error) || !astro_grid_n_range(grid, &least, &greatest, error))
    return FALSE;
  grid->size = astro_grid_good_size((guint)ceil(grid->image_size * padding - 1e-9));
  grid->cell = 1 / (grid->size * grid->pixel);
  grid->spread = (AstroSpread){
    .kind = config->taper == ASTRO_SPREAD_SPHEROIDAL ? config->taper : ASTRO_SPREAD_KAISER_BESSEL,
    .oversampling = config->oversampling ? config->oversampling : DEFAULT_OVERSAMPLING,
    .interpolated = config->interpolated,
  };
  grid->spread.beta = 1 - log(astro_wprojection_taps(config, grid).accuracy);
  return choose_support(config, grid, error);
}

/* Memory for records that wait: an eighth of that of grids and tables. */
static guint64 waiting_memory(guint64 taps, guint64 grid, guint channels)
{
  return (taps + channels * grid) / 8 / channels;
}

static gsize grid_bytes(const AstroGriddingConfig *config, const AstroGrid *grid)
{
  return (gsize)grid->size * grid->size * g_strv_length(grid->products) * 2 *
         (config->is_double ? sizeof(double) : sizeof(float));
}

static guint64 bytes(const AstroGriddingConfig *config, const AstroGrid *grid)
{
  const AstroTapsConfig taps = astro_wprojection_taps(config, grid);
  const guint channels = MAX(config->channels, 1);
  const guint64 tables = astro_taps_bytes(&taps);
  return tables + channels * astro_wprojection_bytes(
                                 waiting_memory(tables, grid_bytes(config, grid), channels),
                                 g_strv_length(grid->products), config->is_double);
}

static void destroy(AstroGridding *gridder)
{
  for (guint i = 0; i < gridder->channels; i++)
    if (gridder->channel[i])
      astro_wprojection_free(gridder->channel[i]);
  g_clear_pointer(&gridder->taps, astro_taps_free);
  g_free(gridder->channel);
  g_free(gridder);
}

static AstroGridding *create(const AstroGriddingConfig *config, const AstroGrid *grid,
                             const AstroPlace *place, const char **variant, GError **error)
{
  AstroGridding *gridder = g_new0(AstroGridding, 1);
  AstroTapsConfig taps = astro_wprojection_taps(config, grid);
  guint products = g_strv_length(grid->products);

  gridder->channels = MAX(config->channels, 1);
  gridder->channel = g_new0(AstroWProjection *, gridder->channels);
  gridder->grid_bytes = grid_bytes(config, grid);
  gridder->taps = astro_taps_build(&taps, error);
  for (guint i = 0; i < gridder->channels && gridder->taps; i++) {
    AstroWProjectionConfig own = { gridder->taps,
                                   grid->size,
                                   grid->cell,
                                   products,
                                   waiting_memory(gridder->taps->bytes, gridder->grid_bytes,
                                                  gridder->channels),
                                   config->threads };
    gridder->channel[i] = astro_wprojection_new(&own, error);
    if (!gridder->channel[i])
      break;
  }
  if (!gridder->channel[gridder->channels - 1]) {
    destroy(gridder);
    return NULL;
  }
  *variant = astro_wprojection_variant(gridder->channel[0]);
  return gridder;
}

static gboolean add(AstroGridding *gridder, const AstroGridRows *rows, gpointer grid,
                    GError **error)
{
  const guint n = rows->channels / gridder->channels;
  for (guint i = 0; i < gridder->channels; i++)
    astro_wprojection_add(gridder->channel[i], rows, i * n, n,
                          (guint8 *)grid + i * gridder->grid_bytes);
  return TRUE;
}

static gboolean finish(AstroGridding *gridder, gpointer grid, GError **error)
{
  for (guint i = 0; i < gridder->channels; i++)
    astro_wprojection_flush(gridder->channel[i], (guint8 *)grid + i * gridder->grid_bytes);
  return TRUE;
}

const AstroGridAlgorithm astro_wprojection = {
  .name = "wprojection",
  .choose = choose,
  .bytes = bytes,
  .create = create,
  .add = add,
  .finish = finish,
  .destroy = destroy,
};
