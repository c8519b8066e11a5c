/* A file that gets its name only when it is complete: it is written as NAME.part beside it and
 * renamed at the end. If the name ends in .gz, it is packed with gzip at the end. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _AstroPartFile AstroPartFile;

/* Refuses: a name that belongs to something other than a regular file, which the rename would
 * replace; a symbolic link that leads back to itself; a NAME.part that another writer is using; and
 * a NAME.part that no writer left behind: a link, a file of another user, or one with further
 * names. If NAME is a symbolic link, the file it points to is written and the link stays. */
AstroPartFile *astro_part_file_create(const char *name, GError **error);
gboolean astro_part_file_write(AstroPartFile *file, gconstpointer data, gsize bytes,
                               GError **error);
/* Overwrites bytes that were written before. */
gboolean astro_part_file_patch(AstroPartFile *file, guint64 at, gconstpointer data, gsize bytes,
                               GError **error);
/* NAME.part, for a library that writes to it itself, instead of the functions above. */
const char *astro_part_file_name(const AstroPartFile *file);
guint64 astro_part_file_bytes(const AstroPartFile *file); /* bytes written so far */
/* Both free the file, whether they succeed or not. */
gboolean astro_part_file_commit(AstroPartFile *file, GError **error);
void astro_part_file_discard(AstroPartFile *file);

G_END_DECLS
