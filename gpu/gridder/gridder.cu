/* The backend "cuda" of the stage "gridder": visibilities are prepared, held and gridded on the
 * device. core/gridder/backend.c says what its calls do. */
#include "gpu/gridder/prepare.h"
#include "gpu/gridder/per-product.h"
#include "gpu/runtime/sum.h"

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

static const AstroGridAlgorithm *const algorithms[] = {
  &astro_cuda_direct,
  &astro_cuda_wprojection,
  &astro_cuda_wstacking,
  NULL,
};

static const AstroGridderParts whole = {
  .prepare = &astro_cuda_prepare_funcs,
  .algorithms = algorithms,
  .together = TOGETHER,
  .enter = enter,
  .zero = zero,
  .copy = copy,
  .sum = astro_cuda_sum,
};

static const AstroPerProduct one_by_one = {
  .algorithms = algorithms,
  .take = astro_cuda_take_product,
  .zero = zero,
  .drain = astro_cuda_drain,
};

static const AstroGridderParts per_product = {
  .prepare = &astro_cuda_prepare_funcs,
  .algorithms = astro_per_product_algorithms,
  .per_product = &one_by_one,
  .enter = enter,
};

static const AstroGridAlgorithm *algorithm_of(const AstroGridderConfig *config)
{
  return astro_grid_algorithm_find(algorithms, config->algorithm->name);
}

/* ---- the backend ---- */

static gboolean shape(gconstpointer configuration, GError **error)
{
  const AstroGridderConfig *config = (const AstroGridderConfig *)configuration;
  if (algorithm_of(config))
    return TRUE;
  return astro_backend_refuse(error, "%s has no kernels for CUDA", config->algorithm->name);
}

static gpointer create(gconstpointer configuration, const AstroPlace *place, const char **variant,
                       GError **error)
{
  const AstroGridderConfig *config = (const AstroGridderConfig *)configuration;
  const AstroGridderParts *chosen =
      shape(config, error)
          ? astro_per_product_choose(config, place, G_MAXUINT64, &whole, &per_product, error)
          : NULL;
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
