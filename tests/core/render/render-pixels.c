/* The parts of pictures: pixels compared with formulas, ranges with sorting, ticks and their
 * texts. */
#include "core/render/pixels.h"
#include "core/render/ticks.h"
#include "tests/core/render/render.h"

#include <stdlib.h>

/* ---- values to pixels ---- */

/* Noise with a few rare values. */
static float *new_values(gsize n, guint32 seed)
{
  float *values = g_new(float, n);
  guint32 *bits = g_new(guint32, n);
  test_fill(bits, n * sizeof *bits, seed);
  for (gsize i = 0; i < n; i++) {
    values[i] = (float)((gint32)bits[i] * 1e-6);
    if (bits[i] % 31 == 0)
      values[i] = bits[i] % 2 ? NAN : bits[i] % 4 ? INFINITY : -INFINITY;
    if (bits[i] % 37 == 0)
      values[i] = 0;
  }
  g_free(bits);
  return values;
}

typedef void (*DrawFunc)(const AstroPixels *, const AstroColouring *, const AstroRectangle *);

static guint8 *draw(DrawFunc func, const AstroPixels *pixels, const AstroColouring *c, guint width,
                    guint height, gsize *bytes)
{
  gsize stride = width * 4 + TEST_GAP;
  *bytes = height * stride;
  guint8 *data = test_alloc(*bytes);
  const AstroRectangle to = { data, stride, width, height };
  func(pixels, c, &to);
  test_check_guard(data, *bytes);
  for (guint y = 0; y < height; y++)
    for (guint i = 0; i < TEST_GAP; i++)
      g_assert_cmphex(data[y * stride + width * 4 + i], ==, 0xa5);
  return data;
}

static void check_pixels(const AstroPixels *pixels, const AstroColouring *c, guint width,
                         guint height)
{
  gsize bytes;
  guint8 *fast = draw(astro_pixels_draw, pixels, c, width, height, &bytes);
  guint8 *slow = draw(astro_pixels_draw_reference, pixels, c, width, height, &bytes);
  g_assert_cmpmem(fast, bytes, slow, bytes);
  test_free(fast);
  test_free(slow);
}

/* Arrays and rectangles of all shapes: larger, smaller, equal, upside down. */
static void pixels_as_reference(void)
{
  static const guint sizes[] = { 1, 2, 7, 64, 129, 300 };
  g_autofree AstroColouring *c = g_new0(AstroColouring, 1);
  for (guint i = 0; i < 200; i++) {
    guint32 random[8];
    float low, high;
    test_fill(random, sizeof random, i);
    AstroPixels pixels = { .width = sizes[random[0] % 6],
                           .height = sizes[random[1] % 6],
                           .upward = random[2] % 2 };
    guint width = sizes[random[3] % 6], height = sizes[random[4] % 6];
    gsize n = (gsize)pixels.width * pixels.height;
    g_autofree float *values = new_values(n, i);
    pixels.values = values;
    astro_range_find(values, n, i % 3 ? 100 : 90, &low, &high);
    astro_colouring_set(c, random[5] % ASTRO_N_COLORMAPS, random[6] % ASTRO_N_STRETCHES, low, high,
                        values, n, 0x123456, random[7] % 2);
    check_pixels(&pixels, c, width, height);
  }
}

/* Only NaN, a single value, a reversed range. */
static void odd_ranges(void)
{
  static const struct {
    float value, low, high;
  } cases[] = {
    { NAN, 0, 1 },        { 5, 5, 5 }, { 1, 3, 2 }, { INFINITY, 0, 1 }, { 1e38f, -3e38f, 3e38f },
    { 1e-40f, 0, 1e-40f }
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree AstroColouring *c = g_new0(AstroColouring, 1);
    const AstroPixels pixels = { &cases[i].value, 1, 1, FALSE };
    astro_colouring_set(c, ASTRO_COLORMAP_VIRIDIS, ASTRO_STRETCH_LINEAR, cases[i].low,
                        cases[i].high, &cases[i].value, 1, 0, FALSE);
    check_pixels(&pixels, c, 3, 2);
  }
}

