/* Collecting on the host: the backends reference and cpu. */
#include "config.h"
#include "core/gridder/collect.h"

#include <string.h>

static gboolean shape(gconstpointer configuration, GError **error)
{
  const AstroCollectConfig *config = configuration;
  return astro_collect_fits(config, config->algorithm->bytes(&config->gridder, &config->grid),
                            astro_host_memory(), "this machine", error);
}

/* ---- where it happens ---- */

static AstroGridding *create_gridder(const AstroCollectConfig *config, const AstroPlace *place,
                                     GError **error)
{
  const char *variant;
  return config->algorithm->create(&config->gridder, &config->grid, &variant, error);
}

static gboolean begin(const AstroGridAlgorithm *algorithm, AstroGridding *gridder,
                      const AstroGridRows *rows, guint *planes, GError **error)
{
  return algorithm->begin(gridder, rows, planes, error);
}

static gboolean plane(const AstroGridAlgorithm *algorithm, AstroGridding *gridder, gpointer grid,
                      guint8 *touched, double *w, double *w_step, GError **error)
{
  algorithm->plane(gridder, grid, touched, w, w_step);
  return TRUE;
}

static gboolean add(const AstroGridAlgorithm *algorithm, AstroGridding *gridder,
                    const AstroGridRows *rows, gpointer grid, GError **error)
{
  return algorithm->add(gridder, rows, grid, error);
}

static gboolean finish(const AstroGridAlgorithm *algorithm, AstroGridding *gridder, gpointer grid,
                       GError **error)
{
  if (algorithm->finish)
    algorithm->finish(gridder, grid);
  return TRUE;
}

static void destroy_gridder(const AstroGridAlgorithm *algorithm, AstroGridding *gridder)
{
  algorithm->destroy(gridder);
}

static gboolean zero(const AstroPlace *place, gpointer grid, gsize bytes, GError **error)
{
  memset(grid, 0, bytes);
  return TRUE;
}

static gboolean copy(const AstroPlace *place, gpointer to, gconstpointer from, gsize bytes,
                     GError **error)
{
  memcpy(to, from, bytes);
  return TRUE;
}

static const AstroCollectFuncs funcs = {
  .prepare = &astro_prepare_funcs,
  .create = create_gridder,
  .begin = begin,
  .plane = plane,
  .add = add,
  .finish = finish,
  .destroy = destroy_gridder,
  .zero = zero,
  .copy = copy,
};

/* ---- backends ---- */

static gpointer create_of(const AstroCollectConfig *config, const AstroPlace *place,
                          gboolean is_reference, const char **variant)
{
  AstroCollectConfig whole = *config;
  whole.gridder.is_reference = is_reference;
  *variant = config->algorithm->name;
  return astro_collect_new(&whole, place, &funcs);
}

static gpointer create_reference(gconstpointer config, const AstroPlace *place,
                                 const char **variant, GError **error)
{
  return create_of(config, place, TRUE, variant);
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  return create_of(config, place, FALSE, variant);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer arguments, AstroResult *result, GError **error)
{
  return astro_collect_submit(instance, in, n_in, out, n_out, arguments, result, error);
}

static void destroy(gpointer instance)
{
  astro_collect_free(instance);
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
