/* What gzip packs, from one descriptor to another. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Both go on from where the descriptors are; errors (G_IO_ERROR) name no file. Files that gzip
 * packed may follow each other in one; what follows them else is passed over. Unpacking can be
 * given up (core/backend/threads.h). */
gboolean astro_gzip_unpack(int from, int to, GError **error);
gboolean astro_gzip_pack(int from, int to, GError **error);

/* Whether bytes are the beginning of what gzip packed. */
#define ASTRO_GZIP_BEGINNING 2
gboolean astro_gzip_is_packed(const guint8 *bytes, gsize n);
/* Whether a file of that name is one that gzip packed. */
gboolean astro_gzip_is_name(const char *name);

G_END_DECLS
