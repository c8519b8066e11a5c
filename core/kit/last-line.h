/* Judges texts that do not end with a newline. Some editors and programs leave it out; but a file
 * that was cut off within its last number has none either, and that number is then read wrongly. If
 * the lines above are all alike, they tell the two cases apart. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  ASTRO_LAST_LINE_WHOLE,    /* or the incomplete value is not wanted */
  ASTRO_LAST_LINE_DOUBTFUL, /* digits may be missing */
  ASTRO_LAST_LINE_CUT       /* all lines above have more values, or more digits */
} AstroLastLine;

/* Judges the last line of text, whose values at the wanted columns are used (from 0; -1: none).
 * *told: what was found, to be freed; NULL if the line is whole. */
AstroLastLine astro_last_line_judge(const char *text, gsize length, char separator,
                                    const gint *wanted, guint n_wanted, char **told);

G_END_DECLS
