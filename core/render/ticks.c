#include "core/render/ticks.h"

#include <math.h>

double astro_tick_step(double span, guint most)
{
  static const double factors[] = { 1, 2, 5, 10 };
  double least = span / MAX(most, 1), power = pow(10, floor(log10(least)));
  for (guint i = 0; i < G_N_ELEMENTS(factors); i++)
    if (power * factors[i] >= least * (1 - 1e-9))
      return power * factors[i];
  return power * 10;
}

void astro_tick_text(char *text, gsize bytes, double value, double step)
{
  gint decimals = (gint)-floor(log10(step) + 1e-9);
  char format[16];
  if (fabs(value) < step * 1e-6)
    value = 0;
  if (decimals > 9 || fabs(value) >= 1e7)
    g_strlcpy(format, "%.6g", sizeof format);
  else
    g_snprintf(format, sizeof format, "%%.%df", CLAMP(decimals, 0, 9));
  g_ascii_formatd(text, (gint)bytes, format, value);
}

static guint linear_ticks(const AstroPanelAxis *axis, guint most, AstroTick *ticks)
{
  double low = fmin(axis->from, axis->to), high = fmax(axis->from, axis->to);
  double step = astro_tick_step(high - low, most);
  guint n = 0;
  if (!(high > low) || !isfinite(step) || !(step > 0))
    return 0;
  if (axis->whole)
    step = fmax(step, 1);
  for (double k = ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) {
    if (n == ASTRO_MAX_TICKS)
      break;
    AstroTick *tick = &ticks[n++];
    tick->value = k * step;
    tick->place = (tick->value - axis->from) / (axis->to - axis->from);
    astro_tick_text(tick->text, sizeof tick->text, tick->value, step);
  }
  return n;
}

static guint log_ticks(const AstroPanelAxis *axis, guint most, AstroTick *ticks)
{
  double low = log10(axis->from), high = log10(axis->to);
  double step = fmax(1, ceil((high - low) / MAX(most, 1)));
  guint n = 0;
  for (double k = ceil(low - 1e-9); k <= high + 1e-9 && n < ASTRO_MAX_TICKS; k += step) {
    AstroTick *tick = &ticks[n++];
    tick->value = pow(10, k);
    tick->place = (k - low) / (high - low);
    g_ascii_formatd(tick->text, sizeof tick->text, "%.6g", tick->value);
  }
  return n;
}

guint astro_ticks(const AstroPanelAxis *axis, guint most, AstroTick *ticks)
{
  return axis->is_log ? log_ticks(axis, most, ticks) : linear_ticks(axis, most, ticks);
}
