/* Reads units in headers. */
#include "core/fits/units.h"

#include <string.h>

static const struct {
  char letter;
  double factor;
} prefixes[] = { { 'n', 1e-9 }, { 'u', 1e-6 }, { 'm', 1e-3 }, { 'k', 1e3 },
                 { 'K', 1e3 },  { 'M', 1e6 },  { 'G', 1e9 },  { 'T', 1e12 } };

/* A unit that continues with letters is a different one. */
static gboolean begins(const char *text, const char *unit)
{
  gsize length = strlen(unit);
  return g_ascii_strncasecmp(text, unit, length) == 0 && !g_ascii_isalpha(text[length]);
}

double astro_fits_unit_factor(const char *text, const char *unit, const char **rest)
{
  double factor = 0;
  while (*text == ' ')
    text++;
  if (begins(text, unit))
    factor = 1;
  for (guint i = 0; factor == 0 && i < G_N_ELEMENTS(prefixes); i++)
    if (text[0] == prefixes[i].letter && begins(text + 1, unit)) {
      factor = prefixes[i].factor;
      text++;
    }
  if (rest)
    *rest = factor > 0 ? text + strlen(unit) : text;
  return factor;
}
