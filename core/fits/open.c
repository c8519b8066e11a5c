#include "core/fits/open.h"
#include "core/fits/fits.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE (1u << 18)

static const guint8 gzip_magic[] = { 0x1f, 0x8b };

static gboolean refuse(GError **error, AstroFitsError code, const char *doing, const char *path,
                       const char *why)
{
  g_set_error(error, ASTRO_FITS_ERROR, code, "cannot %s %s: %s", doing, path, why);
  return FALSE;
}

static gboolean write_all(int fd, const guint8 *data, gsize bytes, const char *path, GError **error)
{
  while (bytes > 0) {
    gssize done = write(fd, data, bytes);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      return refuse(error, ASTRO_FITS_ERROR_READ, "unpack", path,
                    g_strerror(done < 0 ? errno : ENOSPC));
    data += done;
    bytes -= done;
  }
  return TRUE;
}

typedef struct {
  const char *path;
  int from, to;
  GConverter *converter;
  guint8 in[PIECE], out[PIECE];
  gsize held; /* bytes of in */
  gboolean at_end;
} Unpacking;

static gboolean refill(Unpacking *u, GError **error)
{
  while (!u->at_end && u->held < PIECE) {
    gssize n = read(u->from, u->in + u->held, PIECE - u->held);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return refuse(error, ASTRO_FITS_ERROR_READ, "read", u->path, g_strerror(errno));
    u->at_end = n == 0;
    u->held += n;
  }
  return TRUE;
}

/* Files that gzip packed may follow each other in one; what follows them else is passed over. */
static gboolean next_member(Unpacking *u)
{
  if (u->held < sizeof gzip_magic || memcmp(u->in, gzip_magic, sizeof gzip_magic) != 0)
    return FALSE;
  g_converter_reset(u->converter);
  return TRUE;
}

static gboolean unpack(Unpacking *u, GError **error)
{
  for (;;) {
    g_autoptr(GError) why = NULL;
    gsize used = 0, made = 0;
    if (!refill(u, error))
      return FALSE;
    GConverterResult result =
        g_converter_convert(u->converter, u->in, u->held, u->out, sizeof u->out,
                            u->at_end ? G_CONVERTER_INPUT_AT_END : 0, &used, &made, &why);
    if (result == G_CONVERTER_ERROR) {
      gboolean partial = g_error_matches(why, G_IO_ERROR, G_IO_ERROR_PARTIAL_INPUT);
      return refuse(error, ASTRO_FITS_ERROR_FORMAT, "unpack", u->path,
                    partial ? "cut short: the file ends within what gzip packed" : why->message);
    }
    if (!write_all(u->to, u->out, made, u->path, error))
      return FALSE;
    u->held -= used;
    memmove(u->in, u->in + used, u->held);
    if (result != G_CONVERTER_FINISHED)
      continue;
    if (!refill(u, error))
      return FALSE;
    if (!next_member(u))
      return TRUE;
  }
}

static int new_nameless_file(const char *path, GError **error)
{
  g_autoptr(GError) why = NULL;
  g_autofree char *name = NULL;
  int fd = g_file_open_tmp("fits-XXXXXX", &name, &why);
  if (fd < 0)
    refuse(error, ASTRO_FITS_ERROR_OPEN, "unpack", path, why->message);
  else
    g_unlink(name);
  return fd;
}

static int open_unpacked(int from, const char *path, GError **error)
{
  int to = new_nameless_file(path, error);
  if (to < 0)
    return -1;
  Unpacking *u = g_new(Unpacking, 1);
  *u = (Unpacking){ .path = path, .from = from, .to = to };
  u->converter = G_CONVERTER(g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP));
  gboolean done = unpack(u, error);
  g_object_unref(u->converter);
  g_free(u);
  if (done)
    return to;
  close(to);
  return -1;
}

int astro_fits_open(const char *path, GError **error)
{
  struct stat there;
  guint8 magic[sizeof gzip_magic];
  int fd = g_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), packed;
  if (fd < 0 || fstat(fd, &there) < 0)
    refuse(error, ASTRO_FITS_ERROR_OPEN, "open", path, g_strerror(errno));
  else if (!S_ISREG(there.st_mode))
    refuse(error, ASTRO_FITS_ERROR_OPEN, "open", path, "it is not a regular file");
  else if (pread(fd, magic, sizeof magic, 0) != sizeof magic ||
           memcmp(magic, gzip_magic, sizeof magic) != 0)
    return fd;
  else {
    packed = fd;
    fd = open_unpacked(packed, path, error);
    close(packed);
    return fd;
  }
  if (fd >= 0)
    close(fd);
  return -1;
}
