/* Devices that a user names: "0,1", or all. */
#pragma once

#include <glib.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

#define ASTRO_MOST_DEVICES 16

/* The devices in a list of indices or ranges ("0,2-3"), or all n of them for "all"; the same one
 * may be named twice. Returns how many, 0 with an error that says what was found and expected. */
guint astro_device_list_parse(const char *text, gint n, gint indices[ASTRO_MOST_DEVICES],
                              GError **error);

ASTRO_END_DECLS
