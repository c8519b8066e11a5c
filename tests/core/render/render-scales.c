/* Round numbers on scales: beside colour bars, in hours and degrees; and the stretch of images. */
#include "core/kit/power-law.h"
#include "core/render/bar-ticks.h"
#include "core/render/sexagesimal.h"
#include "tests/core/render/render.h"

/* ---- hours and degrees ---- */

static void sexagesimal_texts(void)
{
  static const struct {
    gboolean of_ra;
    double degrees, step;
    const char *text;
  } cases[] = {
    { TRUE, 291.5, 15, "19ʰ" },
    { TRUE, 291.5, 0.25, "19ʰ26ᵐ" },
    { TRUE, 291.5, 15 / 3600., "19ʰ26ᵐ00ˢ" },
    { TRUE, 187.70593075, 15 / 3600. * 1e-5, "12ʰ30ᵐ49.42338ˢ" },
    { TRUE, 15 * (1 - 1e-12), 15 / 3600., "01ʰ00ᵐ00ˢ" }, /* and not 00ʰ59ᵐ60ˢ */
    { TRUE, 0, 0.25, "00ʰ00ᵐ" },
    { FALSE, 52.9, 0.1, "+52°54′" },
    { FALSE, -30.5, 0.5, "−30°30′" },
    { FALSE, 0, 1 / 60., "+00°00′" },
    { FALSE, -0.5 / 3600, 0.5 / 3600, "−00°00′00.5″" },
    { FALSE, -1e-12, 1 / 60., "+00°00′" },
    { FALSE, 90, 10, "+90°" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    char text[48];
    astro_sexagesimal_text(text, sizeof text, cases[i].of_ra, cases[i].degrees, cases[i].step);
    g_assert_cmpstr(text, ==, cases[i].text);
  }
}

/* Whole numbers of the units that are shown, few enough, and at most three times as long as
 * necessary. */
static void sexagesimal_steps(void)
{
  static const double units[2][3] = { { 1, 1 / 60., 1 / 3600. }, { 15, 15 / 60., 15 / 3600. } };
  for (guint of_ra = 0; of_ra < 2; of_ra++)
    for (double span = 1e-7; span < 180; span *= 1.31)
      for (guint most = 2; most < 13; most++) {
        const double step = astro_sexagesimal_step(of_ra, span, most);
        guint unit = 0;
        while (unit < 2 && step < units[of_ra][unit] * (1 - 1e-9))
          unit++;
        const double parts = step / units[of_ra][unit];
        g_assert_cmpfloat(span / step, <=, most * (1 + 1e-6));
        g_assert_cmpfloat(span / step, >=, most / 3. * (1 - 1e-6));
        if (parts > 1 - 1e-9) {
          g_assert_cmpfloat_with_epsilon(parts, round(parts), 1e-6);
          if (unit > 0) /* they meet at each minute or hour */
            g_assert_cmpint(60 % (gint)round(parts), ==, 0);
        }
      }
  g_assert_cmpfloat(astro_sexagesimal_step(TRUE, 360, 12), ==, 30);
  g_assert_cmpfloat(astro_sexagesimal_step(FALSE, 1, 6), ==, 10 / 60.);
}

/* ---- colour bars ---- */

static AstroColouring *new_colouring(AstroStretch stretch, float low, float high)
{
  /* Noise whose quartiles are a thousandth of the range apart. */
  float values[1000];
  AstroColouring *c = g_new0(AstroColouring, 1);
  for (guint i = 0; i < 1000; i++)
    values[i] = (high - low) * ((float)i - 499.5f) * 2e-6f;
  astro_colouring_set(c, ASTRO_COLORMAP_GRAY, stretch, low, high, values, 1000, 0, FALSE);
  return c;
}

static void bar_texts(void)
{
  static const struct {
    AstroStretch stretch;
    float low, high;
    double gap;
    const char *expected;
  } cases[] = {
    { ASTRO_STRETCH_LINEAR, -0.0947f, 1.982f, 0.1, "0.0 0.5 1.0 1.5" },
    { ASTRO_STRETCH_LINEAR, 0, 1, 0.2, "0.0 0.2 0.4 0.6 0.8 1.0" },
    { ASTRO_STRETCH_LINEAR, -3e-6f, 7e-6f, 0.2, "0.000000 0.000005" },
    { ASTRO_STRETCH_LINEAR, 7, 7, 0.1, "7" },
    { ASTRO_STRETCH_ASINH, 0, 1, 0.1, "0 0.01 0.02 0.05 0.1 0.2 0.5 1" },
    { ASTRO_STRETCH_LOG, 0, 1000, 0.1002, "0 1 10 100 1000" },
    { ASTRO_STRETCH_ASINH, 2000.01f, 2000.02f, 0.3, "2000.012 2000.016" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree AstroColouring *c = new_colouring(cases[i].stretch, cases[i].low, cases[i].high);
    AstroTick ticks[ASTRO_MAX_TICKS];
    guint n = astro_bar_ticks(c, FALSE, 1, cases[i].gap, ticks);
    g_autoptr(GString) found = g_string_new(NULL);
    for (guint k = 0; k < n; k++)
      g_string_append_printf(found, "%s%s", k ? " " : "", ticks[k].text);
    g_test_message("%u: %s", i, found->str);
    g_assert_cmpstr(found->str, ==, cases[i].expected);
  }
}

/* Every number is at the colour of its value, none overlaps another, and there are some. */
static void bar_places(void)
{
  static const float ranges[][2] = { { 0, 1 },         { -0.03f, 2 },    { -5, 5 },
                                     { 1e-9f, 3e-9f }, { 1e5f, 2e7f },   { -1e-3f, -1e-6f },
                                     { 3, 3.1f },      { -1e30f, 1e30f } };
  for (AstroStretch s = 0; s < ASTRO_N_STRETCHES; s++)
    for (guint r = 0; r < G_N_ELEMENTS(ranges); r++)
      for (double gap = 0.02; gap < 0.4; gap *= 1.7) {
        g_autofree AstroColouring *c = new_colouring(s, ranges[r][0], ranges[r][1]);
        AstroTick ticks[ASTRO_MAX_TICKS];
        char unit[64];
        const double scale = astro_bar_unit(c, "Jy/beam", unit, sizeof unit);
        const guint n = astro_bar_ticks(c, FALSE, scale, gap, ticks);
        if (s != ASTRO_STRETCH_PERCENTILE) /* with values that are mostly outside the range */
          g_assert_cmpuint(n, >=, 2);
        for (guint k = 0; k < n; k++) {
          const guint32 step = astro_colouring_step(c, (float)ticks[k].value);
          const double before = c->level[MAX(step, 2) - 2], after = c->level[MIN(step + 2, 65535)];
          g_assert_cmpfloat(ticks[k].place, >=, before - 1e-6);
          g_assert_cmpfloat(ticks[k].place, <=, after + 1e-6);
          g_assert_cmpfloat_with_epsilon(g_ascii_strtod(ticks[k].text, NULL) * scale,
                                         ticks[k].value, fabs(ticks[k].value) * 1e-5 + 1e-30);
          g_assert_cmpuint(strlen(ticks[k].text), <=, 10);
          if (k > 0)
            g_assert_cmpfloat(ticks[k].place - ticks[k - 1].place, >=, gap * 0.5);
        }
      }
}

static void bar_units(void)
{
  static const struct {
    float high;
    const char *name, *text;
    double unit;
  } cases[] = {
    { 2, "Jy/beam", "Jy/beam", 1 },
    { 0.02f, "Jy/beam", "mJy/beam", 1e-3 },
    { 3e-6f, "Jy/pixel", "µJy/pixel", 1e-6 },
    { 2e4f, "Jy/beam", "kJy/beam", 1e3 },
    { 3e-6f, "power", "×10⁻⁶ power", 1e-6 },
    { 2.5e12f, NULL, "×10¹²", 1e12 },
    { 12, NULL, "", 1 },
    { 0, "Jy/beam", "Jy/beam", 1 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree AstroColouring *c = g_new0(AstroColouring, 1);
    char text[64];
    c->high = cases[i].high;
    c->low = -cases[i].high / 2;
    g_assert_cmpfloat_with_epsilon(
        astro_bar_unit(c, cases[i].name, text, sizeof text) / cases[i].unit, 1, 1e-12);
    g_assert_cmpstr(text, ==, cases[i].text);
  }
}

/* ---- the stretch of images ---- */

/* Noise around a level and one source: the noise has a part of the colours to itself, and so has
 * what is ten times brighter, whatever the level and the source. */
static void faint_and_bright(void)
{
  enum { N = 64 * 64 };
  static const struct {
    float level, source;
  } cases[] = { { 0, 300 }, { 0, 3000 }, { 1000, 5000 }, { -20, 100 } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree AstroColouring *c = g_new0(AstroColouring, 1);
    g_autofree float *values = g_new(float, N);
    guint32 random[N];
    float low, high;
    test_fill(random, sizeof random, i);
    for (guint k = 0; k < N; k++)
      values[k] = cases[i].level + (float)(random[k] * 0x1p-31 - 1); /* +-1: 0.74 a deviation */
    values[77] += cases[i].source;
    astro_range_find(values, N, 100, &low, &high);
    astro_colouring_set(c, ASTRO_COLORMAP_GRAY, ASTRO_STRETCH_AUTO, low, high, values, N, 0, FALSE);
    g_assert_cmpfloat_with_epsilon(c->centre, cases[i].level, 0.05);
    g_assert_cmpfloat_with_epsilon(c->softness, 3 / 1.349, 0.1);
    double at[4];
    for (guint k = 0; k < 4; k++)
      at[k] = astro_stretch_auto(c, cases[i].level + (double[]){ -1, 1, 10, 100 }[k]);
    g_assert_cmpfloat(at[1] - at[0], >, 0.08);
    g_assert_cmpfloat(at[2] - at[1], >, 0.1);
    g_assert_cmpfloat(at[3] - at[2], >, 0.15);
    g_assert_cmpfloat_with_epsilon(astro_stretch_auto(c, low), 0, 1e-9);
    g_assert_cmpfloat_with_epsilon(astro_stretch_auto(c, high), 1, 1e-9);
  }
}

static void power_law(void)
{
  const double x[] = { 1, 2, 4, 8, -1, 3 }, y[] = { 12, 6, 3, 1.5, 7, -1 },
               error[] = { 1, 1, 0.1, 0.1, 1, 1 };
  const AstroPowerLawBins bins = { x, y, error, NULL, 6 };
  AstroPowerLaw law;
  g_assert_true(astro_power_law_fit(&bins, 0, INFINITY, &law));
  g_assert_cmpfloat_with_epsilon(law.amplitude, 12, 1e-12);
  g_assert_cmpfloat_with_epsilon(law.slope, -1, 1e-12);
  g_assert_false(astro_power_law_fit(&bins, 1.5, 3, &law));
}

static void add_tests(void)
{
  g_test_add_func("/render-scales/sexagesimal-texts", sexagesimal_texts);
  g_test_add_func("/render-scales/sexagesimal-steps", sexagesimal_steps);
  g_test_add_func("/render-scales/bar-texts", bar_texts);
  g_test_add_func("/render-scales/bar-places", bar_places);
  g_test_add_func("/render-scales/bar-units", bar_units);
  g_test_add_func("/render-scales/faint-and-bright", faint_and_bright);
  g_test_add_func("/render-scales/power-law", power_law);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
