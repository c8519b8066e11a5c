/* Fills a folder under a temporary name and renames it when it is complete. NAME.part holds a lock,
 * and the folder itself as NAME.part/whole: casacore and others insist on making their folder. */
#define _GNU_SOURCE
#include "core/lib/files/part-folder.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/kit/fail.h"

#define INSIDE "whole"
#define MOST_OPEN 16 /* folders open at once while one is removed */

struct _AstroPartFolder {
  char *path, *part, *inside;
  int lock; /* of the folder NAME.part */
};

static gboolean fail(GError **error, const char *doing, const char *path, int cause)
{
  return astro_fail(error, G_IO_ERROR, g_io_error_from_errno(cause), "cannot %s %s: %s", doing,
                    path, g_strerror(cause));
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
  (void)about, (void)kind, (void)where;
  return remove(path);
}

/* Links in it are removed, and not what they point to. */
static void remove_all(const char *path)
{
  nftw(path, remove_one, MOST_OPEN, FTW_DEPTH | FTW_PHYS);
}

static gboolean has_file(const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename(folder, name, NULL);
  return g_file_test(path, G_FILE_TEST_IS_REGULAR);
}

static gboolean check_name(const char *path, const char *mark, GError **error)
{
  struct stat there;
  if (stat(path, &there) < 0 || (S_ISDIR(there.st_mode) && has_file(path, mark)))
    return TRUE;
  return astro_fail(error, G_IO_ERROR, G_IO_ERROR_EXISTS,
                    "cannot create %s: found %s, expected nothing, or a folder with a file %s, "
                    "which is replaced: choose another name",
                    path, S_ISDIR(there.st_mode) ? "a folder of another kind" : "a file", mark);
}

/* A folder that somebody else put there under the part's name is neither used nor emptied: ours
 * holds nothing but what we make. */
static gboolean check_left_part(const char *part, GError **error)
{
  struct stat there;
  g_autoptr(GDir) entries = NULL;
  const char *name;
  gboolean is_ours = lstat(part, &there) == 0 && S_ISDIR(there.st_mode) &&
                     there.st_uid == geteuid() && (entries = g_dir_open(part, 0, NULL));
  while (is_ours && (name = g_dir_read_name(entries)))
    is_ours = g_str_equal(name, INSIDE);
  return is_ours ||
         astro_fail(error, G_IO_ERROR, G_IO_ERROR_EXISTS,
                    "cannot create %s: found something else, expected nothing or an unfinished "
                    "folder of this program: remove it or choose another name",
                    part);
}

/* The lock of a writer that was killed is gone with it. */
static gboolean take_part(AstroPartFolder *f, GError **error)
{
  if (g_mkdir(f->part, 0777) < 0 && errno != EEXIST)
    return fail(error, "create", f->part, errno);
  if (!check_left_part(f->part, error))
    return FALSE;
  f->lock = g_open(f->part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
  if (f->lock < 0)
    return fail(error, "open", f->part, errno);
  if (flock(f->lock, LOCK_EX | LOCK_NB) < 0)
    return astro_fail(error, G_IO_ERROR, G_IO_ERROR_BUSY,
                      "cannot create %s: another writer is using it", f->part);
  remove_all(f->inside);
  return TRUE;
}

static void forget(AstroPartFolder *f)
{
  if (f->lock >= 0)
    close(f->lock);
  g_free(f->path);
  g_free(f->part);
  g_free(f->inside);
  g_free(f);
}

AstroPartFolder *astro_part_folder_create(const char *name, const char *mark, GError **error)
{
  g_autofree char *path = g_canonicalize_filename(name, NULL);
  g_autofree char *real = realpath(path, NULL);
  AstroPartFolder *f = g_new0(AstroPartFolder, 1);
  f->path = g_strdup(real ? real : path);
  f->part = g_strconcat(f->path, ".part", NULL);
  f->inside = g_build_filename(f->part, INSIDE, NULL);
  f->lock = -1;
  if (check_name(f->path, mark, error) && take_part(f, error))
    return f;
  forget(f);
  return NULL;
}

const char *astro_part_folder_path(const AstroPartFolder *folder)
{
  return folder->inside;
}

/* Both names change at once where the file system can do that, so that one of the folders is there
 * under the name at any time. */
static gboolean put_in_place(AstroPartFolder *f, GError **error)
{
  if (g_rename(f->inside, f->path) == 0 ||
      ((errno == ENOTEMPTY || errno == EEXIST) &&
       renameat2(AT_FDCWD, f->inside, AT_FDCWD, f->path, RENAME_EXCHANGE) == 0))
    return TRUE;
  return astro_fail(error, G_IO_ERROR, g_io_error_from_errno(errno), "cannot rename %s to %s: %s",
                    f->inside, f->path, g_strerror(errno));
}

gboolean astro_part_folder_commit(AstroPartFolder *folder, GError **error)
{
  const gboolean done = put_in_place(folder, error);
  astro_part_folder_discard(folder);
  return done;
}

void astro_part_folder_discard(AstroPartFolder *folder)
{
  remove_all(folder->part);
  forget(folder);
}
