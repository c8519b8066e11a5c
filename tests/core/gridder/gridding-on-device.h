/* Gridding algorithms of the device on host rows, grids brought down; what tests of the algorithms
 * share. */
#pragma once

#include "tests/core/gridder/gridding-stage.h"
#include "tests/core/on-device.h"

typedef struct {
  const AstroBackend *backend;
  gpointer instance;
  gsize bytes;        /* of a grid */
  AstroBlock touched; /* where maps of planes go; NULL: nowhere */
  const char *variant;
  TestGriddingArguments arguments;
  AstroResult result; /* of the last submit */
} TestGridding;

static inline const AstroBackend *test_gridding_find(void)
{
  return test_gridding_kind == ASTRO_BACKEND_OPENCL ? test_backend_on_opencl(test_gridding_backend)
                                                    : test_backend_on_device(test_gridding_backend);
}

/* Those of CUDA or, if that is the name, of "opencl" from here on. FALSE: no device, so that the
 * test is skipped. */
static inline gboolean test_gridding_there(const char *name)
{
  test_gridding_kind = g_strcmp0(name, "opencl") == 0 ? ASTRO_BACKEND_OPENCL : ASTRO_BACKEND_CUDA;
  if (test_gridding_find())
    return TRUE;
  g_test_skip("no such device");
  return FALSE;
}

/* grid is what algorithm->choose made of it. Errors of the device's algorithm are the caller's. */
static inline gboolean test_gridding_new(TestGridding *self, const AstroGridAlgorithm *algorithm,
                                         const AstroGriddingConfig *config, const AstroGrid *grid,
                                         GError **error)
{
  const TestGriddingConfig whole = { algorithm, *config, *grid };
  *self = (TestGridding){ .backend = test_gridding_find() };
  self->bytes = (gsize)grid->size * grid->size * g_strv_length(grid->products) * config->channels *
                (config->is_double ? 16 : 8);
  if (!self->backend->shape(&whole, error))
    return FALSE;
  self->instance = self->backend->create(&whole, NULL, &self->variant, error);
  return self->instance != NULL;
}

/* Grids rows to the first plane, or adds them to the grid: grid is a host block, which is sent up
 * as it is. rows NULL: fills the next plane. */
static inline gboolean test_gridding_submit(TestGridding *self, const AstroGridRows *rows,
                                            gboolean first, gpointer grid, GError **error)
{
  AstroBlock in[3], out[] = { { grid, self->bytes }, self->touched };
  self->arguments.first = first;
  if (rows) {
    const gsize value = rows->is_double ? 16 : 8;
    self->arguments.rows = rows->rows;
    self->arguments.channels = rows->channels;
    in[0] = (AstroBlock){ (gpointer)rows->uvw, rows->rows * 3 * sizeof(double) };
    in[1] = (AstroBlock){ (gpointer)rows->wavenumbers, rows->channels * sizeof(double) };
    in[2] = (AstroBlock){ (gpointer)rows->values,
                          rows->rows * rows->channels * rows->products * value };
  }
  return self->backend->submit(self->instance, in, rows ? 3 : 0, out, self->touched.data ? 2 : 1,
                               &self->arguments, &self->result, error);
}

static inline void test_gridding_free(TestGridding *self)
{
  self->backend->destroy(self->instance);
}
