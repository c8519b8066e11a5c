/* Each product is gridded by itself, on a device grid that the next one uses again, and copied to
 * the host. An algorithm with planes begins once for each product and keeps what it made of the
 * rows, so that the products of a plane come one after the other; other algorithms begin anew. */
#include "config.h"
#include "core/gridder/per-product.h"

#include "core/backend/device.h"
#include "core/gridder/memory.h"
#include "core/memory/pool.h"

#include <string.h>

struct _AstroGridding {
  const AstroPerProduct *device;
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

/* The configuration of one pass: one of the products, and one of the channels where there are no
 * planes. passes: how many there are. products: two names, which the result points to. */
static AstroGridderConfig one_product(const AstroGridderConfig *config, char *products[2],
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

/* ---- the choice ---- */

/* Bytes beside rows and one grid of all products (passes > 1: there are several): with planes, as
 * many grids more as elements keep in work. */
static guint64 bytes_of_all(const AstroGridderConfig *config, guint passes,
                            const AstroGridderParts *whole)
{
  const guint64 others = passes > 1 && config->algorithm->has_planes ? ASTRO_POOL_DEPTH : 0;
  const AstroGridAlgorithm *algorithm =
      astro_grid_algorithm_find(whole->algorithms, config->algorithm->name);
  return algorithm->bytes(&config->gridder, &config->grid) +
         others * astro_gridder_grid_bytes(config);
}

static gboolean fits(const AstroGridderConfig *config, const AstroPlace *place, guint64 tables,
                     guint64 had, guint64 largest, GError **error)
{
  const guint64 grid = astro_gridder_grid_bytes(config);
  if (!astro_gridder_fits_device(config, tables, had, place->device->name, error))
    return FALSE;
  return grid <= largest ||
         astro_backend_no_memory(error,
                                 "a grid of %u x %u cells, %u products and %u channels needs "
                                 "%" G_GUINT64_FORMAT " bytes in one block, the largest that %s "
                                 "gives has %" G_GUINT64_FORMAT,
                                 config->grid.size, config->grid.size,
                                 g_strv_length(config->grid.products), config->gridder.channels,
                                 grid, place->device->name, largest);
}

static guint64 bytes_of_one(const AstroGridderConfig *one, guint passes,
                            const AstroGridAlgorithm *const *algorithms)
{
  const AstroGridAlgorithm *algorithm = astro_grid_algorithm_find(algorithms, one->algorithm->name);
  return gridders_of(one, passes) * algorithm->bytes(&one->gridder, &one->grid);
}

guint64 astro_per_product_needs(const AstroPerProduct *device, const AstroGridderConfig *config)
{
  char *products[2];
  guint passes;
  const AstroGridderConfig one = one_product(config, products, &passes);
  return astro_gridder_device_needs(&one, bytes_of_one(&one, passes, device->algorithms));
}

const AstroGridderParts *astro_per_product_choose(const AstroGridderConfig *config,
                                                  const AstroPlace *place, guint64 largest,
                                                  const AstroGridderParts *whole,
                                                  const AstroGridderParts *per_product,
                                                  GError **error)
{
  AstroDeviceMemory memory;
  char *products[2];
  guint passes;
  const AstroGridderConfig one = one_product(config, products, &passes);
  const guint64 all = bytes_of_all(config, passes, whole);
  const guint64 each = bytes_of_one(&one, passes, whole->algorithms);
  const gboolean helps = astro_gridder_needs(&one, each) < astro_gridder_needs(config, all);
  if (!place->device->funcs->memory(place->device, &memory, error))
    return NULL;
  if (fits(config, place, all, memory.free, largest, helps ? NULL : error))
    return whole;
  if (helps && fits(&one, place, each, memory.free, largest, error))
    return per_product;
  if (helps)
    g_prefix_error(error, "even one product at a time: ");
  return NULL;
}

/* ---- the rows of a pass ---- */

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
  const AstroProductTake work = { .from = rows->values,
                                  .to = values,
                                  .n = one->rows * one->channels,
                                  .every = self->products * (self->by_channel ? rows->channels : 1),
                                  .pass = pass,
                                  .is_double = rows->is_double,
                                  .all_or_none = self->has_planes };
  return work.n == 0 || self->device->take(&self->place, &work, error);
}

static gpointer room_for(const AstroGridding *self, const AstroGridRows *rows, GError **error)
{
  const guint64 n = rows->rows * (self->by_channel ? 1 : rows->channels);
  gpointer values = NULL;
  self->place.device->funcs->alloc(self->place.device, MAX(n, 1) * (rows->is_double ? 16 : 8),
                                   &values, error);
  return values;
}

static void free_room(const AstroGridding *self, gpointer face)
{
  if (face)
    self->place.device->funcs->free(self->place.device, face);
}

/* ---- grids ---- */

/* The grid of a pass may have several channels; on the host all products lie between them. */
static gboolean bring_down(const AstroGridding *self, gpointer grid, guint pass, GError **error)
{
  AstroDevice *device = self->place.device;
  for (gsize channel = 0; channel < self->channels; channel++)
    if (!device->funcs->queue_copy(device, self->place.queue, ASTRO_COPY_DOWN,
                                   (guint8 *)grid + (pass + channel * self->products) * self->plane,
                                   (guint8 *)self->part + channel * self->plane, self->plane,
                                   error))
      return FALSE;
  __atomic_fetch_add(&device->bytes_down, self->channels * self->plane, __ATOMIC_RELAXED);
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
  free_room(self, values);
  return ok;
}

/* Grids are copied whole, so that all their tiles count as touched. */
static gboolean plane(AstroGridding *self, gpointer grid, guint8 *touched, double *w,
                      double *w_step, GError **error)
{
  gboolean ok = TRUE;
  if (touched)
    memset(touched, 1, self->map_bytes);
  for (guint pass = 0; ok && pass < self->passes; pass++)
    ok = self->algorithm->plane(self->gridders[pass], self->part, NULL, w, w_step, error) &&
         bring_down(self, grid, pass, error);
  return self->device->drain(&self->place, ok ? error : NULL) && ok;
}

/* Overwrites the grid, and leaves nothing for finish. */
static gboolean add(AstroGridding *self, const AstroGridRows *rows, gpointer grid, GError **error)
{
  const AstroGridAlgorithm *algorithm = self->algorithm;
  gpointer values = room_for(self, rows, error);
  gboolean ok = values != NULL;
  for (guint pass = 0; ok && pass < self->passes; pass++) {
    AstroGridRows one;
    ok = self->device->zero(&self->place, self->part, self->channels * self->plane, error) &&
         take(self, rows, pass, values, &one, error) &&
         algorithm->add(self->gridders[0], &one, self->part, error) &&
         (!algorithm->finish || algorithm->finish(self->gridders[0], self->part, error)) &&
         bring_down(self, grid, pass, error);
  }
  ok = self->device->drain(&self->place, ok ? error : NULL) && ok;
  free_room(self, values);
  return ok;
}

/* ---- instances ---- */

static void destroy(AstroGridding *self)
{
  for (guint i = 0; i < self->n_gridders; i++)
    if (self->gridders[i])
      self->algorithm->destroy(self->gridders[i]);
  free_room(self, self->part);
  g_free(self->gridders);
  g_free(self);
}

AstroGridding *astro_per_product_new(const AstroPerProduct *device, const char *algorithm,
                                     const AstroGriddingConfig *config, const AstroGrid *grid,
                                     const AstroPlace *place, const char **variant, GError **error)
{
  AstroGridding *self = g_new0(AstroGridding, 1);
  self->device = device;
  self->algorithm = astro_grid_algorithm_find(device->algorithms, algorithm);
  const AstroGridderConfig all = { self->algorithm, *config, *grid };
  char *products[2];
  const AstroGridderConfig one = one_product(&all, products, &self->passes);

  self->place = *place;
  self->products = g_strv_length(grid->products);
  self->has_planes = self->algorithm->has_planes;
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

static const AstroGridAlgorithm direct = { .name = "direct", .add = add, .destroy = destroy };
static const AstroGridAlgorithm wprojection = { .name = "wprojection",
                                                .add = add,
                                                .destroy = destroy };
static const AstroGridAlgorithm wstacking = {
  .name = "wstacking", .has_planes = TRUE, .begin = begin, .plane = plane, .destroy = destroy
};

const AstroGridAlgorithm *const astro_per_product_algorithms[] = { &direct, &wprojection,
                                                                   &wstacking, NULL };
