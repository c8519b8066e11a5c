/* Gridding algorithms of the device as a backend of their own, on rows that are there: how tests
 * and benchmarks reach them. On the CPU they are called as they are (core/gridder/gridder.h). */
#pragma once

#include "core/backend/device.h"
#include "core/backend/module.h"
#include "core/gridder/backend.h"

typedef struct {
  const AstroGridAlgorithm *algorithm; /* the host's */
  AstroGriddingConfig gridder;
  AstroGrid grid; /* as algorithm->choose left it; products are the caller's */
} TestGriddingConfig;

/* submit: blocks in are uvw, wavenumbers and values of AstroGridRows, the block out is the grid.
 *
 * With planes: first begins with the rows and fills the first plane; submits after it have no
 * blocks in and fill the next ones, whatever the block held; a second block out is filled with the
 * map of the plane's touched tiles. The result says how many planes there are, and of each its w.
 * Without planes: every submit adds rows and finishes; first begins with zeros. */
typedef struct {
  guint64 rows;
  guint channels;
  gboolean first;
} TestGriddingArguments;

typedef struct {
  const AstroGridderParts *parts;
  const AstroGridAlgorithm *algorithm; /* there */
  AstroGridding *gridder;
  AstroPlace place;
  guint products;
  gboolean is_double;
} TestGriddingStage;

/* Whose gridders. */
static AstroBackendKind test_gridding_kind = ASTRO_BACKEND_CUDA;

/* The parts of the device's gridder; NULL: there is none. */
static inline const AstroGridderParts *test_gridding_parts(void)
{
  const AstroBackend *backend = astro_module_backend_of(test_gridding_kind, "gridder");
  return backend ? backend->parts : NULL;
}

static inline gboolean test_gridding_shape(gconstpointer given, GError **error)
{
  const TestGriddingConfig *config = given;
  if (astro_grid_algorithm_find(test_gridding_parts()->algorithms, config->algorithm->name))
    return TRUE;
  return astro_backend_refuse(error, "%s has no kernels for this device", config->algorithm->name);
}

static inline void test_gridding_destroy(gpointer instance)
{
  TestGriddingStage *self = instance;
  if (self->gridder && self->parts->enter(&self->place, NULL))
    self->algorithm->destroy(self->gridder);
  g_free(self);
}

static inline gpointer test_gridding_create(gconstpointer given, const AstroPlace *place,
                                            const char **variant, GError **error)
{
  const TestGriddingConfig *config = given;
  const AstroGridderParts *parts = test_gridding_parts();
  if (!test_gridding_shape(config, error) || !parts->enter(place, error))
    return NULL;
  TestGriddingStage *self = g_new0(TestGriddingStage, 1);
  self->parts = parts;
  self->algorithm = astro_grid_algorithm_find(parts->algorithms, config->algorithm->name);
  self->place = *place;
  self->products = g_strv_length(config->grid.products);
  self->is_double = config->gridder.is_double;
  self->gridder = self->algorithm->create(&config->gridder, &config->grid, place, variant, error);
  if (self->gridder)
    return self;
  test_gridding_destroy(self);
  return NULL;
}

static inline gboolean test_gridding_add(TestGriddingStage *self, const AstroGridRows *rows,
                                         const AstroBlock *out, gboolean first, AstroResult *result,
                                         GError **error)
{
  const AstroGridAlgorithm *algorithm = self->algorithm;
  result->planes = 1;
  return (!first || self->parts->zero(&self->place, out->data, out->bytes, error)) &&
         algorithm->add(self->gridder, rows, out->data, error) &&
         (!algorithm->finish || algorithm->finish(self->gridder, out->data, error)) &&
         (!result->spread || !algorithm->count ||
          algorithm->count(self->gridder, result->spread, error));
}

static inline gboolean test_gridding_run(gpointer instance, const AstroBlock *in, guint n_in,
                                         const AstroBlock *out, guint n_out, gconstpointer given,
                                         AstroResult *result, GError **error)
{
  TestGriddingStage *self = instance;
  const TestGriddingArguments *arguments = given;
  AstroGridRows rows = { 0 };
  if (!self->parts->enter(&self->place, error))
    return FALSE;
  if (n_in == 3)
    rows = (AstroGridRows){ .rows = arguments->rows,
                            .channels = arguments->channels,
                            .products = self->products,
                            .is_double = self->is_double,
                            .uvw = in[0].data,
                            .wavenumbers = in[1].data,
                            .values = in[2].data };
  if (!self->algorithm->has_planes)
    return test_gridding_add(self, &rows, out, arguments->first, result, error);
  return (!arguments->first ||
          self->algorithm->begin(self->gridder, &rows, &result->planes, error)) &&
         self->algorithm->plane(self->gridder, out->data, n_out > 1 ? out[1].data : NULL,
                                &result->w, &result->w_step, error);
}

static inline gboolean test_gridding_drain(gpointer instance, AstroResult *result, GError **error)
{
  TestGriddingStage *self = instance;
  AstroDevice *device = self->place.device;
  AstroEvent *event = device->funcs->event_record(device, self->place.queue, error);
  const gboolean done = event && device->funcs->event_wait(device, event, error);
  if (event)
    device->funcs->event_free(device, event);
  return done;
}

/* NULL: no device has gridders. */
static inline const AstroBackend *test_gridding_backend(void)
{
  static const AstroBackend backend = {
    .stage = "gridding",
    .kind = ASTRO_BACKEND_CUDA,
    .config_bytes = sizeof(TestGriddingConfig),
    .shape = test_gridding_shape,
    .create = test_gridding_create,
    .submit = test_gridding_run,
    .drain = test_gridding_drain,
    .destroy = test_gridding_destroy,
  };
  return test_gridding_parts() ? &backend : NULL;
}
