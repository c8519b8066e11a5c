/* Binaries of programs in the user's cache, so that a device's compiler runs once for each program.
 */
#pragma once

#include <glib.h>

/* The binary that was kept under this key; NULL: there is none, or its checksum is wrong, as after
 * a full disk: it is made anew then. */
GBytes *astro_opencl_cache_read(const char *key);
/* Keeps a binary. A cache that cannot be written costs time at the next start, and nothing else. */
void astro_opencl_cache_write(const char *key, gconstpointer binary, gsize bytes);
