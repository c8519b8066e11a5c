/* How most host backends begin their instances: with a copy of the configuration. */
#pragma once

#include "core/backend/backend.h"

ASTRO_BEGIN_DECLS

/* For create: allocates an instance of the given size, all zero except for a copy of the
 * configuration at its start; freed with g_free. NULL, with error set, if the backend's shape
 * refuses the configuration. */
gpointer astro_instance_new(const AstroBackend *backend, gsize bytes, gconstpointer config,
                            GError **error);

ASTRO_END_DECLS
