/* A line of text as values between separators. A quote opens where a value begins. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ASTRO_VALUES_SEPARATORS " \t,;"

/* The first such letter that is not within quotes, or NULL. */
const char *astro_values_find(const char *text, char letter);

/* The strongest one that the line has: a semicolon, then a comma, a tab, a blank. So a name may
 * hold blanks where there are commas, and a decimal comma is no number where there are semicolons.
 */
char astro_values_separator(const char *line);

/* Cuts the next value out, or returns NULL. Blanks do not stack up with a comma; two commas enclose
 * nothing. Where blanks separate, tabs, commas and semicolons do so too. */
char *astro_values_next(char **rest, char separator);

/* All of them. */
GPtrArray *astro_values_split(char *line, char separator);

/* As short as it can be and still be read back as the same double. What is not a number is an empty
 * value. */
void astro_values_append(GString *text, double value);
#define ASTRO_VALUES_NUMBER_BYTES 24 /* at most: "-2.2250738585072014e-308" */

G_END_DECLS
