/* Round numbers beside a colour bar, and their unit. */
#include "core/render/bar-ticks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FEWEST 3 /* round numbers that a scale should have */
#define FIRST_DECADES 9
#define MOST_LINEAR 10

/* ---- positions ---- */

static double place_of(const AstroColouring *c, double value)
{
  const double span = (double)c->high - c->low;
  const double step = (value - c->low) / span * (ASTRO_STRETCH_STEPS - 1);
  const guint below = (guint)CLAMP(floor(step), 0, ASTRO_STRETCH_STEPS - 2);
  const double part = CLAMP(step - below, 0, 1);
  return c->level[below] + part * (c->level[below + 1] - c->level[below]);
}

typedef struct {
  AstroTick *ticks;
  guint n;
  double least_gap;
} Found;

/* Ticks added first are kept. */
static void add(Found *found, const AstroColouring *c, double value)
{
  if (found->n == ASTRO_MAX_TICKS || !(value >= c->low && value <= c->high))
    return;
  const double place = place_of(c, value);
  for (guint i = 0; i < found->n; i++)
    if (fabs(found->ticks[i].place - place) < found->least_gap)
      return;
  found->ticks[found->n++] = (AstroTick){ .value = value, .place = place };
}

static int compare(const void *a, const void *b)
{
  const double x = ((const AstroTick *)a)->value, y = ((const AstroTick *)b)->value;
  return (x > y) - (x < y);
}

/* Powers of ten first, from the largest down, then twos and fives between them. */
static void add_decades(Found *found, const AstroColouring *c)
{
  static const double parts[] = { 1, 2, 5 };
  const double most = fmax(fabs((double)c->low), fabs((double)c->high));
  const double top = floor(log10(most));
  add(found, c, 0);
  for (guint i = 0; i < G_N_ELEMENTS(parts); i++)
    for (double k = top; k > top - FIRST_DECADES; k--)
      for (gint sign = 1; sign >= -1; sign -= 2)
        add(found, c, sign * parts[i] * pow(10, k));
}

/* ---- texts ---- */

/* On a stretched scale each number has as many digits as it needs. */
static void write_texts(Found *found, double unit)
{
  for (guint i = 0; i < found->n; i++)
    g_ascii_formatd(found->ticks[i].text, sizeof found->ticks[i].text, "%.6g",
                    found->ticks[i].value / unit);
}

/* Evenly spaced values, with the digits of their step. */
static void add_linear(Found *found, const AstroColouring *c, gboolean is_angle, double unit,
                       guint most)
{
  AstroTick all[ASTRO_MAX_TICKS];
  const AstroPanelAxis axis = { .from = c->low / unit, .to = c->high / unit, .is_angle = is_angle };
  const guint n = astro_ticks(&axis, most, all);
  for (guint i = 0; i < n; i++) {
    const guint before = found->n;
    add(found, c, CLAMP(all[i].value * unit, c->low, c->high));
    if (found->n > before)
      g_strlcpy(found->ticks[before].text, all[i].text, sizeof all[i].text);
  }
}

/* Steps are made finer if a range has too few round numbers to be recognised. */
static guint linear_ticks(const AstroColouring *c, gboolean is_angle, double unit, double least_gap,
                          AstroTick *ticks)
{
  Found found = { ticks, 0, least_gap * 0.5 };
  for (guint most = (guint)CLAMP(1 / least_gap, 2, MOST_LINEAR);
       found.n < 2 && most <= ASTRO_MAX_TICKS; most *= 2) {
    found.n = 0;
    add_linear(&found, c, is_angle, unit, most);
  }
  return found.n;
}

guint astro_bar_ticks(const AstroColouring *c, gboolean is_angle, double unit, double least_gap,
                      AstroTick *ticks)
{
  Found found = { ticks, 0, least_gap };
  if (!(c->high > c->low)) {
    ticks[0] = (AstroTick){ .value = c->low, .place = 0.5 };
    g_ascii_formatd(ticks[0].text, sizeof ticks[0].text, "%.7g", c->low / unit);
    return 1;
  }
  if (c->stretch != ASTRO_STRETCH_LINEAR)
    add_decades(&found, c);
  if (found.n < FEWEST)
    return linear_ticks(c, is_angle, unit, least_gap, ticks);
  write_texts(&found, unit);
  qsort(ticks, found.n, sizeof *ticks, compare);
  return found.n;
}

/* ---- units ---- */

static void write_power(char *text, gsize bytes, gint power, const char *name)
{
  static const char *const digits[] = { "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹" };
  GString *out = g_string_new("×10");
  char number[16];
  g_snprintf(number, sizeof number, "%d", power);
  for (const char *at = number; *at; at++)
    g_string_append(out, *at == '-' ? "⁻" : digits[*at - '0']);
  g_string_append_printf(out, "%s%s", name ? " " : "", name ? name : "");
  g_strlcpy(text, out->str, bytes);
  g_string_free(out, TRUE);
}

/* Janskys come in all magnitudes, and have prefixes for them. */
static const struct {
  double from, unit;
  const char *prefix;
} janskys[] = { { 1e6, 1e6, "M" },   { 1e4, 1e3, "k" },   { 0.1, 1, "" },
                { 1e-4, 1e-3, "m" }, { 1e-7, 1e-6, "µ" }, { 1e-10, 1e-9, "n" } };

double astro_bar_unit(const AstroColouring *c, const char *name, char *text, gsize bytes)
{
  const double most = fmax(fabs((double)c->low), fabs((double)c->high));
  for (guint i = 0; name && g_str_has_prefix(name, "Jy") && i < G_N_ELEMENTS(janskys); i++)
    if (most >= janskys[i].from && most < 1e9) {
      g_snprintf(text, bytes, "%s%s", janskys[i].prefix, name);
      return janskys[i].unit;
    }
  if ((most >= 1e-2 && most < 1e5) || !(most > 0) || isinf(most)) {
    g_strlcpy(text, name ? name : "", bytes);
    return 1;
  }
  const gint power = (gint)floor(log10(most) + 1e-9);
  write_power(text, bytes, power, name);
  return pow(10, power);
}
