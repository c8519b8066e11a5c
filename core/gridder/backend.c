/* The calls of the stage "gridder", the same whichever parts a backend is made of. */
#include "config.h"
#include "core/gridder/backend.h"
#include "core/backend/device.h"
#include "core/gridder/memory.h"
#include "core/gridder/per-product.h"

#include <string.h>

struct _AstroGridderBackend {
  AstroGridderConfig config;
  const AstroGridderParts *parts;
  const AstroGridAlgorithm *algorithm; /* among the parts */
  AstroPlace place;
  gboolean at_once; /* dumps are added to the grid as they come; else rows are held */
  AstroPrepare *prepare;
  AstroGridding *gridder;
};

guint64 astro_gridder_grid_bytes(const AstroGridderConfig *config)
{
  const AstroGrid *grid = &config->grid;
  return (guint64)grid->size * grid->size * g_strv_length(grid->products) *
         config->gridder.channels * (config->gridder.is_double ? 16 : 8);
}

guint64 astro_gridder_map_bytes(const AstroGridderConfig *config)
{
  const guint64 tiles = astro_grid_tiles(config->grid.size);
  return config->algorithm->has_planes ? tiles * tiles * config->gridder.channels : 0;
}

gboolean astro_gridder_adds_at_once(const AstroGridderConfig *config)
{
  return !config->algorithm->has_planes && config->weighting == ASTRO_WEIGHTING_NATURAL &&
         config->ranks <= 1;
}

guint64 astro_gridder_needs(const AstroGridderConfig *config, guint64 tables)
{
  return astro_gridder_grid_bytes(config) * (config->cumulative ? 2 : 1) + tables;
}

guint64 astro_gridder_least(const AstroGridderConfig *config)
{
  const AstroGridderMemory nothing = { 0 };
  AstroGridderPlan plan;
  astro_gridder_plan(config, config->prepare.channels, &nothing, &plan, NULL);
  return plan.least;
}

gboolean astro_gridder_fits(const AstroGridderConfig *config, guint64 tables, guint64 had,
                            const char *who, GError **error)
{
  const guint64 needed = astro_gridder_needs(config, tables);
  if (needed < had)
    return TRUE;
  return astro_backend_no_memory(
      error,
      "a grid of %u x %u cells, %u products and %u channels needs %" G_GUINT64_FORMAT
      " bytes, %s has %" G_GUINT64_FORMAT,
      config->grid.size, config->grid.size, g_strv_length(config->grid.products),
      config->gridder.channels, needed, who, had);
}

/* ---- instances ---- */

const AstroGridAlgorithm *astro_grid_algorithm_find(const AstroGridAlgorithm *const *algorithms,
                                                    const char *name)
{
  for (; *algorithms; algorithms++)
    if (!strcmp((*algorithms)->name, name))
      return *algorithms;
  return NULL;
}

AstroGridderBackend *astro_gridder_backend_new(const AstroGridderConfig *config,
                                               const AstroPlace *place,
                                               const AstroGridderParts *parts)
{
  AstroGridderBackend *self = g_new0(AstroGridderBackend, 1);
  self->config = *config;
  self->config.gridder.threads = place->threads;
  self->parts = parts;
  self->algorithm = astro_grid_algorithm_find(parts->algorithms, config->algorithm->name);
  self->place = *place;
  self->at_once = astro_gridder_adds_at_once(config) && !parts->per_product;
  return self;
}

gboolean astro_gridder_backend_host_out(gpointer instance)
{
  const AstroGridderBackend *self = instance;
  return self->parts->per_product != NULL;
}

static gboolean enter(const AstroGridderBackend *self, GError **error)
{
  return !self->parts->enter || self->parts->enter(&self->place, error);
}

const AstroPlace *astro_gridder_backend_place(const AstroGridderBackend *self)
{
  return &self->place;
}

static void forget_observation(AstroGridderBackend *self)
{
  g_clear_pointer(&self->prepare, self->parts->prepare->destroy);
  g_clear_pointer(&self->gridder, self->algorithm->destroy);
}

