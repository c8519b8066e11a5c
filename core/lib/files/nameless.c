/* Temporary files without a name. */
#include "config.h"
#include "core/lib/files/nameless.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <unistd.h>

int astro_nameless_file(const char *pattern, GError **error)
{
  g_autofree char *name = NULL;
  const int fd = g_file_open_tmp(pattern, &name, error);
  if (fd >= 0)
    g_unlink(name);
  return fd;
}

int astro_write_at(int fd, gconstpointer data, gsize bytes, guint64 at)
{
  for (gsize done = 0; done < bytes;) {
    const gssize n = pwrite(fd, (const char *)data + done, bytes - done, (off_t)(at + done));
    if (n < 0 && errno != EINTR)
      return errno;
    done += MAX(n, 0);
  }
  return 0;
}

int astro_read_at(int fd, gpointer data, gsize bytes, guint64 at)
{
  for (gsize done = 0; done < bytes;) {
    const gssize n = pread(fd, (char *)data + done, bytes - done, (off_t)(at + done));
    if (n == 0 || (n < 0 && errno != EINTR))
      return n == 0 ? EIO : errno;
    done += MAX(n, 0);
  }
  return 0;
}
