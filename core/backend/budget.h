/* How much memory a stage may plan with: a user's share of what there is. */
#pragma once

#include <glib.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

/* Bytes that this process can still get: of the machine's memory, of its group's (cgroup) and of
 * its own limit (ulimit -v), whichever is the least. */
guint64 astro_memory_there(void);

/* How many bytes a variable of the environment allows: a number of bytes, or of K, M or G. It makes
 * a device look smaller, and is read at every call, so that a test may change it between calls. All
 * there are if it is not set, or is no such number, of which it warns once. */
gsize astro_memory_limit(const char *variable);

#define ASTRO_BUDGET_DEFAULT "0.7"
#define ASTRO_BUDGET_HELP                                                                          \
  "Memory to plan with: a fraction of what there is at the start (0.7), or bytes (8G, 500M)"

/* Reads such a text. */
gboolean astro_memory_budget(const char *text, guint64 *bytes, GError **error);

ASTRO_END_DECLS
