/* A folder that gets its name only when it is complete: it is filled as NAME.part beside it, and
 * renamed at the end. It replaces a folder of that name, if the caller says that it may. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _AstroPartFolder AstroPartFolder;

/* mark: a file that every such folder has, by which one that may be replaced is known. Refuses: a
 * name that belongs to something else, and a NAME.part that another writer is using, or that no
 * writer left behind. If NAME is a symbolic link, what it points to is replaced. */
AstroPartFolder *astro_part_folder_create(const char *name, const char *mark, GError **error);
/* The name of a folder in NAME.part, which does not exist yet: the caller makes it. */
const char *astro_part_folder_path(const AstroPartFolder *folder);
/* Both free the folder, whether they succeed or not. */
gboolean astro_part_folder_commit(AstroPartFolder *folder, GError **error);
void astro_part_folder_discard(AstroPartFolder *folder);

G_END_DECLS
