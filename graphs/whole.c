/* Reads whole numbers that are written with an exponent. */
#include "graphs/whole.h"

#include <math.h>
#include <string.h>

#define MOST 9007199254740992.0 /* 2^53: above it a double skips whole numbers */

/* Accepts decimal numbers only; the C library would also read inf and hexadecimal ones. */
static gboolean is_decimal(const char *text)
{
  return *text && strspn(text, "+-.0123456789eE") == strlen(text) && strpbrk(text, ".eE");
}

char *astro_whole_digits(const char *text)
{
  char *end;
  const double value = g_ascii_strtod(text, &end);
  if (!is_decimal(text) || *end || !(fabs(value) <= MOST) || floor(value) != value)
    return NULL;
  return g_strdup_printf("%" G_GINT64_FORMAT, (gint64)value);
}

char *astro_whole_fraction(const char *text)
{
  const char *slash = strchr(text, '/');
  if (!slash)
    return NULL;
  g_autofree char *upper = g_strndup(text, (gsize)(slash - text));
  g_autofree char *digits = astro_whole_digits(upper);
  return digits ? g_strconcat(digits, slash, NULL) : NULL;
}
