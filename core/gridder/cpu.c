/* The backends of the stage "gridder" on the host: reference and cpu. */
#include "config.h"
#include "core/gridder/backend.h"
#include "core/kit/add-values.h"

#include <string.h>

static gboolean shape(gconstpointer configuration, GError **error)
{
  const AstroGridderConfig *config = configuration;
  return astro_gridder_fits(config, config->algorithm->bytes(&config->gridder, &config->grid),
                            astro_host_memory(), "this machine", error);
}

/* ---- their parts ---- */

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

static gboolean sum(const AstroPlace *place, gpointer to, gconstpointer from, gsize bytes,
                    gboolean is_double, GError **error)
{
  astro_add_values(to, from, bytes, is_double);
  return TRUE;
}

static const AstroGridAlgorithm *const algorithms[] = { &astro_wstacking, &astro_wprojection,
                                                        &astro_direct, NULL };

static const AstroGridderParts host = {
  .prepare = &astro_prepare_funcs,
  .algorithms = algorithms,
  .zero = zero,
  .copy = copy,
  .sum = sum,
};

/* ---- backends ---- */

static gpointer create_of(const AstroGridderConfig *config, const AstroPlace *place,
                          gboolean is_reference, const char **variant)
{
  AstroGridderConfig whole = *config;
  whole.gridder.is_reference = is_reference;
  *variant = config->algorithm->name;
  return astro_gridder_backend_new(&whole, place, &host);
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

const AstroBackend astro_gridder_reference = {
  .stage = "gridder",
  .kind = ASTRO_BACKEND_REFERENCE,
  .config_bytes = sizeof(AstroGridderConfig),
  .shape = shape,
  .create = create_reference,
  .submit = astro_gridder_backend_submit,
  .destroy = astro_gridder_backend_free,
};

const AstroBackend astro_gridder_cpu = {
  .stage = "gridder",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(AstroGridderConfig),
  .shape = shape,
  .create = create,
  .submit = astro_gridder_backend_submit,
  .destroy = astro_gridder_backend_free,
  .parts = &host,
};

const AstroBackend *const astro_gridder_backends[] = { &astro_gridder_reference, &astro_gridder_cpu,
                                                       NULL };
