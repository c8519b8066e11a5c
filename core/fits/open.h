/* Files as bytes that can be read anywhere. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A descriptor of a regular file, -1 with an error. What gzip packed is unpacked into a file
 * without a name, so that its size costs no memory. */
int astro_fits_open(const char *path, GError **error);
/* Whether there is such a file, in no time: nothing of it is read. */
gboolean astro_fits_can_be_opened(const char *path, GError **error);

G_END_DECLS
