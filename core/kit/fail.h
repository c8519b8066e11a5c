/* Sets an error and returns FALSE in one call, so that a check can return it. */
#pragma once

#include <glib.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

gboolean astro_fail(GError **error, GQuark domain, gint code, const char *format, ...)
    G_GNUC_PRINTF(4, 5);

ASTRO_END_DECLS
