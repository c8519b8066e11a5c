/* Opens regular files, and unpacks those that gzip packed. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A descriptor of a regular file, or -1 with an error. A gzip file is unpacked into a nameless
 * temporary file, so that its size takes no memory. */
int astro_fits_open(const char *path, GError **error);
/* Whether the file can be opened; reads nothing of it, and so takes no time. */
gboolean astro_fits_can_be_opened(const char *path, GError **error);

G_END_DECLS
