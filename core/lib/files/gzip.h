/* Packs and unpacks gzip, from one file descriptor to another. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Both start at the descriptors' positions; errors (G_IO_ERROR) do not name the file. Several
 * packed files may follow each other; anything else after them is ignored. Unpacking can be given
 * up (core/backend/threads.h). */
gboolean astro_gzip_unpack(int from, int to, GError **error);
gboolean astro_gzip_pack(int from, int to, GError **error);

/* Whether bytes are the start of a gzip file. */
#define ASTRO_GZIP_BEGINNING 2
gboolean astro_gzip_is_packed(const guint8 *bytes, gsize n);
/* Whether a file name ends as those of gzip do. */
gboolean astro_gzip_is_name(const char *name);

G_END_DECLS
