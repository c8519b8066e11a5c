/* Makes instances that begin with a copy of the configuration. */
#include "config.h"
#include "core/backend/instance.h"

#include <string.h>

gpointer astro_instance_new(const AstroBackend *backend, gsize bytes, gconstpointer config,
                            GError **error)
{
  g_assert(bytes >= backend->config_bytes);
  if (!backend->shape(config, error))
    return NULL;
  gpointer instance = g_malloc0(bytes);
  memcpy(instance, config, backend->config_bytes);
  return instance;
}
