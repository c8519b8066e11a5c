#include "config.h"
#include "core/gridder/collect.h"

#include <string.h>
#include <unistd.h>

struct _AstroCollect {
  AstroCollectConfig config;
  gboolean at_once;
  AstroPrepare *prepare;
  AstroGridding *gridder;
};

gboolean astro_collect_adds_at_once(const AstroCollectConfig *config)
{
  return !config->algorithm->has_planes && config->weighting == ASTRO_WEIGHTING_NATURAL;
}

/* ---- what it takes ---- */

guint64 astro_collect_grid_bytes(const AstroCollectConfig *config)
{
  const AstroGrid *grid = &config->grid;
  return (guint64)grid->size * grid->size * g_strv_length(grid->products) *
         config->gridder.channels * (config->gridder.is_double ? 16 : 8);
}

guint64 astro_collect_bytes(const AstroCollectConfig *config)
{
  return astro_collect_grid_bytes(config) * (config->cumulative ? 2 : 1) +
         config->algorithm->bytes(&config->gridder, &config->grid);
}

static gboolean shape(gconstpointer configuration, GError **error)
{
  const AstroCollectConfig *config = configuration;
  const guint64 needed = astro_collect_bytes(config);
  const guint64 had = (guint64)sysconf(_SC_PHYS_PAGES) * (guint64)sysconf(_SC_PAGESIZE);
  if (needed < had)
    return TRUE;
  g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY,
              "a grid of %u x %u cells, %u products and %u channels needs %" G_GUINT64_FORMAT
              " bytes, this machine has %" G_GUINT64_FORMAT,
              config->grid.size, config->grid.size, g_strv_length(config->grid.products),
              config->gridder.channels, needed, had);
  return FALSE;
}

/* ---- instances ---- */

static AstroCollect *create_of(const AstroCollectConfig *config, const AstroPlace *place,
                               gboolean is_reference, const char **variant, GError **error)
{
  AstroCollect *self = g_new0(AstroCollect, 1);
  self->config = *config;
  self->config.gridder.threads = place->threads;
  self->config.gridder.is_reference = is_reference;
  self->at_once = astro_collect_adds_at_once(config);
  *variant = config->algorithm->name;
  return self;
}

static gpointer create_reference(gconstpointer config, const AstroPlace *place,
                                 const char **variant, GError **error)
{
  return create_of(config, place, TRUE, variant, error);
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  return create_of(config, place, FALSE, variant, error);
}

static void forget_observation(AstroCollect *self)
{
  g_clear_pointer(&self->prepare, astro_prepare_free);
  g_clear_pointer(&self->gridder, self->config.algorithm->destroy);
}

static void destroy(gpointer instance)
{
  forget_observation(instance);
  g_free(instance);
}

gboolean astro_collect_observe(AstroCollect *self, AstroObservation *observation, GError **error)
{
  const char *variant;
  AstroCollectConfig *config = &self->config;
  forget_observation(self);
  /* With the longest baseline known the support may grow: what it does to caps is nothing. */
  if (observation)
    config->gridder.longest = astro_prepare_longest(&config->prepare, observation);
  if (!config->algorithm->choose(&config->gridder, &config->grid, error))
    return FALSE;
  self->prepare = astro_prepare_new(&config->prepare, &config->grid, observation, error);
  if (!self->prepare)
    return FALSE;
  self->gridder =
      self->config.algorithm->create(&self->config.gridder, &self->config.grid, &variant, error);
  return self->gridder != NULL;
}

/* ---- dumps in ---- */