void astro_gridder_backend_free(gpointer instance)
{
  AstroGridderBackend *self = instance;
  if (enter(self, NULL))
    forget_observation(self);
  g_free(self);
}

/* ---- calls ---- */

typedef struct {
  const AstroBlock *in, *out;
  guint n_in, n_out;
  const AstroGridderArguments *arguments;
  AstroResult *result;
} Call;

/* Bytes of the host that the work on a device takes: grids that have no room there, and all where
 * the device's memory is the host's. */
static guint64 host_bytes(const AstroGridderBackend *self)
{
  const AstroGridderConfig *config = &self->config;
  const AstroPerProduct *device = self->parts->per_product;
  const guint64 grids = device ? astro_gridder_grid_bytes(config) : 0;
  if (!self->place.device || !self->place.device->on_host)
    return grids;
  return grids + (device ? astro_per_product_needs(device, config)
                         : astro_gridder_device_needs(
                               config, self->algorithm->bytes(&config->gridder, &config->grid)));
}

static gboolean plan_memory(AstroGridderBackend *self, const Call *call, guint row_channels,
                            GError **error)
{
  const AstroPrepareFuncs *prepare = self->parts->prepare;
  const AstroGridderMemory *memory = call->arguments->memory;
  AstroGridderPlan *plan = call->arguments->plan;
  if (!plan)
    return TRUE;
  if (!prepare->limit) /* a device keeps visibilities in its own memory */
    return !memory ||
           astro_gridder_plan_device(&self->config, host_bytes(self), memory, plan, error);
  if (memory && !astro_gridder_plan(&self->config, row_channels, memory, plan, error))
    return FALSE;
  self->config.gridder.most_sorted = plan->most_sorted;
  if (plan->most_rows > 0)
    prepare->limit(self->prepare, plan->most_rows, plan->part_rows);
  return TRUE;
}

/* Some algorithms compute tables here, which may take minutes. */
static gboolean observe(AstroGridderBackend *self, const Call *call, GError **error)
{
  AstroGridderConfig *config = &self->config;
  AstroObservation *observation = call->arguments->observation;
  const char *variant;
  forget_observation(self);
  /* The longest baseline is known now: the support may grow, which caps do not depend on. */
  if (observation)
    config->gridder.longest = astro_prepare_longest(&config->prepare, observation);
  if (!config->algorithm->choose(&config->gridder, &config->grid, error))
    return FALSE;
  self->prepare = self->parts->prepare->create(&config->prepare, &config->grid, observation,
                                               &self->place, error);
  if (!self->prepare)
    return FALSE;
  AstroGridRows rows;
  self->parts->prepare->rows(self->prepare, &rows);
  call->result->channels_together = (config->prepare.channels + rows.channels - 1) / rows.channels;
  call->result->adds_at_once = self->at_once;
  call->result->longest = config->gridder.longest;
  call->result->reach = astro_grid_reach(&config->grid);
  if (!plan_memory(self, call, rows.channels, error))
    return FALSE;
  self->gridder =
      self->parts->per_product
          ? astro_per_product_new(self->parts->per_product, self->algorithm->name, &config->gridder,
                                  &config->grid, &self->place, &variant, error)
          : self->algorithm->create(&config->gridder, &config->grid, &self->place, &variant, error);
  return self->gridder != NULL;
}

/* Adds the prepared rows to the grid if they have at least that many values. */
static gboolean add_rows(AstroGridderBackend *self, guint64 values, gpointer grid, GError **error)
{
  AstroGridRows rows;
  self->parts->prepare->rows(self->prepare, &rows);
  if (rows.rows == 0 || rows.rows * rows.channels * rows.products < values)
    return TRUE;
  const gboolean ok = self->algorithm->add(self->gridder, &rows, grid, error);
  self->parts->prepare->forget_rows(self->prepare);
  return ok;
}

