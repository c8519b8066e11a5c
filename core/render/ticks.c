/* Positions and texts of the numbers along an axis. */
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

#define STEPS_AROUND 6

void astro_axis_around(AstroPanelAxis *axis, double low, double high)
{
  const double most = fmax(fabs(low), fabs(high));
  const double step = astro_tick_step(fmax(high - low, fmax(most * 1e-6, 1e-3)), STEPS_AROUND);
  axis->from = floor(low / step) * step;
  axis->to = ceil(high / step) * step;
  if (!(axis->to > axis->from))
    axis->to = axis->from + step;
}

/* Parts of a circle in whole degrees. */
static double angle_step(double span, guint most)
{
  static const double steps[] = { 1, 2, 5, 10, 15, 30, 45, 90, 180 };
  for (guint i = 0; i < G_N_ELEMENTS(steps); i++)
    if (steps[i] * MAX(most, 1) >= span)
      return steps[i];
  return 360;
}

/* Stations and the like are named if all have names, else numbered. */
static void write_text(const AstroPanelAxis *axis, double value, double step, AstroTick *tick)
{
  if (axis->names && value >= 0 && value < axis->n_names)
    g_strlcpy(tick->text, axis->names[(guint)(value + 0.5)], sizeof tick->text);
  else
    astro_tick_text(tick->text, sizeof tick->text, value, step);
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
  if (axis->is_angle && high - low > 1)
    step = angle_step(high - low, most);
  for (double k = ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) {
    if (n == ASTRO_MAX_TICKS)
      break;
    AstroTick *tick = &ticks[n++];
    tick->value = k * step;
    tick->place = (tick->value - axis->from) / (axis->to - axis->from);
    write_text(axis, tick->value, step, tick);
  }
  return n;
}

/* A few decades have ticks at 2 and 5 too, so that a reader sees more than their ends. */
static guint parts_of_decades(const AstroPanelAxis *axis, double low, double high, AstroTick *ticks)
{
  static const double parts[] = { 1, 2, 5 };
  guint n = 0;
  for (double k = floor(low); k <= high + 1e-9; k++)
    for (guint i = 0; i < G_N_ELEMENTS(parts) && n < ASTRO_MAX_TICKS; i++) {
      double at = k + log10(parts[i]);
      if (at < low - 1e-9 || at > high + 1e-9)
        continue;
      AstroTick *tick = &ticks[n++];
      tick->value = parts[i] * pow(10, k);
      tick->place = (at - low) / (high - low);
      g_ascii_formatd(tick->text, sizeof tick->text, "%.6g", tick->value);
    }
  return n;
}

static guint log_ticks(const AstroPanelAxis *axis, guint most, AstroTick *ticks)
{
  double low = log10(axis->from), high = log10(axis->to);
  double step = fmax(1, ceil((high - low) / MAX(most, 1)));
  guint n = 0;
  if (3 * (high - low) + 1 <= most)
    return parts_of_decades(axis, low, high, ticks);
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
