/* Splits a line of text into values at separators. A quote counts only at the start of a value. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ASTRO_VALUES_SEPARATORS " \t,;"

/* The first such letter outside of quotes, or NULL. */
const char *astro_values_find(const char *text, char letter);

/* The strongest separator in the line: a semicolon, then a comma, a tab, a blank. So names may
 * contain blanks in a file with commas, and a decimal comma is not a separator in a file with
 * semicolons.
 */
char astro_values_separator(const char *line);

/* Cuts out and returns the next value, or NULL. Blanks beside a comma do not add a value; two
 * commas enclose an empty one. If blanks separate values, tabs, commas and semicolons do so too. */
char *astro_values_next(char **rest, char separator);

/* All values of the line. */
GPtrArray *astro_values_split(char *line, char separator);

/* Appends the shortest text that reads back as the same double. NaN or infinity appends nothing. */
void astro_values_append(GString *text, double value);
#define ASTRO_VALUES_NUMBER_BYTES 24 /* upper limit: "-2.2250738585072014e-308" */

G_END_DECLS
