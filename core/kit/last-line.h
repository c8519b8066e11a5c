/* Texts that end without a line's end. Some editors and programs leave none; a file that was cut
 * within its last number has none either, and the number is read as another. The lines above tell
 * them apart where they are all alike. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  ASTRO_LAST_LINE_WHOLE,    /* or what may be missing is not wanted */
  ASTRO_LAST_LINE_DOUBTFUL, /* digits may be missing */
  ASTRO_LAST_LINE_CUT       /* the lines above have more values, or more digits, all of them */
} AstroLastLine;

/* Judges the last line of text, a point with values at the wanted columns (from 0; -1: none).
 * *told: what was found, to be freed; NULL where it is whole. */
AstroLastLine astro_last_line_judge(const char *text, gsize length, char separator,
                                    const gint *wanted, guint n_wanted, char **told);

G_END_DECLS
