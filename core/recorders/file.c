/* A file that is read at any place, through a window if it is read in small pieces. */
#include "config.h"
#include "core/recorders/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* A window that stays in the second cache is copied from twice as fast as from memory. */
#define WINDOW ((gsize)256 << 10)

AstroRecorderFile *astro_recorder_file_open(const char *name, GError **error)
{
  struct stat about;
  const int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 || fstat(fd, &about) != 0) {
    astro_recorder_fail(error, OPEN, "%s: cannot be opened: %s", name, g_strerror(errno));
    if (fd >= 0)
      close(fd);
    return NULL;
  }
  if (!S_ISREG(about.st_mode)) {
    astro_recorder_fail(error, OPEN,
                        "%s: found %s, expected a file: a recording is read at any "
                        "place",
                        name, S_ISDIR(about.st_mode) ? "a folder" : "a pipe or a device");
    close(fd);
    return NULL;
  }
  AstroRecorderFile *file = g_new0(AstroRecorderFile, 1);
  file->name = g_strdup(name);
  file->fd = fd;
  file->size = (guint64)about.st_size;
  return file;
}

void astro_recorder_file_close(AstroRecorderFile *file)
{
  close(file->fd);
  g_free(file->window);
  g_free(file->name);
  g_free(file);
}

/* Reads up to n bytes, fewer at the end of the file only. */
static gboolean read_some(AstroRecorderFile *file, guint64 at, guint8 *to, gsize n, gsize *got,
                          GError **error)
{
  *got = 0;
  while (*got < n) {
    const gssize came = pread(file->fd, to + *got, n - *got, (off_t)(at + *got));
    if (came < 0 && errno == EINTR)
      continue;
    if (came < 0)
      return astro_recorder_fail(error, READ, "%s: cannot be read: %s", file->name,
                                 g_strerror(errno));
    if (came == 0)
      break;
    *got += (gsize)came;
  }
  return TRUE;
}

const guint8 *astro_recorder_file_bytes(AstroRecorderFile *file, guint64 at, gsize n, gsize *got,
                                        GError **error)
{
  const guint64 end = file->window_at + file->window_bytes;
  *got = 0;
  if (!file->window || at < file->window_at || at > end || (n > end - at && end < file->size)) {
    const gsize room = MAX(n, WINDOW);
    if (room > file->window_room) {
      g_free(file->window);
      file->window_room = 0;
      file->window_bytes = 0;
      file->window = g_try_malloc(room);
      if (!file->window) {
        astro_recorder_fail(error, READ, "%s: no memory for %zu bytes", file->name, room);
        return NULL;
      }
      file->window_room = room;
    }
    file->window_bytes = 0;
    if (!read_some(file, at, file->window, room, &file->window_bytes, error))
      return NULL;
    file->window_at = at;
  }
  *got = (gsize)MIN(n, file->window_at + file->window_bytes - at);
  return file->window + (at - file->window_at);
}

gboolean astro_recorder_file_read(AstroRecorderFile *file, guint64 at, gpointer to, gsize n,
                                  GError **error)
{
  gsize got;
  return read_some(file, at, to, n, &got, error) &&
         (got == n ||
          astro_recorder_fail(error, READ, "%s: it became shorter while it was read", file->name));
}