static void ends_of_colormaps(void)
{
  static const guint32 first[] = { 0x440154, 0x000004, 0x000000, 0xe2d9e2 },
                       last[] = { 0xfde725, 0xfcffa4, 0xffffff, 0xe2d9e1 };
  for (guint m = 0; m < ASTRO_N_COLORMAPS; m++)
    for (guint red_first = 0; red_first < 2; red_first++) {
      g_autofree AstroColouring *c = g_new0(AstroColouring, 1);
      const float values[] = { -2, 3, NAN };
      guint8 out[3][4];
      const AstroPixels pixels = { values, 3, 1, FALSE };
      const AstroRectangle to = { out[0], sizeof out, 3, 1 };
      astro_colouring_set(c, m, ASTRO_STRETCH_LOG, -2, 3, values, 3, 0x010203, red_first);
      astro_pixels_draw(&pixels, c, &to);
      const guint32 expected[] = { first[m], last[m], 0x010203 };
      for (guint i = 0; i < 3; i++) {
        g_assert_cmphex(out[i][red_first ? 0 : 2], ==, expected[i] >> 16);
        g_assert_cmphex(out[i][1], ==, expected[i] >> 8 & 0xff);
        g_assert_cmphex(out[i][red_first ? 2 : 0], ==, expected[i] & 0xff);
        g_assert_cmphex(out[i][3], ==, 0xff);
      }
    }
}

/* Each quarter of the colours has a quarter of the pixels. */
static void percentile(void)
{
  enum { N = 4000 };
  g_autofree AstroColouring *c = g_new0(AstroColouring, 1);
  g_autofree float *values = g_new(float, N);
  guint quarter[4] = { 0 };
  for (guint i = 0; i < N; i++)
    values[i] = expf((float)(i * 7919 % N) / N * 6);
  astro_colouring_set(c, ASTRO_COLORMAP_GRAY, ASTRO_STRETCH_PERCENTILE, 1, expf(6), values, N, 0,
                      FALSE);
  for (guint i = 0; i < N; i++)
    quarter[(c->pixels[astro_colouring_step(c, values[i])] & 0xff) / 64]++;
  for (guint q = 0; q < 4; q++)
    g_assert_cmpint(abs((gint)quarter[q] - N / 4), <, N / 50);
}

static void stretches(void)
{
  for (AstroStretch s = 0; s < ASTRO_STRETCH_PERCENTILE; s++) {
    double before = -1;
    g_assert_cmpfloat(astro_stretch(s, 0), ==, 0);
    g_assert_cmpfloat_with_epsilon(astro_stretch(s, 1), 1, 1e-15);
    for (double t = 0; t <= 1; t += 0.01) {
      g_assert_cmpfloat(astro_stretch(s, t), >, before);
      before = astro_stretch(s, t);
    }
  }
  g_assert_cmpfloat_with_epsilon(astro_stretch(ASTRO_STRETCH_ASINH, 0.1), asinh(10) / asinh(100),
                                 1e-15);
  g_assert_cmpfloat_with_epsilon(astro_stretch(ASTRO_STRETCH_LOG, 0.1), log(101) / log(1001),
                                 1e-15);
}

/* ---- ranges ---- */

