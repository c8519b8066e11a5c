#include "config.h"
#include "core/gridder/collect.h"
#include "core/backend/device.h"

#include <string.h>

struct _AstroCollect {
  AstroCollectConfig config;
  const AstroGridPlace *where;
  const AstroGridAlgorithm *algorithm; /* there */
  AstroPlace place;
  gboolean at_once;
  AstroPrepare *prepare;
  AstroGridding *gridder;
};

guint64 astro_collect_grid_bytes(const AstroCollectConfig *config)
{
  const AstroGrid *grid = &config->grid;
  return (guint64)grid->size * grid->size * g_strv_length(grid->products) *
         config->gridder.channels * (config->gridder.is_double ? 16 : 8);
}

guint64 astro_collect_map_bytes(const AstroCollectConfig *config)
{
  const guint64 tiles = astro_grid_tiles(config->grid.size);
  return config->algorithm->has_planes ? tiles * tiles * config->gridder.channels : 0;
}

guint64 astro_collect_needs(const AstroCollectConfig *config, guint64 tables)
{
  return astro_collect_grid_bytes(config) * (config->cumulative ? 2 : 1) + tables;
}

gboolean astro_collect_fits(const AstroCollectConfig *config, guint64 tables, guint64 had,
                            const char *who, GError **error)
{
  const guint64 needed = astro_collect_needs(config, tables);
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

AstroCollect *astro_collect_new(const AstroCollectConfig *config, const AstroPlace *place,
                                const AstroGridPlace *where)
{
  AstroCollect *self = g_new0(AstroCollect, 1);
  self->config = *config;
  self->config.gridder.threads = place->threads;
  self->where = where;
  self->algorithm = astro_grid_algorithm_find(where->algorithms, config->algorithm->name);
  self->place = *place;
  self->at_once = !config->algorithm->has_planes && config->weighting == ASTRO_WEIGHTING_NATURAL &&
                  !where->host_grids;
  return self;
}

gboolean astro_collect_host_out(gpointer instance)
{
  const AstroCollect *self = instance;
  return self->where->host_grids;
}

static gboolean enter(const AstroCollect *self, GError **error)
{
  return !self->where->enter || self->where->enter(&self->place, error);
}

const AstroPlace *astro_collect_place(const AstroCollect *self)
{
  return &self->place;
}

static void forget_observation(AstroCollect *self)
{
  g_clear_pointer(&self->prepare, self->where->prepare->destroy);
  g_clear_pointer(&self->gridder, self->algorithm->destroy);
}

void astro_collect_free(gpointer instance)
{
  AstroCollect *self = instance;
  if (enter(self, NULL))
    forget_observation(self);
  g_free(self);
}

/* ---- what is asked for ---- */

typedef struct {
  const AstroBlock *in, *out;
  guint n_in, n_out;
  const AstroCollectArguments *arguments;
  AstroResult *result;
} Call;

/* Tables may take minutes. */
static gboolean observe(AstroCollect *self, const Call *call, GError **error)
{
  AstroCollectConfig *config = &self->config;
  AstroObservation *observation = call->arguments->observation;
  const char *variant;
  forget_observation(self);
  /* With the longest baseline known the support may grow: what it does to caps is nothing. */
  if (observation)
    config->gridder.longest = astro_prepare_longest(&config->prepare, observation);
  if (!config->algorithm->choose(&config->gridder, &config->grid, error))
    return FALSE;
  self->prepare = self->where->prepare->create(&config->prepare, &config->grid, observation,
                                               &self->place, error);
  if (!self->prepare)
    return FALSE;
  call->result->adds_at_once = self->at_once;
  call->result->longest = config->gridder.longest;
  call->result->reach = astro_grid_reach(&config->grid);
  self->gridder =
      self->algorithm->create(&config->gridder, &config->grid, &self->place, &variant, error);
  return self->gridder != NULL;
}

/* Rows that wait go into the grid, where there are as many as that. */
static gboolean add_rows(AstroCollect *self, guint64 values, gpointer grid, GError **error)
{
  AstroGridRows rows;
  self->where->prepare->rows(self->prepare, &rows);
  if (rows.rows == 0 || rows.rows * rows.channels * rows.products < values)
    return TRUE;
  const gboolean ok = self->algorithm->add(self->gridder, &rows, grid, error);
  self->where->prepare->forget_rows(self->prepare);
  return ok;
}

static gboolean add_dump(AstroCollect *self, const Call *call, GError **error)
{
  const AstroPrepareConfig *prepare = &self->config.prepare;
  const AstroCollectArguments *a = call->arguments;
  const AstroBlock *out = call->out;
  const gsize bytes = (gsize)prepare->channels * prepare->baselines * prepare->pols *
                      prepare->pols * astro_format_info(prepare->format)->bytes;
  const char *dump = (const char *)call->in->data + a->number * bytes;
  if (self->at_once && a->is_new && !self->where->zero(&self->place, out->data, out->bytes, error))
    return FALSE;
  return self->where->prepare->add(self->prepare, dump, a->validity, a->shape, a->number,
                                   a->middle_ns, a->uvw, error) &&
         (!self->at_once || add_rows(self, self->where->together, out->data, error));
}

static gboolean add_missing(AstroCollect *self, const Call *call, GError **error)
{
  self->where->prepare->add_missing(self->prepare);
  return TRUE;
}

static gboolean begin(AstroCollect *self, const Call *call, GError **error)
{
  const AstroPrepareFuncs *prepare = self->where->prepare;
  AstroGridRows rows;
  call->result->planes = 1;
  if (self->at_once)
    return TRUE;
  if (!prepare->weigh(self->prepare, self->config.weighting, self->config.robust,
                      self->config.per_channel, error))
    return FALSE;
  if (!self->config.cumulative && prepare->drop_weights)
    prepare->drop_weights(self->prepare);
  if (!self->algorithm->has_planes)
    return TRUE;
  prepare->rows(self->prepare, &rows);
  rows.spent = !self->config.cumulative;
  if (!self->algorithm->begin(self->gridder, &rows, &call->result->planes, error))
    return FALSE;
  if (!self->config.cumulative)
    prepare->drop_rows(self->prepare);
  return TRUE;
}

static gboolean check_map(const AstroCollect *self, const AstroBlock *map, GError **error)
{
  const guint64 bytes = astro_collect_map_bytes(&self->config);
  if (bytes > 0 && map->bytes >= bytes)
    return TRUE;
  return astro_backend_refuse(error,
                              "a map of touched tiles of %" G_GSIZE_FORMAT
                              " bytes, expected %" G_GUINT64_FORMAT " for %s",
                              map->bytes, bytes, self->config.algorithm->name);
}

static gboolean fill_plane(AstroCollect *self, const Call *call, GError **error)
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
  if ((!self->at_once || call->arguments->is_new) && !self->where->host_grids &&
      !self->where->zero(&self->place, out->data, out->bytes, error))
    return FALSE;
  AstroGridRows rows;
  self->where->prepare->rows(self->prepare, &rows);
  const gboolean added = self->at_once ? add_rows(self, 0, out->data, error)
                                       : algorithm->add(self->gridder, &rows, out->data, error);
  return added && (!algorithm->finish || algorithm->finish(self->gridder, out->data, error));
}

