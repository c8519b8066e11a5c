/* How much memory a stage may plan with: a user's share of what there is. */
#pragma once

#include <glib.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

/* Bytes that this process can still get: of the machine's memory, of its group's (cgroup) and of
 * its own limit (ulimit -v), whichever is the least. */
guint64 astro_memory_there(void);

#define ASTRO_BUDGET_DEFAULT "0.7"
#define ASTRO_BUDGET_HELP                                                                          \
  "Memory to plan with: a fraction of what there is at the start (0.7), or bytes (8G, 500M)"

/* Reads such a text. */
gboolean astro_memory_budget(const char *text, guint64 *bytes, GError **error);

ASTRO_END_DECLS
