/* Writes a file under a temporary name and renames it when it is complete. */
#include "core/lib/files/part-file.h"
#include "core/lib/files/gzip.h"
#include "core/lib/files/write-all.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Small writes are gathered, so that a file of short records does not cost a system call for each.
 */
#define GATHER (1u << 20)
#define MOST_LINKS 40 /* followed from one to the next, as in Linux */
#define MOST_TRIES 16 /* if other writers come and go under the same name */

struct _AstroPartFile {
  char *path, *part;
  int fd;        /* bytes are written here: the part, or what is packed into it at the end */
  int part_fd;   /* has the lock */
  guint64 bytes; /* written or gathered */
  gsize gathered;
  guint8 gather[GATHER];
};

static void set_error(GError **error, const char *doing, const char *path, int cause)
{
  g_set_error(error, G_IO_ERROR, g_io_error_from_errno(cause), "cannot %s %s: %s", doing, path,
              g_strerror(cause));
}

static gboolean write_all(AstroPartFile *file, const guint8 *data, gsize bytes, GError **error)
{
  const int cause = astro_write_all(file->fd, data, bytes);
  if (cause)
    set_error(error, "write to", file->part, cause);
  return !cause;
}

static gboolean flush(AstroPartFile *file, GError **error)
{
  gsize bytes = file->gathered;
  file->gathered = 0;
  return write_all(file, file->gather, bytes, error);
}

/* The target of a symbolic link, which need not exist: a rename would replace the link itself. */
static char *follow(const char *path)
{
  char *name = g_strdup(path);
  char *link;
  for (guint i = 0; i < MOST_LINKS && (link = g_file_read_link(name, NULL)); i++) {
    g_autofree char *folder = g_path_get_dirname(name);
    g_free(name);
    name = g_path_is_absolute(link) ? g_strdup(link) : g_build_filename(folder, link, NULL);
    g_free(link);
  }
  return name;
}

/* A file that somebody else put there under the part's name is neither followed nor emptied. */
static gboolean check_left_part(const struct stat *there, const char *part, GError **error)
{
  const char *found = !S_ISREG(there->st_mode)     ? "something other than a regular file"
                      : there->st_uid != geteuid() ? "a file of another user"
                      : there->st_nlink > 1        ? "a file with other hard links"
                                                   : NULL;
  if (!found)
    return TRUE;
  g_set_error(
      error, G_IO_ERROR, G_IO_ERROR_EXISTS,
      "cannot create %s: found %s, expected nothing or an unfinished file of this program: remove "
      "it or choose another name",
      part, found);
  return FALSE;
}

/* A descriptor of the part, either new or left behind by a killed writer; -1 with an error. Opening
 * a FIFO does not wait for its other end. */
