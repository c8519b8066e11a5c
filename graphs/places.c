/* Formats angles and places on the sky. */
#include "graphs/places.h"
#include "core/kit/units.h"
#include <math.h>

#define ARCSEC (ASTRO_DEGREE / 3600)

/* How precisely a place is known, as a fraction of the beam, for a source well above the noise. */
#define KNOWN (1. / 300)

/* For beams below this, places are given as angles: as direction cosines all digits would be zero.
 */
#define SMALL ARCSEC

static const struct {
  double least; /* smallest angle for this unit, radians */
  double unit;
  const char *name;
} units[] = { { ASTRO_DEGREE, ASTRO_DEGREE, "degrees" },
              { 0.1 * ARCSEC, ARCSEC, "arcsec" },
              { 1e-4 * ARCSEC, 1e-3 * ARCSEC, "mas" },
              { 0, 1e-6 * ARCSEC, "uas" } };

static guint unit_of(double angle)
{
  guint i = 0;
  while (angle < units[i].least)
    i++;
  return i;
}

/* Number of decimals needed to tell apart numbers with this difference. */
static gint decimals(double apart)
{
  return apart > 0 ? (gint)CLAMP(ceil(-log10(apart)), 0, 9) : 9;
}

/* Formats a number, never as -0.00. */
static char *number(double value, gint digits)
{
  const double scale = pow(10, digits);
  return g_strdup_printf("%.*f", digits, fabs(value) * scale < 0.5 ? 0 : value);
}

char *astro_places_offset(double l, double m, double beam)
{
  if (!(beam < SMALL)) {
    g_autofree char *x = number(l, decimals(beam * KNOWN));
    g_autofree char *y = number(m, decimals(beam * KNOWN));
    return g_strdup_printf("l %s, m %s", x, y);
  }
  const guint i = MAX(unit_of(beam), 2);
  const gint digits = decimals(beam * KNOWN / units[i].unit);
  g_autofree char *x = number(l / units[i].unit, digits), *y = number(m / units[i].unit, digits);
  return g_strdup_printf("%s %s east, %s %s north", x, units[i].name, y, units[i].name);
}

/* Splits a number into sixtieths, after rounding it, so that no part becomes 60. */
static char *sexagesimal(double value, gint digits)
{
  const guint64 scale = (guint64)(pow(10, digits) + 0.5);
  const guint64 all = (guint64)(value * 3600 * (double)scale + 0.5);
  const guint64 seconds = all / scale;
  g_autofree char *rest =
      digits ? g_strdup_printf(".%0*" G_GUINT64_FORMAT, digits, all % scale) : g_strdup("");
  return g_strdup_printf("%02" G_GUINT64_FORMAT ":%02u:%02u%s", seconds / 3600,
                         (guint)(seconds / 60 % 60), (guint)(seconds % 60), rest);
}

char *astro_places_direction(double ra, double dec, double beam)
{
  const double known = beam * KNOWN / ARCSEC;
  const gint digits = decimals(known / 15);
  /* A right ascension that would round to 24 hours is shown as 0. */
  const double circle = fmod(fmod(ra, 360) + 360, 360), last = 0.5 / (3600 * pow(10, digits));
  g_autofree char *east = sexagesimal(circle / 15 + last >= 24 ? 0 : circle / 15, digits);
  g_autofree char *north = sexagesimal(fabs(dec), decimals(known));
  return g_strdup_printf("%s, %c%s", east, dec < 0 ? '-' : '+', north);
}

char *astro_places_angle(double angle)
{
  const guint i = unit_of(angle);
  return g_strdup_printf("%.4g %s", angle / units[i].unit, units[i].name);
}

char *astro_places_beam(double major, double minor, double angle)
{
  const guint i = unit_of(major);
  const double unit = units[i].unit;
  /* Three significant digits of each. */
  const gint wide = decimals(major / unit / 100), narrow = decimals(minor / unit / 100);
  return g_strdup_printf("%.*f x %.*f %s, position angle %.0f degrees", wide, major / unit, narrow,
                         minor / unit, units[i].name, angle * ASTRO_DEGREES);
}
