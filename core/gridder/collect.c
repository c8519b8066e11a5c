#include "config.h"
#include "core/gridder/collect.h"

struct _AstroCollect {
  AstroCollectConfig config;
  const AstroCollectFuncs *funcs;
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

AstroCollect *astro_collect_new(const AstroCollectConfig *config, const AstroPlace *place,
                                const AstroCollectFuncs *funcs)
{
  AstroCollect *self = g_new0(AstroCollect, 1);
  self->config = *config;
  self->config.gridder.threads = place->threads;
  self->funcs = funcs;
  self->place = *place;
  self->at_once = !config->algorithm->has_planes && config->weighting == ASTRO_WEIGHTING_NATURAL &&
                  !funcs->host_grids;
  return self;
}

gboolean astro_collect_adds_at_once(const AstroCollect *self)
{
  return self->at_once;
}

gboolean astro_collect_host_grids(const AstroCollect *self)
{
  return self->funcs->host_grids;
}

static gboolean enter(const AstroCollect *self, GError **error)
{
  return !self->funcs->enter || self->funcs->enter(&self->place, error);
}

const AstroPlace *astro_collect_place(const AstroCollect *self)
{
  return &self->place;
}

static void forget_observation(AstroCollect *self)
{
  g_clear_pointer(&self->prepare, self->funcs->prepare->destroy);
  if (self->gridder)
    self->funcs->destroy(self->config.algorithm, self->gridder);
  self->gridder = NULL;
}

void astro_collect_free(AstroCollect *self)
{
  if (enter(self, NULL))
    forget_observation(self);
  g_free(self);
}

static gboolean observe(AstroCollect *self, AstroObservation *observation, GError **error)
{
  AstroCollectConfig *config = &self->config;
  if (!enter(self, error))
    return FALSE;
  forget_observation(self);
  /* With the longest baseline known the support may grow: what it does to caps is nothing. */
  if (observation)
    config->gridder.longest = astro_prepare_longest(&config->prepare, observation);
  if (!config->algorithm->choose(&config->gridder, &config->grid, error))
    return FALSE;
  self->prepare = self->funcs->prepare->create(&config->prepare, &config->grid, observation,
                                               &self->place, error);
  if (!self->prepare)
    return FALSE;
  self->gridder = self->funcs->create(config, &self->place, error);
  return self->gridder != NULL;
}

/* Tables may take minutes. */
gboolean astro_collect_observe(AstroCollect *self, AstroObservation *observation, GError **error)
{
  const AstroStop *before = astro_stop_set(self->place.stop);
  const gboolean ok = observe(self, observation, error) && astro_backend_goes_on(error);
  astro_stop_set(before);
  return ok;
}

/* ---- dumps in ---- */

/* Rows that wait go into the grid, where there are as many as that. */
static gboolean add_rows(AstroCollect *self, guint64 values, gpointer grid, GError **error)
{
  AstroGridRows rows;
  self->funcs->prepare->rows(self->prepare, &rows);
  if (rows.rows == 0 || rows.rows * rows.channels * rows.products < values)
    return TRUE;
  const gboolean ok = self->funcs->add(self->config.algorithm, self->gridder, &rows, grid, error);
  self->funcs->prepare->forget_rows(self->prepare);
  return ok;
}

static gboolean add_dump(AstroCollect *self, const AstroBlock *in, const AstroBlock *out,
                         const AstroCollectArguments *arguments, GError **error)
{
  const AstroPrepareConfig *prepare = &self->config.prepare;
  const gsize bytes = (gsize)prepare->channels * prepare->baselines * prepare->pols *
                      prepare->pols * astro_format_info(prepare->format)->bytes;
  const char *dump = (const char *)in->data + arguments->number * bytes;
  if (self->at_once && arguments->is_new &&
      !self->funcs->zero(&self->place, out->data, out->bytes, error))
    return FALSE;
  return self->funcs->prepare->add(self->prepare, dump, arguments->validity, arguments->shape,
                                   arguments->number, arguments->middle_ns, arguments->uvw,
                                   error) &&
         (!self->at_once || add_rows(self, self->funcs->together, out->data, error));
}

/* ---- planes out ---- */

static gboolean begin(AstroCollect *self, guint *planes, GError **error)
{
  AstroGridRows rows;
  *planes = 1;
  if (self->at_once)
    return TRUE;
  if (!enter(self, error) ||
      !self->funcs->prepare->weigh(self->prepare, self->config.weighting, self->config.robust,
                                   self->config.per_channel, error))
    return FALSE;
  if (!self->config.cumulative && self->funcs->prepare->drop_weights)
    self->funcs->prepare->drop_weights(self->prepare);
  if (!self->config.algorithm->has_planes)
    return TRUE;
  self->funcs->prepare->rows(self->prepare, &rows);
  rows.spent = !self->config.cumulative;
  if (!self->funcs->begin(self->config.algorithm, self->gridder, &rows, planes, error))
    return FALSE;
  if (!self->config.cumulative)
    self->funcs->prepare->drop_rows(self->prepare);
  return TRUE;
}

gboolean astro_collect_begin(AstroCollect *self, guint *planes, GError **error)
{
  const AstroStop *before = astro_stop_set(self->place.stop);
  const gboolean ok = begin(self, planes, error) && astro_backend_goes_on(error);
  astro_stop_set(before);
  return ok;
}

static gboolean fill_plane(AstroCollect *self, const AstroBlock *out, guint8 *touched,
                           const AstroCollectArguments *arguments, AstroResult *result,
                           GError **error)
{
  const AstroCollectFuncs *funcs = self->funcs;
  const AstroGridAlgorithm *algorithm = self->config.algorithm;
  result->w = result->w_step = 0;
  if (algorithm->has_planes)
    return funcs->plane(algorithm, self->gridder, out->data, touched, &result->w, &result->w_step,
                        error);
  if ((!self->at_once || arguments->is_new) && !funcs->host_grids &&
      !funcs->zero(&self->place, out->data, out->bytes, error))
    return FALSE;
  AstroGridRows rows;
  funcs->prepare->rows(self->prepare, &rows);
  const gboolean added = self->at_once
                             ? add_rows(self, 0, out->data, error)
                             : funcs->add(algorithm, self->gridder, &rows, out->data, error);
  return added && (!funcs->finish || funcs->finish(algorithm, self->gridder, out->data, error));
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

gboolean astro_collect_submit(AstroCollect *self, const AstroBlock *in, guint n_in,
                              const AstroBlock *out, guint n_out,
                              const AstroCollectArguments *arguments, AstroResult *result,
                              GError **error)
{
  AstroResult unasked = { 0 };
  if (!result)
    result = &unasked;
  if (!enter(self, error))
    return FALSE;
  if (arguments->is_copy)
    return self->funcs->copy(&self->place, out->data, in->data, out->bytes, error);
  if (n_in)
    return add_dump(self, in, out, arguments, error);
  guint8 *touched = n_out > 1 ? out[1].data : NULL;
  return (!touched || check_map(self, &out[1], error)) &&
         fill_plane(self, out, touched, arguments, result, error);
}

gboolean astro_collect_end(AstroCollect *self, GError **error)
{
  if (self->config.cumulative)
    return TRUE;
  if (!enter(self, error))
    return FALSE;
  self->funcs->prepare->drop_rows(self->prepare);
  return self->funcs->prepare->reset_counts(self->prepare, error);
}

void astro_collect_add_missing(AstroCollect *self)
{
  self->funcs->prepare->add_missing(self->prepare);
}

/* ---- what is told ---- */

const AstroGridCounts *astro_collect_counts(AstroCollect *self, double *sums, GError **error)
{
  const AstroGridCounts *counts;
  const double *all;
  if (!enter(self, error) || !self->funcs->prepare->totals(self->prepare, &counts, &all, error))
    return NULL;
  for (guint i = 0; sums && i < self->config.gridder.channels; i++)
    sums[i] = 0;
  for (guint c = 0; sums && c < self->config.prepare.channels; c++)
    sums[self->config.per_channel ? c : 0] += all[c];
  return counts;
}

double astro_collect_longest(AstroCollect *self)
{
  return self->config.gridder.longest;
}

double astro_collect_reach(AstroCollect *self)
{
  return astro_grid_reach(&self->config.grid);
}
