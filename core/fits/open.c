/* Opens regular files, and unpacks those that gzip packed. */
#include "core/fits/open.h"
#include "core/backend/backend.h"
#include "core/fits/fits.h"
#include "core/fits/foreign.h"
#include "core/lib/files/gzip.h"
#include "core/lib/files/nameless.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

static gboolean refuse(GError **error, AstroFitsError code, const char *doing, const char *path,
                       const char *why)
{
  g_set_error(error, ASTRO_FITS_ERROR, code, "cannot %s %s: %s", doing, path, why);
  return FALSE;
}

/* A folder may be the data set of another program. */
static gboolean refuse_kind(GError **error, const char *path, const struct stat *there)
{
  const char *told = S_ISDIR(there->st_mode) ? astro_foreign_folder(path) : NULL;
  if (!told)
    return refuse(error, ASTRO_FITS_ERROR_OPEN, "open", path, "it is not a regular file");
  return astro_fail(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_OPEN, "%s is %s", path, told);
}

static gboolean unpack(int from, int to, const char *path, GError **error)
{
  g_autoptr(GError) why = NULL;
  if (astro_gzip_unpack(from, to, &why))
    return TRUE;
  if (g_error_matches(why, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_GIVEN_UP)) {
    g_propagate_error(error, g_steal_pointer(&why));
    return FALSE;
  }
  const gboolean partial = g_error_matches(why, G_IO_ERROR, G_IO_ERROR_PARTIAL_INPUT);
  const gboolean wrong = partial || g_error_matches(why, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
  return refuse(error, wrong ? ASTRO_FITS_ERROR_FORMAT : ASTRO_FITS_ERROR_READ, "unpack", path,
                partial ? "cut short: the file ends within the data packed by gzip" : why->message);
}

static int open_unpacked(int from, const char *path, GError **error)
{
  g_autoptr(GError) why = NULL;
  int to = astro_nameless_file("fits-XXXXXX", &why);
  if (to < 0) {
    refuse(error, ASTRO_FITS_ERROR_OPEN, "unpack", path, why->message);
    return -1;
  }
  if (unpack(from, to, path, error))
    return to;
  close(to);
  return -1;
}

static int open_as_it_is(const char *path, GError **error)
{
  struct stat there;
  const int fd = g_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 || fstat(fd, &there) < 0)
    refuse(error, ASTRO_FITS_ERROR_OPEN, "open", path, g_strerror(errno));
  else if (!S_ISREG(there.st_mode))
    refuse_kind(error, path, &there);
  else
    return fd;
  if (fd >= 0)
    close(fd);
  return -1;
}

gboolean astro_fits_can_be_opened(const char *path, GError **error)
{
  const int fd = open_as_it_is(path, error);
  if (fd < 0)
    return FALSE;
  close(fd);
  return TRUE;
}

int astro_fits_open(const char *path, GError **error)
{
  guint8 beginning[ASTRO_GZIP_BEGINNING];
  const int fd = open_as_it_is(path, error);
  if (fd < 0 || pread(fd, beginning, sizeof beginning, 0) != sizeof beginning ||
      !astro_gzip_is_packed(beginning, sizeof beginning))
    return fd;
  const int unpacked = open_unpacked(fd, path, error);
  close(fd);
  return unpacked;
}
