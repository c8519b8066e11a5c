/* Text files of numbers: one record a line, '#' starts a comment; a byte order mark is skipped. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ASTRO_SKY_ERROR astro_sky_error_quark()
typedef enum {
  ASTRO_SKY_ERROR_FILE,   /* cannot be read */
  ASTRO_SKY_ERROR_SYNTAX, /* a bad line or item */
  ASTRO_SKY_ERROR_VALUE,  /* a value that makes no sense */
} AstroSkyError;
GQuark astro_sky_error_quark(void);

typedef struct {
  const char *name; /* of the file, for errors */
  char *text, *next;
  guint line; /* of the record that was read last, from 1 */
} AstroLines;

/* Takes text, which must end in a NUL; astro_lines_clear() frees it. */
void astro_lines_init(AstroLines *lines, const char *name, char *text);
gboolean astro_lines_open(AstroLines *lines, const char *path, GError **error);
void astro_lines_clear(AstroLines *lines);

/* The fields of the next line that has any; NULL at the end. Free with g_strfreev(). */
char **astro_lines_next(AstroLines *lines);

/* The next line as it is, for files of columns that have no comments; NULL at the end. Lives as
 * long as the lines do. */
char *astro_lines_next_whole(AstroLines *lines);

/* "FILE:LINE: ..." */
void astro_lines_error(const AstroLines *lines, GError **error, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

/* A whole finite number in the C locale; FALSE for anything else. */
gboolean astro_number_parse(const char *text, double *value);

G_END_DECLS