static gboolean add_dump(AstroGridderBackend *self, const Call *call, GError **error)
{
  const AstroPrepareConfig *prepare = &self->config.prepare;
  const AstroGridderArguments *a = call->arguments;
  const AstroBlock *out = call->out;
  const gsize bytes = (gsize)prepare->channels * prepare->baselines * prepare->pols *
                      prepare->pols * astro_format_info(prepare->format)->bytes;
  const char *dump = (const char *)call->in->data + a->number * bytes;
  if (self->at_once && a->is_new && !self->parts->zero(&self->place, out->data, out->bytes, error))
    return FALSE;
  return self->parts->prepare->add(self->prepare, dump, a->validity, a->shape, a->number,
                                   a->middle_ns, a->uvw, error) &&
         (!self->at_once || add_rows(self, self->parts->together, out->data, error));
}

static gboolean add_missing(AstroGridderBackend *self, const Call *call, GError **error)
{
  self->parts->prepare->add_missing(self->prepare);
  return TRUE;
}

/* The file with all rows, or NULL: they are in memory. */
static gboolean find_store(const AstroGridderBackend *self, AstroRowStore **store, GError **error)
{
  const AstroPrepareFuncs *prepare = self->parts->prepare;
  *store = NULL;
  return !prepare->stored || prepare->stored(self->prepare, store, error);
}

static gboolean begin(AstroGridderBackend *self, const Call *call, GError **error)
{
  const AstroPrepareFuncs *prepare = self->parts->prepare;
  AstroRowStore *store;
  AstroGridRows rows;
  call->result->planes = 1;
  if (self->at_once)
    return TRUE;
  if (!prepare->weigh(self->prepare, self->config.weighting, self->config.robust,
                      self->config.per_channel, error) ||
      !find_store(self, &store, error))
    return FALSE;
  if (!self->config.cumulative && prepare->drop_weights)
    prepare->drop_weights(self->prepare);
  if (!self->algorithm->has_planes)
    return TRUE;
  if (store)
    return self->algorithm->begin_stored(self->gridder, store, &call->result->planes, error);
  prepare->rows(self->prepare, &rows);
  rows.spent = !self->config.cumulative;
  if (!self->algorithm->begin(self->gridder, &rows, &call->result->planes, error))
    return FALSE;
  if (!self->config.cumulative)
    prepare->drop_rows(self->prepare);
  return TRUE;
}

static gboolean check_map(const AstroGridderBackend *self, const AstroBlock *map, GError **error)
{
  const guint64 bytes = astro_gridder_map_bytes(&self->config);
  if (bytes > 0 && map->bytes >= bytes)
    return TRUE;
  return astro_backend_refuse(error,
                              "a map of touched tiles of %" G_GSIZE_FORMAT
                              " bytes, expected %" G_GUINT64_FORMAT " for %s",
                              map->bytes, bytes, self->config.algorithm->name);
}

/* Other instances, with the same rows, add the others. */
static gboolean add_share(AstroGridderBackend *self, AstroGridRows *rows,
                          const AstroGridderArguments *arguments, gpointer grid, GError **error)
{
  const guint64 shares = MAX(arguments->shares, 1), all = rows->rows;
  const guint64 from = all * arguments->share / shares, to = all * (arguments->share + 1) / shares;
  const gsize bytes = (gsize)rows->channels * rows->products * (rows->is_double ? 16 : 8);
  rows->rows = to - from;
  rows->uvw += 3 * from;
  rows->values = (const char *)rows->values + from * bytes;
  return rows->rows == 0 || self->algorithm->add(self->gridder, rows, grid, error);
}

/* Adds the rows that are kept, wherever they are, or this instance's share of them. */
static gboolean add_kept(AstroGridderBackend *self, const AstroGridderArguments *arguments,
                         gpointer grid, GError **error)
{
  AstroRowStore *store;
  AstroGridRows rows;
  if (!find_store(self, &store, error))
    return FALSE;
  if (!store) {
    self->parts->prepare->rows(self->prepare, &rows);
    return add_share(self, &rows, arguments, grid, error);
  }
  for (guint part = 0; part < astro_row_store_parts(store); part++)
    if (!astro_row_store_read(store, part, &rows, error) ||
        !add_share(self, &rows, arguments, grid, error))
      return FALSE;
  return TRUE;
}

