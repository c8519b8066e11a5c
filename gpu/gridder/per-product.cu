/* Each product is gridded by itself, on a device grid that the next one uses again, and copied to
 * the host. An algorithm with planes begins once for each product and keeps what it made of the
 * rows, so that the products of a plane come one after the other; other algorithms begin anew. */
#include "gpu/gridder/per-product.h"

#include <float.h>
#include <string.h>

enum { THREADS = 256, MOST_BLOCKS = 65536 };

struct _AstroGridding {
  const AstroGridAlgorithm *algorithm; /* of the device */
  AstroPlace place;
  guint products, passes, n_gridders;
  gboolean has_planes, by_channel;
  gpointer part;   /* the grid of a pass, on the device */
  guint channels;  /* that it has */
  gsize plane;     /* bytes of one of them */
  gsize map_bytes; /* of touched tiles */
  AstroGridding **gridders;
};

static cudaStream_t stream_of(const AstroGridding *self)
{
  return astro_cuda_stream(self->place.queue);
}

AstroGridderConfig astro_cuda_one_product(const AstroGridderConfig *config, char *products[2],
                                          guint *passes)
{
  AstroGridderConfig one = *config;
  *passes = g_strv_length(config->grid.products);
  products[0] = config->grid.products[0];
  products[1] = NULL;
  one.grid.products = products;
  one.cumulative = FALSE; /* rows are held, not a grid */
  if (!config->algorithm->has_planes) {
    *passes *= config->gridder.channels;
    one.gridder.channels = 1;
  }
  return one;
}

static guint gridders_of(const AstroGridderConfig *config, guint passes)
{
  return config->algorithm->has_planes ? passes : 1;
}

guint64 astro_cuda_per_product_bytes(const AstroGridderConfig *config)
{
  char *products[2];
  guint passes;
  const AstroGridderConfig one = astro_cuda_one_product(config, products, &passes);
  const AstroGridAlgorithm *device =
      astro_grid_algorithm_find(astro_cuda_algorithms, config->algorithm->name);
  return gridders_of(config, passes) * device->bytes(&one.gridder, &one.grid);
}

/* ---- the rows of a pass ---- */

/* Planes are chosen from the visibilities that are not zero, and must be the same for all products:
 * where any product of a visibility is not zero, the others become the least number above zero. */
template <typename Value>
__device__ static Value never_zero(const Value *all, guint products, Value value)
{
  bool is_used = false;
  for (guint p = 0; p < products; p++)
    is_used |= all[p].x != 0 || all[p].y != 0;
  if (is_used && value.x == 0 && value.y == 0)
    value.x = sizeof value.x == sizeof(float) ? FLT_TRUE_MIN : DBL_TRUE_MIN;
  return value;
}

/* Takes value i of n from i * every, where every is the number of products of a visibility. */
template <typename Value>
static __global__ void __launch_bounds__(THREADS)
    take_values(const Value *from, Value *to, guint64 n, guint every, guint pass, bool has_planes)
{
  for (guint64 i = (guint64)blockIdx.x * THREADS + threadIdx.x; i < n;
       i += (guint64)gridDim.x * THREADS) {
    const Value *all = from + i * every;
    to[i] = has_planes ? never_zero(all, every, all[pass]) : all[pass];
  }
}

template <typename Value>
static void take_all(const AstroGridding *self, const AstroGridRows *rows, guint pass,
                     gpointer values, guint64 n)
{
  const guint every = self->products * (self->by_channel ? rows->channels : 1);
  const guint blocks = (guint)CLAMP((n + THREADS - 1) / THREADS, 1, MOST_BLOCKS);
  take_values<<<blocks, THREADS, 0, stream_of(self)>>>((const Value *)rows->values, (Value *)values,
                                                       n, every, pass, (bool)self->has_planes);
}

/* values: room for the values of one pass. */
static gboolean take(const AstroGridding *self, const AstroGridRows *rows, guint pass,
                     gpointer values, AstroGridRows *one, GError **error)
{
  *one = *rows;
  one->products = 1;
  one->values = values;
  if (self->by_channel) {
    one->channels = 1;
    one->wavenumbers += pass / self->products;
  }
  (rows->is_double ? take_all<double2> : take_all<float2>)(self, rows, pass, values,
                                                           one->rows * one->channels);
  return CUDA_TRY(cudaGetLastError());
}

static gpointer room_for(const AstroGridding *self, const AstroGridRows *rows, GError **error)
{
  const guint64 n = rows->rows * (self->by_channel ? 1 : rows->channels);
  gpointer values = NULL;
  self->place.device->funcs->alloc(self->place.device, MAX(n, 1) * (rows->is_double ? 16 : 8),
                                   &values, error);
  return values;
}

/* ---- grids ---- */

/* The grid of a pass may have several channels; on the host all products lie between them. */
static gboolean bring_down(const AstroGridding *self, gpointer grid, guint pass, GError **error)
{
  for (gsize channel = 0; channel < self->channels; channel++)
    if (!CUDA_TRY(cudaMemcpyAsync((guint8 *)grid + (pass + channel * self->products) * self->plane,
                                  (guint8 *)self->part + channel * self->plane, self->plane,
                                  cudaMemcpyDeviceToHost, stream_of(self))))
      return FALSE;
  __atomic_fetch_add(&self->place.device->bytes_down, self->channels * self->plane,
                     __ATOMIC_RELAXED);
  return TRUE;
}

