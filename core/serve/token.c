/* The secret word that requests to a server must bring. */
#include "config.h"
#include "core/serve/token.h"

#include <gio/gio.h>
#include <string.h>

static char *refuse(GError **error, const char *path, const char *found)
{
  g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
              "%s: %s, expected a token of %u to %u printable characters without blanks on its "
              "first line, as head -c 24 /dev/urandom | base64 makes one",
              path, found, ASTRO_TOKEN_LEAST, ASTRO_TOKEN_MOST);
  return NULL;
}

char *astro_token_read(const char *path, GError **error)
{
  char text[ASTRO_TOKEN_MOST + 1];
  gsize n = 0;
  g_autoptr(GFile) file = g_file_new_for_path(path);
  g_autoptr(GFileInputStream) in = g_file_read(file, NULL, error);
  if (!in || !g_input_stream_read_all(G_INPUT_STREAM(in), text, sizeof text, &n, NULL, error)) {
    g_prefix_error(error, "the token's file: ");
    return NULL;
  }
  gsize length = 0;
  while (length < n && text[length] != '\r' && text[length] != '\n')
    length++;
  for (gsize i = 0; i < length; i++)
    if (!g_ascii_isgraph(text[i]))
      return refuse(error, path, "a blank or a character that is not ASCII");
  if (length > ASTRO_TOKEN_MOST)
    return refuse(error, path, "a longer line");
  if (length < ASTRO_TOKEN_LEAST)
    return refuse(error, path, length ? "a shorter line" : "an empty line");
  return g_strndup(text, length);
}

/* Digests have one length, so that not even the length of the token shows. */
static void digest(const char *text, guint8 *out, gsize bytes)
{
  g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
  g_checksum_update(sum, (const guchar *)text, (gssize)strlen(text));
  g_checksum_get_digest(sum, out, &bytes);
}

gboolean astro_token_is_in(const char *token, const char *authorization)
{
  static const char scheme[] = "Bearer ";
  guint8 ours[32], theirs[32];
  volatile guint8 differ = 0;
  if (!authorization || g_ascii_strncasecmp(authorization, scheme, strlen(scheme)) != 0)
    return FALSE;
  digest(token, ours, sizeof ours);
  digest(authorization + strlen(scheme), theirs, sizeof theirs);
  for (guint i = 0; i < sizeof ours; i++)
    differ |= ours[i] ^ theirs[i];
  return differ == 0;
}
