/* The secret word that requests to a server must bring. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Shorter ones could be guessed by trying. */
#define ASTRO_TOKEN_LEAST 16
#define ASTRO_TOKEN_MOST 1024

/* Reads a token: the first line of a file, of 16 to 1024 printable characters. */
char *astro_token_read(const char *path, GError **error);

/* Whether the header Authorization of a request brings the token, as "Bearer TOKEN". Takes the same
 * time wherever they differ, since else an answer's delay would tell how much of a guess is right.
 * authorization: NULL: there was no such header. */
gboolean astro_token_is_in(const char *token, const char *authorization);

G_END_DECLS