static gboolean fill_plane(AstroGridderBackend *self, const Call *call, GError **error)
{
  const AstroGridAlgorithm *algorithm = self->algorithm;
  const AstroBlock *out = call->out;
  AstroResult *result = call->result;
  guint8 *touched = call->n_out > 1 ? out[1].data : NULL;
  result->w = result->w_step = 0;
  if (touched && !check_map(self, &out[1], error))
    return FALSE;
  if (algorithm->has_planes)
    return algorithm->plane(self->gridder, out->data, touched, &result->w, &result->w_step, error);
  if ((!self->at_once || call->arguments->is_new) && !self->parts->per_product &&
      !self->parts->zero(&self->place, out->data, out->bytes, error))
    return FALSE;
  const gboolean added = self->at_once ? add_rows(self, 0, out->data, error)
                                       : add_kept(self, call->arguments, out->data, error);
  return added && (!algorithm->finish || algorithm->finish(self->gridder, out->data, error));
}

static gboolean skip_plane(AstroGridderBackend *self, const Call *call, GError **error)
{
  if (self->algorithm->skip) {
    self->algorithm->skip(self->gridder);
    return TRUE;
  }
  return astro_backend_refuse(error, "the planes of %s cannot be shared with other devices",
                              self->algorithm->name);
}

static gboolean sum_grids(AstroGridderBackend *self, const Call *call, GError **error)
{
  return self->parts->sum(&self->place, call->out->data, call->in->data, call->out->bytes,
                          self->config.gridder.is_double, error);
}

static gboolean copy_grid(AstroGridderBackend *self, const Call *call, GError **error)
{
  return self->parts->copy(&self->place, call->out->data, call->in->data, call->out->bytes, error);
}

static gboolean count(AstroGridderBackend *self, const Call *call, GError **error)
{
  AstroResult *result = call->result;
  const AstroGridCounts *counts;
  const double *all;
  if (!self->parts->prepare->totals(self->prepare, &counts, &all, error))
    return FALSE;
  result->grid_counts = *counts;
  for (guint i = 0; result->sums && i < self->config.gridder.channels; i++)
    result->sums[i] = 0;
  for (guint c = 0; result->sums && c < self->config.prepare.channels; c++)
    result->sums[self->config.per_channel ? c : 0] += all[c];
  return TRUE;
}

static gboolean end(AstroGridderBackend *self, const Call *call, GError **error)
{
  if (self->config.cumulative)
    return TRUE;
  self->parts->prepare->drop_rows(self->prepare);
  return self->parts->prepare->reset_counts(self->prepare, error);
}

gboolean astro_gridder_backend_submit(gpointer instance, const AstroBlock *in, guint n_in,
                                      const AstroBlock *out, guint n_out, gconstpointer given,
                                      AstroResult *result, GError **error)
{
  static gboolean (*const calls[])(AstroGridderBackend * self, const Call *call, GError **error) = {
    [ASTRO_GRID_OBSERVE] = observe,  [ASTRO_GRID_ADD] = add_dump,
    [ASTRO_GRID_MISS] = add_missing, [ASTRO_GRID_BEGIN] = begin,
    [ASTRO_GRID_PLANE] = fill_plane, [ASTRO_GRID_COPY] = copy_grid,
    [ASTRO_GRID_COUNT] = count,      [ASTRO_GRID_END] = end,
    [ASTRO_GRID_SKIP] = skip_plane,  [ASTRO_GRID_SUM] = sum_grids,
  };
  const AstroGridderArguments *arguments = given;
  AstroResult unasked = { 0 };
  const Call call = { in, out, n_in, n_out, arguments, result ? result : &unasked };
  return enter(instance, error) && calls[arguments->call](instance, &call, error);
}
