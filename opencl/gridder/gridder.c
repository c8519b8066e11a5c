/* The backend "opencl" of the stage "gridder": visibilities are prepared, held and gridded on the
 * device. core/gridder/backend.h says what its calls do. */
#include "config.h"
#include "opencl/gridder/gridder.h"

#include "core/gridder/backend.h"
#include "opencl/gridder/per-product.h"
#include "opencl/gridder/prepare.h"
#include "opencl/runtime/sum.h"

#define TOGETHER (1u << 24) /* gridding a few rows leaves most of a device idle */
#define LEAST_ITEMS 256     /* of a group, for a tile of cells */

static gboolean enter(const AstroPlace *place, GError **error)
{
  return TRUE;
}

static gboolean zero(const AstroPlace *place, gpointer grid, gsize bytes, GError **error)
{
  return astro_opencl_fill(place, grid, 0, bytes, error);
}

static const AstroGridAlgorithm *const algorithms[] = {
  &astro_opencl_direct,
  &astro_opencl_wprojection,
  &astro_opencl_wstacking,
  NULL,
};

/* In the same order. */
static gboolean (*const algorithms_compile[])(const AstroGriddingConfig *config,
                                              const AstroPlace *place, GError **error) = {
  astro_opencl_direct_compiles,
  astro_opencl_wprojection_compiles,
  astro_opencl_wstacking_compiles,
};
G_STATIC_ASSERT(G_N_ELEMENTS(algorithms_compile) + 1 == G_N_ELEMENTS(algorithms));

static const AstroGridderParts whole = {
  .prepare = &astro_opencl_prepare_funcs,
  .algorithms = algorithms,
  .together = TOGETHER,
  .enter = enter,
  .zero = zero,
  .copy = astro_opencl_copy,
  .sum = astro_opencl_sum,
};

static const AstroPerProduct one_by_one = {
  .algorithms = algorithms,
  .take = astro_opencl_take_product,
  .zero = zero,
  .drain = astro_opencl_drain,
};

static const AstroGridderParts per_product = {
  .prepare = &astro_opencl_prepare_funcs,
  .algorithms = astro_per_product_algorithms,
  .per_product = &one_by_one,
  .enter = enter,
};

static const AstroGridAlgorithm *algorithm_of(const AstroGridderConfig *config)
{
  return astro_grid_algorithm_find(algorithms, config->algorithm->name);
}

static gboolean shape(gconstpointer configuration, GError **error)
{
  const AstroGridderConfig *config = configuration;
  if (algorithm_of(config))
    return TRUE;
  return astro_backend_refuse(error, "%s has no kernels for OpenCL", config->algorithm->name);
}

/* Positions of visibilities take doubles, whatever their values are. */
static gboolean is_able(const AstroPlace *place, GError **error)
{
  const AstroOpenclDevice *device = astro_opencl_device(place->device);
  if (!device->has_double)
    return astro_backend_refuse(error,
                                "gridder: places of visibilities are computed in double "
                                "precision, which %s does not have",
                                place->device->name);
  return device->most_items >= LEAST_ITEMS ||
         astro_backend_refuse(error,
                              "gridder: a tile of a grid is summed by groups of %d work items, "
                              "%s has %" G_GSIZE_FORMAT " at most",
                              LEAST_ITEMS, place->device->name, device->most_items);
}

/* A compiler that fails does so here, not when the observation comes. */
static gboolean compiles(const AstroGridderConfig *config, const AstroPlace *place,
                         const AstroGridderParts *parts, GError **error)
{
  guint i = 0;
  while (algorithms[i] != algorithm_of(config))
    i++;
  return astro_opencl_prepare_compiles(&config->prepare, place, error) &&
         (config->weighting == ASTRO_WEIGHTING_NATURAL ||
          astro_opencl_weights_compile(config->prepare.is_double, place, error)) &&
         (!parts->per_product ||
          astro_opencl_take_compiles(config->gridder.is_double, place, error)) &&
         algorithms_compile[i](&config->gridder, place, error);
}

static gpointer create(gconstpointer configuration, const AstroPlace *place, const char **variant,
                       GError **error)
{
  const AstroGridderConfig *config = configuration;
  if (!shape(config, error) || !is_able(place, error))
    return NULL;
  const AstroGridderParts *parts = astro_per_product_choose(
      config, place, astro_opencl_device(place->device)->largest, &whole, &per_product, error);
  if (!parts || !compiles(config, place, parts, error))
    return NULL;
  *variant = config->algorithm->name;
  return astro_gridder_backend_new(config, place, parts);
}

static gboolean drain(gpointer instance, AstroResult *result, GError **error)
{
  return astro_opencl_drain(astro_gridder_backend_place(instance), error);
}

const AstroBackend astro_opencl_gridder = {
  .stage = "gridder",
  .kind = ASTRO_BACKEND_OPENCL,
  .config_bytes = sizeof(AstroGridderConfig),
  .shape = shape,
  .create = create,
  .submit = astro_gridder_backend_submit,
  .drain = drain,
  .destroy = astro_gridder_backend_free,
  .host_out = astro_gridder_backend_host_out,
  .parts = &whole,
};
