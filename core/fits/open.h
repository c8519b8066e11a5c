/* Files as bytes that can be read anywhere. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A descriptor of a regular file, -1 with an error. What gzip packed is unpacked into a file
 * without a name, so that its size costs no memory. */
int astro_fits_open(const char *path, GError **error);

G_END_DECLS
