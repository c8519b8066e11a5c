/* Reads and writes files of FFTW's wisdom, with a checksum. */
#include "core/lib/fft/wisdom.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BEGINNING "gst-astro wisdom 1"
#define HEADER_LINES 3
/* Thousands of shapes take less than a megabyte. */
#define MOST_BYTES (16u << 20)

/* The whole header of the wisdom. Since it names the version, changing the version in a file does
 * not make it valid for another. */
static char *header_of(const char *wisdom, gsize length, const char *version)
{
  g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
  g_checksum_update(sum, (const guchar *)wisdom, (gssize)length);
  return g_strdup_printf(BEGINNING "\n%s\n%" G_GSIZE_FORMAT " bytes, SHA-256 %s\n", version, length,
                         g_checksum_get_string(sum));
}

char *astro_wisdom_pack(const char *wisdom, const char *version)
{
  g_autofree char *header = header_of(wisdom, strlen(wisdom), version);
  return g_strconcat(header, wisdom, NULL);
}

char *astro_wisdom_unpack(const char *packed, gsize length, const char *version)
{
  gsize at = 0; /* after the header */
  for (guint line = 0; line < HEADER_LINES; line++) {
    const char *end = at < length ? memchr(packed + at, '\n', length - at) : NULL;
    if (!end)
      return NULL;
    at = (gsize)(end - packed) + 1;
  }
  const gsize rest = length - at;
  if (memchr(packed + at, 0, rest))
    return NULL;
  g_autofree char *expected = header_of(packed + at, rest, version);
  const gboolean fits = strlen(expected) == at && memcmp(expected, packed, at) == 0;
  return fits ? g_strndup(packed + at, rest) : NULL;
}

/* FALSE if it is not a regular file of this user, is too large or cannot be read. */
static gboolean read_whole(int fd, char **bytes, gsize *length)
{
  struct stat there;
  if (fstat(fd, &there) < 0 || !S_ISREG(there.st_mode) || there.st_uid != geteuid() ||
      there.st_size > MOST_BYTES)
    return FALSE;
  *bytes = g_malloc((gsize)there.st_size + 1);
  for (*length = 0; *length < (gsize)there.st_size;) {
    const gssize n = read(fd, *bytes + *length, (gsize)there.st_size - *length);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      break;
    *length += (gsize)n;
  }
  return TRUE;
}

/* Links are not followed, and opening a FIFO does not wait for its other end. */
char *astro_wisdom_read(const char *path, const char *version, gboolean *is_there)
{
  g_autofree char *packed = NULL;
  gsize length;
  const int fd = g_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
  *is_there = fd >= 0 || errno != ENOENT;
  if (fd < 0)
    return NULL;
  char *wisdom =
      read_whole(fd, &packed, &length) ? astro_wisdom_unpack(packed, length, version) : NULL;
  close(fd);
  if (!wisdom)
    g_debug("%s: not valid wisdom of this FFTW, or another user's", path);
  return wisdom;
}

gboolean astro_wisdom_write(const char *path, const char *wisdom, const char *version,
                            GError **error)
{
  g_autofree char *packed = astro_wisdom_pack(wisdom, version);
  if (strlen(packed) <= MOST_BYTES)
    return g_file_set_contents(path, packed, -1, error);
  g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOSPC, "wisdom of more than %u bytes", MOST_BYTES);
  return FALSE;
}
