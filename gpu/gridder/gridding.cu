/* The stage "gridding": an algorithm on rows that are on the device. */
#include "gpu/gridder/gridder.h"

extern "C" {
#include "core/gridder/collect.h"
#include "core/gridder/gridding.h"
}

static const AstroGridAlgorithm *algorithm_of(const AstroGriddingConfig *config)
{
  return astro_grid_algorithm_find(astro_cuda_algorithms, config->algorithm->name);
}

typedef struct {
  const AstroGridAlgorithm *algorithm;
  AstroGridding *gridder;
  AstroPlace place;
  guint products;
  gboolean is_double;
} Gridding;

static gboolean shape(gconstpointer configuration, GError **error)
{
  const AstroGriddingConfig *config = (const AstroGriddingConfig *)configuration;
  if (algorithm_of(config))
    return TRUE;
  return astro_backend_refuse(error, "%s has no kernels for CUDA", config->algorithm->name);
}

static void destroy(gpointer instance)
{
  Gridding *self = (Gridding *)instance;
  if (self->gridder && astro_cuda_enter(self->place.device, NULL))
    self->algorithm->destroy(self->gridder);
  g_free(self);
}

static gpointer create(gconstpointer configuration, const AstroPlace *place, const char **variant, GError **error)
{
  const AstroGriddingConfig *config = (const AstroGriddingConfig *)configuration;
  if (!shape(config, error) || !astro_cuda_enter(place->device, error))
    return NULL;
  Gridding *self = g_new0(Gridding, 1);
  self->algorithm = algorithm_of(config);
  self->place = *place;
  self->products = g_strv_length(config->grid.products);
  self->is_double = config->gridder.is_double;
  self->gridder = self->algorithm->create(&config->gridder, &config->grid, place, variant, error);
  if (self->gridder)
    return self;
  destroy(self);
  return NULL;
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out, guint n_out,
                       gconstpointer data, AstroResult *result, GError **error)
{
  Gridding *self = (Gridding *)instance;
  const AstroGriddingArguments *arguments = (const AstroGriddingArguments *)data;
  const AstroGridAlgorithm *algorithm = self->algorithm;
  AstroGridRows rows = {};
  AstroResult unasked = {};

  if (!result)
    result = &unasked;
  if (!astro_cuda_enter(self->place.device, error))
    return FALSE;
  if (n_in == 3) {
    rows.rows = arguments->rows;
    rows.channels = arguments->channels;
    rows.products = self->products;
    rows.is_double = self->is_double;
    rows.uvw = (const double *)in[0].data;
    rows.wavenumbers = (const double *)in[1].data;
    rows.values = in[2].data;
  }
  if (arguments->first && !algorithm->begin &&
      !CUDA_TRY(cudaMemsetAsync(out->data, 0, out->bytes, astro_cuda_stream(self->place.queue))))
    return FALSE;
  if (!algorithm->begin) {
    result->planes = 1;
    return algorithm->add(self->gridder, &rows, out->data, error) &&
           (!algorithm->finish || algorithm->finish(self->gridder, out->data, error)) &&
           (!result->spread || !algorithm->count || algorithm->count(self->gridder, result->spread, error));
  }
  if (arguments->first && !algorithm->begin(self->gridder, &rows, &result->planes, error))
    return FALSE;
  return algorithm->plane(self->gridder, out->data, n_out > 1 ? (guint8 *)out[1].data : NULL, &result->w,
                          &result->w_step, error);
}

static gboolean drain(gpointer instance, AstroResult *result, GError **error)
{
  return astro_cuda_drain(&((Gridding *)instance)->place, error);
}

const AstroBackend astro_cuda_gridding = {
  .stage = "gridding",
  .kind = ASTRO_BACKEND_CUDA,
  .config_bytes = sizeof(AstroGriddingConfig),
  .shape = shape,
  .create = create,
  .submit = submit,
  .drain = drain,
  .destroy = destroy,
};
