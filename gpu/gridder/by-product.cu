/* A grid of many products where the device has room for one: each is gridded by itself, on a grid
 * that the others use after it, and copied down. Algorithms with planes begin once for each product
 * and keep what they made of it, so that a plane's products come one after the other; the others
 * begin anew. */
#include "gpu/gridder/by-product.h"

#include <float.h>
#include <string.h>

enum { THREADS = 256, MOST_BLOCKS = 65536 };

struct _AstroGridding {
  const AstroGridAlgorithm *algorithm; /* of the device */
  AstroPlace place;
  guint products, turns, n_gridders;
  gboolean has_planes, by_channel;
  guint channels;  /* of a turn's grid */
  gsize plane;     /* bytes of a channel of it */
  gsize map_bytes; /* of touched tiles */
  gpointer part;   /* it */
  AstroGridding **gridders;
};

static cudaStream_t stream_of(const AstroGridding *self)
{
  return astro_cuda_stream(self->place.queue);
}

AstroCollectConfig astro_cuda_turn(const AstroCollectConfig *config, char *products[2],
                                   guint *turns)
{
  AstroCollectConfig one = *config;
  *turns = g_strv_length(config->grid.products);
  products[0] = config->grid.products[0];
  products[1] = NULL;
  one.grid.products = products;
  one.cumulative = FALSE; /* rows are held, not a grid */
  if (!config->algorithm->has_planes) {
    *turns *= config->gridder.channels;
    one.gridder.channels = 1;
  }
  return one;
}

static guint gridders_of(const AstroCollectConfig *config, guint turns)
{
  return config->algorithm->has_planes ? turns : 1;
}

guint64 astro_cuda_turns_bytes(const AstroCollectConfig *config)
{
  char *products[2];
  guint turns;
  const AstroCollectConfig one = astro_cuda_turn(config, products, &turns);
  const AstroGridAlgorithm *device =
      astro_grid_algorithm_find(astro_cuda_algorithms, config->algorithm->name);
  return gridders_of(config, turns) * device->bytes(&one.gridder, &one.grid);
}

/* ---- a turn's rows ---- */

/* Planes are laid out by what is used of the rows, and are to be the same for all products: where
 * another product is not zero, none is quite. */
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

/* Number i of n stands at i * every; its visibility has so many products. */
template <typename Value>
static __global__ void __launch_bounds__(THREADS)
    take_values(const Value *from, Value *to, guint64 n, guint every, guint turn, bool has_planes)
{
  for (guint64 i = (guint64)blockIdx.x * THREADS + threadIdx.x; i < n;
       i += (guint64)gridDim.x * THREADS) {
    const Value *all = from + i * every;
    to[i] = has_planes ? never_zero(all, every, all[turn]) : all[turn];
  }
}

template <typename Value>
static void take_all(const AstroGridding *self, const AstroGridRows *rows, guint turn,
                     gpointer values, guint64 n)
{
  const guint every = self->products * (self->by_channel ? rows->channels : 1);
  const guint blocks = (guint)CLAMP((n + THREADS - 1) / THREADS, 1, MOST_BLOCKS);
  take_values<<<blocks, THREADS, 0, stream_of(self)>>>((const Value *)rows->values, (Value *)values,
                                                       n, every, turn, (bool)self->has_planes);
}

/* values: room for those of a turn. */
static gboolean take(const AstroGridding *self, const AstroGridRows *rows, guint turn,
                     gpointer values, AstroGridRows *one, GError **error)
{
  *one = *rows;
  one->products = 1;
  one->values = values;
  if (self->by_channel) {
    one->channels = 1;
    one->wavenumbers += turn / self->products;
  }
  (rows->is_double ? take_all<double2> : take_all<float2>)(self, rows, turn, values,
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

/* A turn's grid may be of several channels, whose other products lie between them. */
static gboolean bring_down(const AstroGridding *self, gpointer grid, guint turn, GError **error)
{
  for (gsize channel = 0; channel < self->channels; channel++)
    if (!CUDA_TRY(cudaMemcpyAsync((guint8 *)grid + (turn + channel * self->products) * self->plane,
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
  for (guint turn = 0; ok && turn < self->turns; turn++) {
    AstroGridRows one;
    ok = take(self, rows, turn, values, &one, error) &&
         self->algorithm->begin(self->gridders[turn], &one, planes, error);
  }
  astro_cuda_free(&self->place, &values);
  return ok;
}

/* Grids come down whole, so that all tiles are touched. */
static gboolean plane(AstroGridding *self, gpointer grid, guint8 *touched, double *w,
                      double *w_step, GError **error)
{
  if (touched)
    memset(touched, 1, self->map_bytes);
  for (guint turn = 0; turn < self->turns; turn++)
    if (!self->algorithm->plane(self->gridders[turn], self->part, NULL, w, w_step, error) ||
        !bring_down(self, grid, turn, error))
      return FALSE;
  return CUDA_TRY(cudaStreamSynchronize(stream_of(self)));
}

/* In place of what grid held, and with nothing left for finish. */
static gboolean fill(AstroGridding *self, const AstroGridRows *rows, gpointer grid, GError **error)
{
  const AstroGridAlgorithm *device = self->algorithm;
  gpointer values = room_for(self, rows, error);
  gboolean ok = values != NULL;
  for (guint turn = 0; ok && turn < self->turns; turn++) {
    AstroGridRows one;
    ok = CUDA_TRY(cudaMemsetAsync(self->part, 0, self->channels * self->plane, stream_of(self))) &&
         take(self, rows, turn, values, &one, error) &&
         device->add(self->gridders[0], &one, self->part, error) &&
         (!device->finish || device->finish(self->gridders[0], self->part, error)) &&
         bring_down(self, grid, turn, error);
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

static AstroGridding *create(const AstroGridAlgorithm *algorithm, const AstroGridderConfig *config,
                             const AstroGrid *grid, const AstroPlace *place, const char **variant,
                             GError **error)
{
  const AstroCollectConfig all = { algorithm, *config, *grid };
  AstroGridding *self = g_new0(AstroGridding, 1);
  char *products[2];
  const AstroCollectConfig one = astro_cuda_turn(&all, products, &self->turns);

  self->algorithm = algorithm;
  self->place = *place;
  self->products = g_strv_length(grid->products);
  self->has_planes = algorithm->has_planes;
  self->by_channel = config->channels > one.gridder.channels;
  self->channels = one.gridder.channels;
  self->plane = astro_collect_grid_bytes(&one) / self->channels;
  self->map_bytes =
      (gsize)self->channels * astro_grid_tiles(grid->size) * astro_grid_tiles(grid->size);
  self->n_gridders = gridders_of(&all, self->turns);
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

#define IN_TURNS(name)                                                                             \
  static AstroGridding *create_##name(const AstroGridderConfig *config, const AstroGrid *grid,     \
                                      const AstroPlace *place, const char **variant,               \
                                      GError **error)                                              \
  {                                                                                                \
    return create(&astro_cuda_##name, config, grid, place, variant, error);                        \
  }

IN_TURNS(direct)
IN_TURNS(wprojection)
IN_TURNS(wstacking)

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

const AstroGridAlgorithm *const astro_cuda_turns[] = { &direct, &wprojection, &wstacking, NULL };
