/* Temporary files without a name, which vanish when they are closed, however a program ends. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* In the folder for temporary files; pattern is that of g_file_open_tmp. -1: the error says why. */
int astro_nameless_file(const char *pattern, GError **error);

/* Moves all bytes from or to a place in a file. 0, or the errno of the failure; EIO where the file
 * has fewer bytes than are to be read. */
int astro_write_at(int fd, gconstpointer data, gsize bytes, guint64 at);
int astro_read_at(int fd, gpointer data, gsize bytes, guint64 at);

G_END_DECLS
