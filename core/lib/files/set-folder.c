/* Folders that are Measurement Sets. */
#include "config.h"
#include "core/lib/files/set-folder.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define TABLE "table.dat"
/* casacore writes the kind of a table as a text, with its length in front, near the beginning. */
#define KIND "\0\0\0\x8RefTable"
#define BEGINNING 64

gboolean astro_set_folder_is_selection(const char *name)
{
  g_autofree char *table = g_build_filename(name, TABLE, NULL);
  guint8 bytes[BEGINNING];
  const int fd = g_open(table, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return FALSE;
  const gssize n = read(fd, bytes, sizeof bytes);
  close(fd);
  return n > 0 && memmem(bytes, (gsize)n, KIND, sizeof KIND - 1) != NULL;
}

gboolean astro_set_folder_is(const char *name)
{
  g_autofree char *mark = g_build_filename(name, ASTRO_SET_FOLDER_MARK, NULL);
  return g_file_test(mark, G_FILE_TEST_IS_REGULAR) || astro_set_folder_is_selection(name);
}