static gboolean add_dump(AstroCollect *self, const AstroBlock *in, gpointer grid,
                         const AstroCollectArguments *arguments, GError **error)
{
  const AstroPrepareConfig *prepare = &self->config.prepare;
  const gsize bytes = (gsize)prepare->channels * prepare->baselines * prepare->pols *
                      prepare->pols * astro_format_info(prepare->format)->bytes;
  const char *dump = (const char *)in->data + arguments->number * bytes;
  AstroGridRows rows;
  if (!astro_prepare_add(self->prepare, dump, arguments->validity, arguments->shape,
                         arguments->number, arguments->middle_ns, error))
    return FALSE;
  if (!self->at_once)
    return TRUE;
  astro_prepare_rows(self->prepare, &rows);
  const gboolean ok = self->config.algorithm->add(self->gridder, &rows, grid, error);
  astro_prepare_forget_rows(self->prepare);
  return ok;
}

/* ---- planes out ---- */

gboolean astro_collect_begin(AstroCollect *self, guint *planes, GError **error)
{
  AstroGridRows rows;
  *planes = 1;
  if (self->at_once)
    return TRUE;
  if (!astro_prepare_weigh(self->prepare, self->config.weighting, self->config.robust,
                           self->config.per_channel, error))
    return FALSE;
  if (!self->config.algorithm->has_planes)
    return TRUE;
  astro_prepare_rows(self->prepare, &rows);
  if (!self->config.algorithm->begin(self->gridder, &rows, planes, error))
    return FALSE;
  if (!self->config.cumulative)
    astro_prepare_drop_rows(self->prepare);
  return TRUE;
}

static gboolean fill_plane(AstroCollect *self, const AstroBlock *out,
                           AstroCollectArguments *arguments, GError **error)
{
  const AstroGridAlgorithm *algorithm = self->config.algorithm;
  AstroGridRows rows;
  arguments->w = arguments->w_step = 0;
  if (self->at_once) {
    if (algorithm->finish)
      algorithm->finish(self->gridder, out->data);
    return TRUE;
  }
  memset(out->data, 0, out->bytes);
  if (algorithm->has_planes) {
    algorithm->plane(self->gridder, out->data, &arguments->w, &arguments->w_step);
    return TRUE;
  }
  astro_prepare_rows(self->prepare, &rows);
  if (!algorithm->add(self->gridder, &rows, out->data, error))
    return FALSE;
  if (algorithm->finish)
    algorithm->finish(self->gridder, out->data);
  return TRUE;
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gpointer arguments, GError **error)
{
  return n_in ? add_dump(instance, in, n_out ? out->data : NULL, arguments, error)
              : fill_plane(instance, out, arguments, error);
}

void astro_collect_end(AstroCollect *self)
{
  if (self->config.cumulative)
    return;
  astro_prepare_drop_rows(self->prepare);
  astro_prepare_reset_counts(self->prepare);
}

void astro_collect_add_missing(AstroCollect *self)
{
  astro_prepare_add_missing(self->prepare);
}

/* ---- what is told ---- */

const AstroGridCounts *astro_collect_counts(AstroCollect *self)
{
  return astro_prepare_counts(self->prepare);
}

void astro_collect_sums(AstroCollect *self, double *sums)
{
  const double *all = astro_prepare_sums(self->prepare);
  const guint channels = self->config.prepare.channels;
  for (guint i = 0; i < self->config.gridder.channels; i++)
    sums[i] = 0;
  for (guint c = 0; c < channels; c++)
    sums[self->config.per_channel ? c : 0] += all[c];
}

double astro_collect_longest(AstroCollect *self)
{
  return self->config.gridder.longest;
}

const AstroBackend astro_gridder_reference = {
  .stage = "gridder",
  .kind = ASTRO_BACKEND_REFERENCE,
  .config_bytes = sizeof(AstroCollectConfig),
  .shape = shape,
  .create = create_reference,
  .submit = submit,
  .destroy = destroy,
};

const AstroBackend astro_gridder_cpu = {
  .stage = "gridder",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(AstroCollectConfig),
  .shape = shape,
  .create = create,
  .submit = submit,
  .destroy = destroy,
};

const AstroBackend *const astro_gridder_backends[] = { &astro_gridder_reference, &astro_gridder_cpu,
                                                       NULL };