static int open_or_make(const char *part, GError **error)
{
  int fd = -1;
  struct stat there;
  for (guint i = 0; fd < 0 && i < MOST_TRIES; i++) {
    if ((fd = g_open(part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) >= 0)
      return fd;
    if (errno != EEXIST)
      break;
    fd = g_open(part, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (fd < 0 && errno != ENOENT)
      break;
  }
  if (fd < 0) {
    const int cause = errno;
    if (cause == ELOOP)
      g_set_error(error, G_IO_ERROR, G_IO_ERROR_EXISTS,
                  "cannot create %s: found a symbolic link, which is not followed: remove it or "
                  "choose another name",
                  part);
    else
      set_error(error, "create", part, cause);
    return -1;
  }
  if (fstat(fd, &there) == 0 && check_left_part(&there, part, error))
    return fd;
  close(fd);
  return -1;
}

/* Whether the opened file still has this name: a writer that ended in between has renamed it. */
static gboolean has_name(int fd, const char *part)
{
  struct stat open, named;
  return fstat(fd, &open) == 0 && lstat(part, &named) == 0 && open.st_dev == named.st_dev &&
         open.st_ino == named.st_ino;
}

/* The file is locked before it is emptied, so that the part of a writer still at work stays whole.
 */
static int open_part(const char *part, GError **error)
{
  for (guint i = 0; i < MOST_TRIES; i++) {
    int fd = open_or_make(part, error);
    if (fd < 0)
      return -1;
    const gboolean is_held = flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    if (!is_held && has_name(fd, part)) {
      if (ftruncate(fd, 0) == 0)
        return fd;
      set_error(error, "empty", part, errno);
      close(fd);
      return -1;
    }
    close(fd);
    if (is_held)
      break;
  }
  g_set_error(error, G_IO_ERROR, G_IO_ERROR_BUSY, "cannot create %s: another writer is using it",
              part);
  return -1;
}

/* Bytes may be overwritten until the end, so that packing must wait until then: until then they are
 * in a nameless file beside the part. */
static int open_plain(const char *part, GError **error)
{
  g_autofree char *name = g_strconcat(part, ".XXXXXX", NULL);
  int fd = g_mkstemp_full(name, O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0)
    set_error(error, "create", name, errno);
  else
    g_unlink(name);
  return fd;
}

AstroPartFile *astro_part_file_create(const char *name, GError **error)
{
  struct stat there;
  const gboolean is_there = stat(name, &there) == 0;
  if (!is_there && errno == ELOOP) {
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_TOO_MANY_LINKS,
                "cannot create %s: it is a symbolic link that leads back to itself", name);
    return NULL;
  }
  if (is_there && !S_ISREG(there.st_mode)) {
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE,
                "cannot create %s: it exists and is not a regular file", name);
    return NULL;
  }
  g_autofree char *path = follow(name);
  g_autofree char *part = g_strconcat(path, ".part", NULL);
  int part_fd = open_part(part, error);
  if (part_fd < 0)
    return NULL;
  int fd = astro_gzip_is_name(name) ? open_plain(part, error) : part_fd;
  if (fd < 0) {
    g_unlink(part);
    close(part_fd);
    return NULL;
  }
  AstroPartFile *file = g_new(AstroPartFile, 1);
  file->path = g_steal_pointer(&path);
  file->part = g_steal_pointer(&part);
  file->fd = fd;
  file->part_fd = part_fd;
  file->bytes = 0;
  file->gathered = 0;
  return file;
}

gboolean astro_part_file_write(AstroPartFile *file, gconstpointer data, gsize bytes, GError **error)
{
  file->bytes += bytes;
  if (file->gathered + bytes > GATHER && !flush(file, error))
    return FALSE;
  if (bytes >= GATHER)
    return write_all(file, data, bytes, error);
  memcpy(file->gather + file->gathered, data, bytes);
  file->gathered += bytes;
  return TRUE;
}

gboolean astro_part_file_patch(AstroPartFile *file, guint64 at, gconstpointer data, gsize bytes,
                               GError **error)
{
  if (!flush(file, error))
    return FALSE;
  gssize done = pwrite(file->fd, data, bytes, at);
  if (done != (gssize)bytes)
    set_error(error, "write to", file->part, done < 0 ? errno : ENOSPC);
  return done == (gssize)bytes;
}

const char *astro_part_file_name(const AstroPartFile *file)
{
  return file->part;
}

guint64 astro_part_file_bytes(const AstroPartFile *file)
{
  return file->bytes;
}

static void forget(AstroPartFile *file)
{
  if (file->fd != file->part_fd)
    close(file->fd);
  close(file->part_fd);
  g_free(file->path);
  g_free(file->part);
  g_free(file);
}

static gboolean pack(AstroPartFile *file, GError **error)
{
  if (file->fd == file->part_fd)
    return TRUE;
  lseek(file->fd, 0, SEEK_SET); /* cannot fail for a regular file */
  if (astro_gzip_pack(file->fd, file->part_fd, error))
    return TRUE;
  g_prefix_error(error, "cannot write to %s: ", file->part);
  return FALSE;
}

gboolean astro_part_file_commit(AstroPartFile *file, GError **error)
{
  gboolean written = flush(file, error) && pack(file, error);
  if (written && fsync(file->part_fd) < 0) {
    set_error(error, "write to", file->part, errno);
    written = FALSE;
  }
  if (written && g_rename(file->part, file->path) < 0) {
    g_set_error(error, G_IO_ERROR, g_io_error_from_errno(errno), "cannot rename %s to %s: %s",
                file->part, file->path, g_strerror(errno));
    written = FALSE;
  }
  if (!written)
    g_unlink(file->part);
  forget(file);
  return written;
}

void astro_part_file_discard(AstroPartFile *file)
{
  g_unlink(file->part);
  forget(file);
}
