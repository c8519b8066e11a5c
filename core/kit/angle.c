/* Parses angles. */
#include "config.h"
#include "core/kit/angle.h"

#include <math.h>
#include <string.h>

#include "core/kit/lines.h"

/* Parses whole hours, degrees or minutes: digits only. */
static gboolean parse_whole(const char *text, double limit, double *value)
{
  *value = g_ascii_strtod(text, NULL);
  return *text && strspn(text, "0123456789") == strlen(text) && *value < limit;
}

static gboolean parse_sixtieths(const char *text, double limit, double *value)
{
  const gboolean is_signed = *text == '-' || *text == '+';
  g_auto(GStrv) parts = g_strsplit(text + is_signed, ":", -1);
  double whole, minutes, seconds;

  if (g_strv_length(parts) != 3 || !parse_whole(parts[0], limit, &whole) ||
      !parse_whole(parts[1], 60, &minutes) || !g_ascii_isdigit(*parts[2]) ||
      !astro_number_parse(parts[2], &seconds) || seconds >= 60)
    return FALSE;
  *value = copysign(whole + minutes / 60 + seconds / 3600, *text == '-' ? -1 : 1);
  return TRUE;
}

gboolean astro_sixtieths_parse(const char *text, gboolean is_hours, double *degrees)
{
  if (!parse_sixtieths(text, is_hours ? 24 : 360, degrees))
    return FALSE;
  *degrees *= is_hours ? 15 : 1;
  return TRUE;
}

static gboolean parse_angle(const char *text, gboolean is_ra, double *degrees)
{
  return strchr(text, ':') ? astro_sixtieths_parse(text, is_ra, degrees)
                           : astro_number_parse(text, degrees);
}

gboolean astro_angles_parse(const char *ra, const char *dec, double *ra_degrees,
                            double *dec_degrees)
{
  return parse_angle(ra, TRUE, ra_degrees) && parse_angle(dec, FALSE, dec_degrees);
}
