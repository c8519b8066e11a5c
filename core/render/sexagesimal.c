/* Round steps and texts of right ascension and declination. */
#include "core/render/sexagesimal.h"
#include "core/render/ticks.h"

#include <math.h>

#define DEGREES_AN_HOUR 15.0
#define MOST_DECIMALS 9
#define SLACK 1e-9 /* of a step: rounding errors of conversions between units */

/* Seconds of time and of arc have the same steps up to the larger units, which differ. */
static const double hours[] = { 1,   2,   5,    10,   15,   20,   30,    60,    120,  300,
                                600, 900, 1200, 1800, 3600, 7200, 10800, 21600, 43200 },
                    degrees[] = { 1,     2,     5,     10,     15,     20,     30,    60,
                                  120,   300,   600,   900,    1200,   1800,   3600,  7200,
                                  18000, 36000, 54000, 108000, 162000, 324000, 648000 };

double astro_sexagesimal_step(gboolean of_ra, double span, guint most)
{
  const double unit = of_ra ? DEGREES_AN_HOUR / 3600 : 1 / 3600.0; /* degrees per second */
  const double *steps = of_ra ? hours : degrees;
  const guint n = of_ra ? G_N_ELEMENTS(hours) : G_N_ELEMENTS(degrees);
  const double least = span / unit / MAX(most, 1) * (1 - SLACK);
  if (least <= 0.5)
    return astro_tick_step(span / unit, most) * unit;
  for (guint i = 0; i < n; i++)
    if (steps[i] >= least)
      return steps[i] * unit;
  return steps[n - 1] * unit;
}

/* The decimals of a second for a step below one second. */
static gint decimals_of(double step)
{
  return step >= 1 - SLACK ? 0 : CLAMP((gint)-floor(log10(step) + SLACK), 0, MOST_DECIMALS);
}

void astro_sexagesimal_text(char *text, gsize bytes, gboolean of_ra, double value, double step)
{
  static const char *const marks[2][3] = { { "°", "′", "″" }, { "ʰ", "ᵐ", "ˢ" } };
  const double unit = of_ra ? DEGREES_AN_HOUR / 3600 : 1 / 3600.0, least = step / unit;
  const gint decimals = decimals_of(least);
  const double scale = pow(10, decimals);
  /* Rounded once, in the last digit shown, so that no part comes out as 60. */
  double last = round(fabs(value) / unit * scale);
  const char *sign = of_ra ? "" : value < 0 && last > 0 ? "−" : "+";
  const double whole = floor(last / scale), rest = last - whole * scale;
  guint parts[3] = { (guint)(whole / 3600), (guint)fmod(floor(whole / 60), 60),
                     (guint)fmod(whole, 60) };
  guint shown = least >= 3600 - SLACK ? 1 : least >= 60 - SLACK ? 2 : 3;
  GString *out = g_string_new(sign);
  for (guint i = 0; i < shown; i++) {
    g_string_append_printf(out, "%02u", parts[i]);
    if (i == 2 && decimals > 0)
      g_string_append_printf(out, ".%0*.0f", decimals, rest);
    g_string_append(out, marks[!!of_ra][i]);
  }
  g_strlcpy(text, out->str, bytes);
  g_string_free(out, TRUE);
}
