/* Instances as most backends on the host begin them: with a copy of the configuration. */
#pragma once

#include "core/backend/backend.h"

ASTRO_BEGIN_DECLS

/* For create: an instance of so many bytes, zeros but for the configuration that it begins with, to
 * be freed with g_free. NULL and the error: the backend's shape does not take that. */
gpointer astro_instance_new(const AstroBackend *backend, gsize bytes, gconstpointer config,
                            GError **error);

ASTRO_END_DECLS
