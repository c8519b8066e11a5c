/* Keeps binaries of programs: a file each, which begins with the checksum of the rest. */
#include "config.h"
#include "opencl/runtime/cache.h"

#include <string.h>

#define CHECKSUM_CHARS 64 /* SHA-256 in hexadecimal */

static char *path_of(const char *key)
{
  return g_build_filename(g_get_user_cache_dir(), "gst-astro", "opencl", key, NULL);
}

GBytes *astro_opencl_cache_read(const char *key)
{
  g_autofree char *path = path_of(key);
  g_autofree char *text = NULL;
  gsize bytes;
  if (!g_file_get_contents(path, &text, &bytes, NULL) || bytes <= CHECKSUM_CHARS)
    return NULL;
  const guint8 *binary = (const guint8 *)text + CHECKSUM_CHARS;
  g_autofree char *checksum =
      g_compute_checksum_for_data(G_CHECKSUM_SHA256, binary, bytes - CHECKSUM_CHARS);
  return memcmp(checksum, text, CHECKSUM_CHARS) == 0 ? g_bytes_new(binary, bytes - CHECKSUM_CHARS)
                                                     : NULL;
}

/* Written beside its name and renamed, so that another process never reads half of it. */
void astro_opencl_cache_write(const char *key, gconstpointer binary, gsize bytes)
{
  g_autofree char *path = path_of(key);
  g_autofree char *folder = g_path_get_dirname(path);
  g_autofree char *checksum = g_compute_checksum_for_data(G_CHECKSUM_SHA256, binary, bytes);
  g_autoptr(GString) text = g_string_new(checksum);
  g_autoptr(GError) error = NULL;
  g_string_append_len(text, binary, (gssize)bytes);
  if (g_mkdir_with_parents(folder, 0700) != 0 ||
      !g_file_set_contents(path, text->str, (gssize)text->len, &error))
    g_info("%s is not kept, and is compiled again at the next start: %s", path,
           error ? error->message : "its folder cannot be made");
}