static gboolean begin(AstroGridding *self, const AstroGridRows *rows, guint *planes, GError **error)
{
  gpointer values = room_for(self, rows, error);
  gboolean ok = values != NULL;
  for (guint pass = 0; ok && pass < self->passes; pass++) {
    AstroGridRows one;
    ok = take(self, rows, pass, values, &one, error) &&
         self->algorithm->begin(self->gridders[pass], &one, planes, error);
  }
  astro_cuda_free(&self->place, &values);
  return ok;
}

/* Grids are copied whole, so that all their tiles count as touched. */
static gboolean plane(AstroGridding *self, gpointer grid, guint8 *touched, double *w,
                      double *w_step, GError **error)
{
  if (touched)
    memset(touched, 1, self->map_bytes);
  for (guint pass = 0; pass < self->passes; pass++)
    if (!self->algorithm->plane(self->gridders[pass], self->part, NULL, w, w_step, error) ||
        !bring_down(self, grid, pass, error))
      return FALSE;
  return CUDA_TRY(cudaStreamSynchronize(stream_of(self)));
}

/* Overwrites the grid, and leaves nothing for finish. */
static gboolean fill(AstroGridding *self, const AstroGridRows *rows, gpointer grid, GError **error)
{
  const AstroGridAlgorithm *device = self->algorithm;
  gpointer values = room_for(self, rows, error);
  gboolean ok = values != NULL;
  for (guint pass = 0; ok && pass < self->passes; pass++) {
    AstroGridRows one;
    ok = CUDA_TRY(cudaMemsetAsync(self->part, 0, self->channels * self->plane, stream_of(self))) &&
         take(self, rows, pass, values, &one, error) &&
         device->add(self->gridders[0], &one, self->part, error) &&
         (!device->finish || device->finish(self->gridders[0], self->part, error)) &&
         bring_down(self, grid, pass, error);
  }
  ok = ok && CUDA_TRY(cudaStreamSynchronize(stream_of(self)));
  astro_cuda_free(&self->place, &values);
  return ok;
}

/* ---- instances ---- */

static void destroy(AstroGridding *self)
{
  for (guint i = 0; i < self->n_gridders; i++)
    if (self->gridders[i])
      self->algorithm->destroy(self->gridders[i]);
  astro_cuda_free(&self->place, &self->part);
  g_free(self->gridders);
  g_free(self);
}

static AstroGridding *create(const AstroGridAlgorithm *algorithm, const AstroGriddingConfig *config,
                             const AstroGrid *grid, const AstroPlace *place, const char **variant,
                             GError **error)
{
  const AstroGridderConfig all = { algorithm, *config, *grid };
  AstroGridding *self = g_new0(AstroGridding, 1);
  char *products[2];
  const AstroGridderConfig one = astro_cuda_one_product(&all, products, &self->passes);

  self->algorithm = algorithm;
  self->place = *place;
  self->products = g_strv_length(grid->products);
  self->has_planes = algorithm->has_planes;
  self->by_channel = config->channels > one.gridder.channels;
  self->channels = one.gridder.channels;
  self->plane = astro_gridder_grid_bytes(&one) / self->channels;
  self->map_bytes =
      (gsize)self->channels * astro_grid_tiles(grid->size) * astro_grid_tiles(grid->size);
  self->n_gridders = gridders_of(&all, self->passes);
  self->gridders = g_new0(AstroGridding *, self->n_gridders);
  gboolean ok =
      place->device->funcs->alloc(place->device, self->channels * self->plane, &self->part, error);
  for (guint i = 0; ok && i < self->n_gridders; i++) {
    self->gridders[i] = self->algorithm->create(&one.gridder, &one.grid, place, variant, error);
    ok = self->gridders[i] != NULL;
  }
  if (ok)
    return self;
  destroy(self);
  return NULL;
}

#define PER_PRODUCT(name)                                                                          \
  static AstroGridding *create_##name(const AstroGriddingConfig *config, const AstroGrid *grid,    \
                                      const AstroPlace *place, const char **variant,               \
                                      GError **error)                                              \
  {                                                                                                \
    return create(&astro_cuda_##name, config, grid, place, variant, error);                        \
  }

PER_PRODUCT(direct)
PER_PRODUCT(wprojection)
PER_PRODUCT(wstacking)

static const AstroGridAlgorithm direct = {
  .name = "direct", .create = create_direct, .add = fill, .destroy = destroy
};
static const AstroGridAlgorithm wprojection = {
  .name = "wprojection", .create = create_wprojection, .add = fill, .destroy = destroy
};
static const AstroGridAlgorithm wstacking = {
  .name = "wstacking",
  .has_planes = TRUE,
  .create = create_wstacking,
  .begin = begin,
  .plane = plane,
  .destroy = destroy,
};

const AstroGridAlgorithm *const astro_cuda_per_product[] = { &direct, &wprojection, &wstacking,
                                                             NULL };
