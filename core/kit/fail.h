/* Setting an error and returning FALSE in one, for checks to return. */
#pragma once

#include <glib.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

gboolean astro_fail(GError **error, GQuark domain, gint code, const char *format, ...)
    G_GNUC_PRINTF(4, 5);

ASTRO_END_DECLS
