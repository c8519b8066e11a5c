/* The stage "gridder": visibilities made ready, held and gridded on the device. What follows what
 * is core/gridder's (collect.c). */
#include "gpu/gridder/prepare.h"
#include "gpu/gridder/by-product.h"

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

static const AstroGridPlace whole = {
  .prepare = &astro_cuda_prepare_funcs,
  .algorithms = astro_cuda_algorithms,
  .together = TOGETHER,
  .enter = enter,
  .zero = zero,
  .copy = copy,
};

static const AstroGridPlace in_turns = {
  .prepare = &astro_cuda_prepare_funcs,
  .algorithms = astro_cuda_turns,
  .host_grids = TRUE,
  .enter = enter,
};

static const AstroGridAlgorithm *algorithm_of(const AstroCollectConfig *config)
{
  return astro_grid_algorithm_find(astro_cuda_algorithms, config->algorithm->name);
}

/* ---- the backend ---- */

static gboolean shape(gconstpointer configuration, GError **error)
{
  const AstroCollectConfig *config = (const AstroCollectConfig *)configuration;
  if (algorithm_of(config))
    return TRUE;
  return astro_backend_refuse(error, "%s has no kernels for CUDA", config->algorithm->name);
}

/* Of whole grids on the device: planes follow each other, those that elements keep in work. */
static guint64 tables_of(const AstroCollectConfig *config, guint turns)
{
  const guint64 others = turns > 1 && config->algorithm->has_planes ? ASTRO_POOL_DEPTH : 0;
  return algorithm_of(config)->bytes(&config->gridder, &config->grid) +
         others * astro_collect_grid_bytes(config);
}

/* Those that there is room for: whole grids, or their products one after the other where that needs
 * less. */
static const AstroGridPlace *choose_place(const AstroCollectConfig *config, const AstroPlace *place,
                                          GError **error)
{
  AstroDeviceMemory memory;
  char *products[2];
  guint turns;
  const AstroCollectConfig one = astro_cuda_turn(config, products, &turns);
  const guint64 tables = tables_of(config, turns), of_turns = astro_cuda_turns_bytes(config);
  const gboolean helps = astro_collect_needs(&one, of_turns) < astro_collect_needs(config, tables);
  if (!place->device->funcs->memory(place->device, &memory, error))
    return NULL;
  if (astro_collect_fits(config, tables, memory.free, place->device->name, helps ? NULL : error))
    return &whole;
  if (helps && astro_collect_fits(&one, of_turns, memory.free, place->device->name, error))
    return &in_turns;
  if (helps)
    g_prefix_error(error, "even one product at a time: ");
  return NULL;
}

static gpointer create(gconstpointer configuration, const AstroPlace *place, const char **variant,
                       GError **error)
{
  const AstroCollectConfig *config = (const AstroCollectConfig *)configuration;
  const AstroGridPlace *chosen = shape(config, error) ? choose_place(config, place, error) : NULL;
  *variant = config->algorithm->name;
  return chosen ? astro_collect_new(config, place, chosen) : NULL;
}

static gboolean drain(gpointer instance, AstroResult *result, GError **error)
{
  return astro_cuda_drain(astro_collect_place((AstroCollect *)instance), error);
}

const AstroBackend astro_cuda_gridder = {
  .stage = "gridder",
  .kind = ASTRO_BACKEND_CUDA,
  .config_bytes = sizeof(AstroCollectConfig),
  .shape = shape,
  .create = create,
  .submit = astro_collect_submit,
  .drain = drain,
  .destroy = astro_collect_free,
  .host_out = astro_collect_host_out,
  .parts = &whole,
};