static gboolean copy_grid(AstroCollect *self, const Call *call, GError **error)
{
  return self->where->copy(&self->place, call->out->data, call->in->data, call->out->bytes, error);
}

static gboolean count(AstroCollect *self, const Call *call, GError **error)
{
  AstroResult *result = call->result;
  const AstroGridCounts *counts;
  const double *all;
  if (!self->where->prepare->totals(self->prepare, &counts, &all, error))
    return FALSE;
  result->grid_counts = *counts;
  for (guint i = 0; result->sums && i < self->config.gridder.channels; i++)
    result->sums[i] = 0;
  for (guint c = 0; result->sums && c < self->config.prepare.channels; c++)
    result->sums[self->config.per_channel ? c : 0] += all[c];
  return TRUE;
}

static gboolean end(AstroCollect *self, const Call *call, GError **error)
{
  if (self->config.cumulative)
    return TRUE;
  self->where->prepare->drop_rows(self->prepare);
  return self->where->prepare->reset_counts(self->prepare, error);
}

gboolean astro_collect_submit(gpointer collect, const AstroBlock *in, guint n_in,
                              const AstroBlock *out, guint n_out, gconstpointer given,
                              AstroResult *result, GError **error)
{
  static gboolean (*const calls[])(AstroCollect * self, const Call *call, GError **error) = {
    [ASTRO_GRID_OBSERVE] = observe,  [ASTRO_GRID_ADD] = add_dump,
    [ASTRO_GRID_MISS] = add_missing, [ASTRO_GRID_BEGIN] = begin,
    [ASTRO_GRID_PLANE] = fill_plane, [ASTRO_GRID_COPY] = copy_grid,
    [ASTRO_GRID_COUNT] = count,      [ASTRO_GRID_END] = end,
  };
  const AstroCollectArguments *arguments = given;
  AstroResult unasked = { 0 };
  const Call call = { in, out, n_in, n_out, arguments, result ? result : &unasked };
  return enter(collect, error) && calls[arguments->call](collect, &call, error);
}
