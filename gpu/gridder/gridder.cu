/* The backend "cuda" of the stage "gridder": visibilities are prepared, held and gridded on the
 * device. core/gridder/backend.c says what its calls do. */
#include "gpu/gridder/prepare.h"
#include "gpu/gridder/per-product.h"
#include "gpu/runtime/sum.h"

extern "C" {
#include "core/memory/pool.h"
}

#define TOGETHER (1u << 24) /* gridding a few rows leaves most of a device idle */

static gboolean enter(const AstroPlace *place, GError **error)
{
  return astro_cuda_enter(place->device, error);
}

static gboolean zero(const AstroPlace *place, gpointer grid, gsize bytes, GError **error)
{
  return CUDA_TRY(cudaMemsetAsync(grid, 0, bytes, astro_cuda_stream(place->queue)));
}

static gboolean copy(const AstroPlace *place, gpointer to, gconstpointer from, gsize bytes,
                     GError **error)
{
  return CUDA_TRY(
      cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, astro_cuda_stream(place->queue)));
}

const AstroGridAlgorithm *const astro_cuda_algorithms[] = {
  &astro_cuda_direct,
  &astro_cuda_wprojection,
  &astro_cuda_wstacking,
  NULL,
};

static const AstroGridderParts whole = {
  .prepare = &astro_cuda_prepare_funcs,
  .algorithms = astro_cuda_algorithms,
  .together = TOGETHER,
  .enter = enter,
  .zero = zero,
  .copy = copy,
  .sum = astro_cuda_sum,
};

static const AstroGridderParts per_product = {
  .prepare = &astro_cuda_prepare_funcs,
  .algorithms = astro_cuda_per_product,
  .host_grids = TRUE,
  .enter = enter,
};

static const AstroGridAlgorithm *algorithm_of(const AstroGridderConfig *config)
{
  return astro_grid_algorithm_find(astro_cuda_algorithms, config->algorithm->name);
}

/* ---- the backend ---- */

static gboolean shape(gconstpointer configuration, GError **error)
{
  const AstroGridderConfig *config = (const AstroGridderConfig *)configuration;
  if (algorithm_of(config))
    return TRUE;
  return astro_backend_refuse(error, "%s has no kernels for CUDA", config->algorithm->name);
}

/* Beside one grid of all products (passes > 1: there are several): with planes, as many grids more
 * as elements keep in work. */
static guint64 tables_of(const AstroGridderConfig *config, guint passes)
{
  const guint64 others = passes > 1 && config->algorithm->has_planes ? ASTRO_POOL_DEPTH : 0;
  return algorithm_of(config)->bytes(&config->gridder, &config->grid) +
         others * astro_gridder_grid_bytes(config);
}

/* Grids of all products where the device has room for them beside the visibilities, else of one
 * product after the other if that needs less. */
static const AstroGridderParts *choose_parts(const AstroGridderConfig *config,
                                             const AstroPlace *place, GError **error)
{
  AstroDeviceMemory memory;
  char *products[2];
  guint passes;
  const AstroGridderConfig one = astro_cuda_one_product(config, products, &passes);
  const guint64 tables = tables_of(config, passes), of_one = astro_cuda_per_product_bytes(config);
  const gboolean helps = astro_gridder_needs(&one, of_one) < astro_gridder_needs(config, tables);
  if (!place->device->funcs->memory(place->device, &memory, error))
    return NULL;
  if (astro_gridder_fits_device(config, tables, memory.free, place->device->name,
                                helps ? NULL : error))
    return &whole;
  if (helps && astro_gridder_fits_device(&one, of_one, memory.free, place->device->name, error))
    return &per_product;
  if (helps)
    g_prefix_error(error, "even one product at a time: ");
  return NULL;
}

static gpointer create(gconstpointer configuration, const AstroPlace *place, const char **variant,
                       GError **error)
{
  const AstroGridderConfig *config = (const AstroGridderConfig *)configuration;
  const AstroGridderParts *chosen =
      shape(config, error) ? choose_parts(config, place, error) : NULL;
  *variant = config->algorithm->name;
  return chosen ? astro_gridder_backend_new(config, place, chosen) : NULL;
}

static gboolean drain(gpointer instance, AstroResult *result, GError **error)
{
  return astro_cuda_drain(astro_gridder_backend_place((AstroGridderBackend *)instance), error);
}

const AstroBackend astro_cuda_gridder = {
  .stage = "gridder",
  .kind = ASTRO_BACKEND_CUDA,
  .config_bytes = sizeof(AstroGridderConfig),
  .shape = shape,
  .create = create,
  .submit = astro_gridder_backend_submit,
  .drain = drain,
  .destroy = astro_gridder_backend_free,
  .host_out = astro_gridder_backend_host_out,
  .parts = &whole,
};
