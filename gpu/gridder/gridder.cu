/* The stage "gridder": visibilities made ready, held and gridded on the device. What follows what is core/gridder's
 * (collect.c). */
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

static AstroGridding *create_gridder(const AstroCollectConfig *config, const AstroPlace *place, GError **error)
{
  const char *variant;
  return astro_cuda_gridder_of(config->algorithm)->create(&config->gridder, &config->grid, place, &variant, error);
}

static gboolean begin(const AstroGridAlgorithm *algorithm, AstroGridding *gridder, const AstroGridRows *rows,
                      guint *planes, GError **error)
{
  return astro_cuda_gridder_of(algorithm)->begin(gridder, rows, planes, error);
}

static gboolean plane(const AstroGridAlgorithm *algorithm, AstroGridding *gridder, gpointer grid, guint8 *touched,
                      double *w, double *w_step, GError **error)
{
  return astro_cuda_gridder_of(algorithm)->plane(gridder, grid, touched, w, w_step, error);
}

static gboolean add(const AstroGridAlgorithm *algorithm, AstroGridding *gridder, const AstroGridRows *rows,
                    gpointer grid, GError **error)
{
  return astro_cuda_gridder_of(algorithm)->add(gridder, rows, grid, error);
}

static gboolean finish(const AstroGridAlgorithm *algorithm, AstroGridding *gridder, gpointer grid, GError **error)
{
  const AstroCudaGridder *device = astro_cuda_gridder_of(algorithm);
  return !device->finish || device->finish(gridder, grid, error);
}

static void destroy_gridder(const AstroGridAlgorithm *algorithm, AstroGridding *gridder)
{
  astro_cuda_gridder_of(algorithm)->destroy(gridder);
}

static gboolean zero(const AstroPlace *place, gpointer grid, gsize bytes, GError **error)
{
  return CUDA_TRY(cudaMemsetAsync(grid, 0, bytes, astro_cuda_stream(place->queue)));
}

static gboolean copy(const AstroPlace *place, gpointer to, gconstpointer from, gsize bytes, GError **error)
{
  return CUDA_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, astro_cuda_stream(place->queue)));
}

static const AstroCollectFuncs funcs = {
  .prepare = &astro_cuda_prepare_funcs,
  .together = TOGETHER,
  .enter = enter,
  .create = create_gridder,
  .begin = begin,
  .plane = plane,
  .add = add,
  .finish = finish,
  .destroy = destroy_gridder,
  .zero = zero,
  .copy = copy,
};

static const AstroCollectFuncs turns_funcs = {
  .prepare = &astro_cuda_prepare_funcs,
  .host_grids = TRUE,
  .enter = enter,
  .create = astro_cuda_turns_create,
  .begin = astro_cuda_turns_begin,
  .plane = astro_cuda_turns_plane,
  .add = astro_cuda_turns_fill,
  .destroy = astro_cuda_turns_destroy,
};

/* ---- the backend ---- */

static gboolean shape(gconstpointer configuration, GError **error)
{
  const AstroCollectConfig *config = (const AstroCollectConfig *)configuration;
  if (astro_cuda_gridder_of(config->algorithm))
    return TRUE;
  return astro_backend_refuse(error, "%s has no kernels for CUDA", config->algorithm->name);
}

/* Of whole grids on the device: planes follow each other, those that elements keep in work. */
static guint64 tables_of(const AstroCollectConfig *config, guint turns)
{
  const guint64 others = turns > 1 && config->algorithm->has_planes ? ASTRO_POOL_DEPTH : 0;
  return astro_cuda_gridder_of(config->algorithm)->bytes(&config->gridder, &config->grid) +
         others * astro_collect_grid_bytes(config);
}

/* Those that there is room for: whole grids, or their products one after the other where that needs less. */
static const AstroCollectFuncs *choose_funcs(const AstroCollectConfig *config, const AstroPlace *place, GError **error)
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
    return &funcs;
  if (helps && astro_collect_fits(&one, of_turns, memory.free, place->device->name, error))
    return &turns_funcs;
  if (helps)
    g_prefix_error(error, "even one product at a time: ");
  return NULL;
}

static gpointer create(gconstpointer configuration, const AstroPlace *place, const char **variant, GError **error)
{
  const AstroCollectConfig *config = (const AstroCollectConfig *)configuration;
  const AstroCollectFuncs *chosen = shape(config, error) ? choose_funcs(config, place, error) : NULL;
  *variant = config->algorithm->name;
  return chosen ? astro_collect_new(config, place, chosen) : NULL;
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out, guint n_out,
                       gconstpointer arguments, AstroResult *result, GError **error)
{
  return astro_collect_submit((AstroCollect *)instance, in, n_in, out, n_out, (const AstroCollectArguments *)arguments,
                              result, error);
}

static gboolean drain(gpointer instance, AstroResult *result, GError **error)
{
  return astro_cuda_drain(astro_collect_place((AstroCollect *)instance), error);
}

static gboolean host_out(gpointer instance)
{
  return astro_collect_host_grids((AstroCollect *)instance);
}

static void destroy(gpointer instance)
{
  astro_collect_free((AstroCollect *)instance);
}

const AstroBackend astro_cuda_gridder = {
  .stage = "gridder",
  .kind = ASTRO_BACKEND_CUDA,
  .config_bytes = sizeof(AstroCollectConfig),
  .shape = shape,
  .create = create,
  .submit = submit,
  .drain = drain,
  .destroy = destroy,
  .host_out = host_out,
};
