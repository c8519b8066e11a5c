/* Text files of numbers: one record per line; '#' starts a comment; a byte order mark is skipped.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ASTRO_SKY_ERROR astro_sky_error_quark()
typedef enum {
  ASTRO_SKY_ERROR_FILE,   /* cannot be read */
  ASTRO_SKY_ERROR_SYNTAX, /* a bad line or item */
  ASTRO_SKY_ERROR_VALUE,  /* an impossible value */
} AstroSkyError;
GQuark astro_sky_error_quark(void);

typedef struct {
  const char *name; /* of the file, for errors */
  char *text, *next;
  guint line; /* number of the last record's line, from 1 */
} AstroLines;

/* Takes ownership of text, which must end in a NUL; astro_lines_clear() frees it. */
void astro_lines_init(AstroLines *lines, const char *name, char *text);
gboolean astro_lines_open(AstroLines *lines, const char *path, GError **error);
void astro_lines_clear(AstroLines *lines);

/* The fields of the next line that has any; NULL at the end of the file. Free with g_strfreev(). */
char **astro_lines_next(AstroLines *lines);

/* The next line unchanged, for files of columns without comments; NULL at the end of the file. It
 * is valid until astro_lines_clear(). */
char *astro_lines_next_whole(AstroLines *lines);

/* Sets an error whose message starts with "FILE:LINE: ". */
void astro_lines_error(const AstroLines *lines, GError **error, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

/* Parses a finite number in the C locale that is the whole text; FALSE for anything else. */
gboolean astro_number_parse(const char *text, double *value);

G_END_DECLS
