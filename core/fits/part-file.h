/* A file that comes into being under its name only when it is whole: written as NAME.part beside it
 * and renamed at the end. Where the name ends in .gz, it is packed at the end, as gzip does. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _AstroPartFile AstroPartFile;

/* Refuses names of things that are no regular files, which a rename would replace, links that lead
 * nowhere but round, a part that another writer holds, and what is no part but has its name: a
 * link, a file of another user's or with other names. A symbolic link of the final name stays: what
 * it leads to is written. */
AstroPartFile *astro_part_file_create(const char *name, GError **error);
gboolean astro_part_file_write(AstroPartFile *file, gconstpointer data, gsize bytes,
                               GError **error);
/* Overwrites what was written before. */
gboolean astro_part_file_patch(AstroPartFile *file, guint64 at, gconstpointer data, gsize bytes,
                               GError **error);
guint64 astro_part_file_bytes(const AstroPartFile *file); /* written so far */
/* Both end the file, whether they succeed or not. */
gboolean astro_part_file_commit(AstroPartFile *file, GError **error);
void astro_part_file_discard(AstroPartFile *file);

G_END_DECLS