static int compare(const void *a, const void *b)
{
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

static void ranges(void)
{
  static const double percents[] = { 100, 99.5, 90, 50, 1 };
  static const gsize sizes[] = { 0, 1, 2, 3, 100, 10007 };
  for (guint s = 0; s < G_N_ELEMENTS(sizes); s++)
    for (guint p = 0; p < G_N_ELEMENTS(percents); p++) {
      g_autofree float *values = new_values(sizes[s], s * 10 + p), *sorted = g_new(float, sizes[s]);
      gsize n = 0;
      float low, high;
      for (gsize i = 0; i < sizes[s]; i++)
        if (isfinite(values[i]))
          sorted[n++] = values[i];
      if (n > 0)
        qsort(sorted, n, sizeof *sorted, compare);
      g_assert_cmpint(astro_range_find(values, sizes[s], percents[p], &low, &high), ==, n > 0);
      gsize cut = n ? (gsize)((n - 1) * (100 - percents[p]) / 200) : 0;
      g_assert_cmpfloat(low, ==, n ? sorted[cut] : 0);
      g_assert_cmpfloat(high, ==, n ? sorted[n - 1 - cut] : 1);
    }
}

/* ---- ticks ---- */

static void tick_steps(void)
{
  g_assert_cmpfloat(astro_tick_step(10, 10), ==, 1);
  g_assert_cmpfloat(astro_tick_step(10.1, 10), ==, 2);
  g_assert_cmpfloat(astro_tick_step(45, 10), ==, 5);
  g_assert_cmpfloat_with_epsilon(astro_tick_step(0.0021, 10), 0.0005, 1e-18);
  for (double span = 1e-9; span < 1e9; span *= 1.37)
    for (guint most = 1; most < 13; most++)
      g_assert_cmpfloat(span / astro_tick_step(span, most), <=, most * (1 + 1e-9));
}

static void check_ticks(const AstroPanelAxis *axis, guint most, const char *expected)
{
  AstroTick ticks[ASTRO_MAX_TICKS];
  g_autoptr(GString) found = g_string_new(NULL);
  guint n = astro_ticks(axis, most, ticks);
  for (guint i = 0; i < n; i++) {
    g_string_append_printf(found, "%s%s", i ? " " : "", ticks[i].text);
    g_assert_cmpfloat(ticks[i].place, >=, -1e-9);
    g_assert_cmpfloat(ticks[i].place, <=, 1 + 1e-9);
  }
  g_assert_cmpstr(found->str, ==, expected);
}

static void tick_texts(void)
{
  check_ticks(&(AstroPanelAxis){ NULL, 0, 1 }, 5, "0.0 0.2 0.4 0.6 0.8 1.0");
  check_ticks(&(AstroPanelAxis){ NULL, 1.05, -1.05 }, 4, "-1 0 1");
  check_ticks(&(AstroPanelAxis){ NULL, 149.95, 150.05 }, 6, "149.96 149.98 150.00 150.02 150.04");
  check_ticks(&(AstroPanelAxis){ NULL, -0.5, 2.5, .whole = TRUE }, 12, "0 1 2");
  check_ticks(&(AstroPanelAxis){ NULL, 0.01, 1000, .is_log = TRUE }, 10, "0.01 0.1 1 10 100 1000");
  check_ticks(&(AstroPanelAxis){ NULL, 0.01, 1000, .is_log = TRUE }, 3, "0.01 1 100");
  check_ticks(&(AstroPanelAxis){ NULL, 3, 3 }, 3, "");
  check_ticks(&(AstroPanelAxis){ NULL, NAN, 3 }, 3, "");
}

/* Lines on the sky: labels are where WCS says, also across RA 0 and around a pole. */
static void sky_ticks(void)
{
  static const double centres[][2] = { { 123, 45 }, { 0.2, -10 }, { 359.9, 80 }, { 10, 90 } };
  for (guint i = 0; i < G_N_ELEMENTS(centres); i++) {
    const AstroWcsKeys keys = { { 101, 101 }, { centres[i][0], centres[i][1] }, { -0.1, 0.1 } };
    g_autoptr(AstroWcs) wcs = astro_wcs_new(&keys, NULL);
    AstroSkyGrid grid;
    guint found = 0;
    astro_sky_grid_find(&grid, wcs, 200, 200, 6, 6);
    for (guint of_ra = 0; of_ra < 2; of_ra++) {
      AstroTick ticks[ASTRO_MAX_TICKS];
      const double from[] = { -0.5, -0.5 }, to[] = { of_ra ? 199.5 : -0.5, of_ra ? -0.5 : 199.5 };
      guint n = astro_sky_ticks(&grid, wcs, of_ra, from, to, ticks);
      found += n;
      for (guint t = 0; t < n; t++) {
        double ra, dec, x = from[0] + ticks[t].place * (to[0] - from[0]),
                        y = from[1] + ticks[t].place * (to[1] - from[1]);
        g_assert_true(astro_wcs_world(wcs, x, y, &ra, &dec));
        double degrees = (of_ra ? ra : dec) * 180 / G_PI;
        g_assert_cmpfloat_with_epsilon(remainder(degrees - ticks[t].value, 360), 0, 0.02);
        g_assert_cmpfloat_with_epsilon(remainder(ticks[t].value, grid.step[of_ra ? 0 : 1]), 0,
                                       1e-9);
        g_assert_cmpfloat_with_epsilon(test_read_sexagesimal(ticks[t].text, of_ra), ticks[t].value,
                                       1e-9);
      }
    }
    g_assert_cmpuint(found, >=, 3);
  }
}

static void add_tests(void)
{
  g_test_add_func("/render/pixels-as-reference", pixels_as_reference);
  g_test_add_func("/render/odd-ranges", odd_ranges);
  g_test_add_func("/render/ends-of-colormaps", ends_of_colormaps);
  g_test_add_func("/render/percentile", percentile);
  g_test_add_func("/render/stretches", stretches);
  g_test_add_func("/render/ranges", ranges);
  g_test_add_func("/render/tick-steps", tick_steps);
  g_test_add_func("/render/tick-texts", tick_texts);
  g_test_add_func("/render/sky-ticks", sky_ticks);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
