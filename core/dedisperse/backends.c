/* The backends of dedispersion, each of which has one half for power and one for coherent work. */
#include "config.h"
#include "core/dedisperse/check.h"
#include "core/dedisperse/coherent.h"

typedef struct {
  const AstroBackend *half;
  gpointer instance;
} Instance;

static gboolean is_coherent(gconstpointer config)
{
  return ((const AstroDedisperseConfig *)config)->coherent;
}

static gboolean shape(gconstpointer config, GError **error)
{
  return (is_coherent(config) ? astro_dedisperse_coherent_shape
                              : astro_dedisperse_power_shape)(config, error);
}

static gpointer create(const AstroBackend *half, gconstpointer config, const AstroPlace *place,
                       const char **variant, GError **error)
{
  gpointer instance = half->create(config, place, variant, error);
  if (!instance)
    return NULL;
  Instance *self = g_new(Instance, 1);
  *self = (Instance){ half, instance };
  return self;
}

static gpointer create_cpu(gconstpointer config, const AstroPlace *place, const char **variant,
                           GError **error)
{
  return create(is_coherent(config) ? &astro_dedisperse_coherent_cpu : &astro_dedisperse_power_cpu,
                config, place, variant, error);
}

static gpointer create_reference(gconstpointer config, const AstroPlace *place,
                                 const char **variant, GError **error)
{
  return create(is_coherent(config) ? &astro_dedisperse_coherent_reference
                                    : &astro_dedisperse_power_reference,
                config, place, variant, error);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer arguments, AstroResult *result, GError **error)
{
  Instance *self = instance;
  return self->half->submit(self->instance, in, n_in, out, n_out, arguments, result, error);
}

static void destroy(gpointer instance)
{
  Instance *self = instance;
  self->half->destroy(self->instance);
  g_free(self);
}

const AstroBackend astro_dedisperse_cpu = {
  .stage = "dedisperse",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(AstroDedisperseConfig),
  .shape = shape,
  .create = create_cpu,
  .submit = submit,
  .destroy = destroy,
};

const AstroBackend astro_dedisperse_reference = {
  .stage = "dedisperse",
  .kind = ASTRO_BACKEND_REFERENCE,
  .config_bytes = sizeof(AstroDedisperseConfig),
  .shape = shape,
  .create = create_reference,
  .submit = submit,
  .destroy = destroy,
};

const AstroBackend *const astro_dedisperse_backends[] = { &astro_dedisperse_cpu,
                                                          &astro_dedisperse_reference, NULL };
