/* Pictures: pixels against the formulas, ranges against sorting, axes, and whole frames. */
#include "core/render/pixels.h"
#include "core/render/render.h"
#include "core/render/ticks.h"
#include "tests/comma.h"
#include "tests/tests.h"

#include <math.h>
#include <pango/pangocairo.h>
#include <stdlib.h>

/* ---- values to pixels ---- */

/* Noise with what is rare in it. */
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

#define GAP 12 /* bytes behind a row that stay as they are */

static guint8 *draw(DrawFunc func, const AstroPixels *pixels, const AstroColouring *c, guint width,
                    guint height, gsize *bytes)
{
  gsize stride = width * 4 + GAP;
  *bytes = height * stride;
  guint8 *data = test_alloc(*bytes);
  const AstroRectangle to = { data, stride, width, height };
  func(pixels, c, &to);
  test_check_guard(data, *bytes);
  for (guint y = 0; y < height; y++)
    for (guint i = 0; i < GAP; i++)
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

/* All shapes of arrays and rectangles, larger, smaller, equal, turned over. */
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

/* Nothing but NaN, one value alone, a range turned round. */
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

/* Lines of a sky: labels are where WCS says, also across RA 0 and around a pole. */
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
        g_assert_cmpfloat_with_epsilon(g_ascii_strtod(ticks[t].text, NULL), ticks[t].value, 1e-9);
      }
    }
    g_assert_cmpuint(found, >=, 3);
  }
}

/* ---- frames ---- */

static const AstroRenderStyle plain = { .percent = 100,
                                        .low = NAN,
                                        .high = NAN,
                                        .axes = TRUE,
                                        .grid = TRUE,
                                        .colour_bar = TRUE,
                                        .channel = -1,
                                        .rows = 8 };

#define IMAGE "application/x-astro-image,format=F32LE,layout=pol:y:x,"
#define SPECTRA "application/x-astro-spectra,layout=station:pol:time:channel,stations=2,pols=1,"
#define VISIBILITIES                                                                               \
  "application/x-astro-visibilities,format=CF32LE,layout=channel:baseline:pol:pol,"
#define CORRELATION "application/x-astro-correlation-function,format=F64LE,layout=column:bin,"

static AstroObservation *new_observation(void)
{
  AstroObservation *o = astro_observation_new(3);
  o->has_phase_centre = TRUE;
  o->phase_ra = 2;
  o->phase_dec = 0.9;
  g_assert_true(astro_observation_set_start(o, "2026-11-20T21:30:09", NULL));
  return o;
}

static AstroRenderer *new_render(const char *text, const AstroRenderStyle *style)
{
  GError *error = NULL;
  g_autoptr(GstCaps) caps = gst_caps_from_string(text);
  g_autoptr(AstroObservation) o = new_observation();
  AstroRenderer *render = astro_renderer_new(caps, style, o, &error);
  g_assert_no_error(error);
  return render;
}

static const AstroRenderMoment five = { 5 * GST_SECOND, GST_SECOND, NULL };

static guint8 *draw_moment(AstroRenderer *render, gconstpointer data, gsize bytes,
                           const AstroRenderMoment *moment, guint width, guint height,
                           gboolean red_first)
{
  GError *error = NULL;
  gsize stride = width * 4 + GAP, size = stride * height;
  guint8 *frame = test_alloc(size);
  const AstroRenderTarget target = { frame, stride, width, height, red_first };
  g_assert_true(astro_renderer_frame(render, data, bytes, moment, &target, &error));
  g_assert_no_error(error);
  test_check_guard(frame, size);
  for (guint y = 0; y < height; y++) {
    for (guint x = 0; x < width; x++)
      g_assert_cmphex(frame[y * stride + x * 4 + 3], ==, 0xff);
    for (guint i = 0; i < GAP; i++)
      g_assert_cmphex(frame[y * stride + width * 4 + i], ==, 0xa5);
  }
  return frame;
}

static guint8 *draw_frame(AstroRenderer *render, gconstpointer data, gsize bytes, guint width,
                          guint height, gboolean red_first)
{
  return draw_moment(render, data, bytes, &five, width, height, red_first);
}

static const struct {
  const char *caps;
  gsize bytes;
} streams[] = {
  { IMAGE "width=40,height=30,pols=1", 40 * 30 * 4 },
  { IMAGE "width=32,height=32,pols=4,pixel=(double)0.001,products=I:I-MODEL:I-RESIDUAL:PSF",
    4 * 32 * 32 * 4 },
  { IMAGE "width=32,height=32,pols=1,pixel=(double)0.1", 32 * 32 * 4 }, /* beyond the sky */
  { "application/x-astro-image,format=F64LE,layout=channel:pol:y:x,channels=3,pols=1,width=9,"
    "height=9",
    3 * 9 * 9 * 8 },
  { SPECTRA "format=CI4,channels=16", 2 * 16 * 5 },
  { SPECTRA "format=CF64LE,channels=16,frequency=(double)1e8,bandwidth=(double)1e6",
    2 * 16 * 5 * 16 },
  { VISIBILITIES "channels=2,baselines=6,pols=2", 2 * 6 * 4 * 8 },
  { VISIBILITIES "channels=2,baselines=1,pols=1", 2 * 1 * 8 },
  { CORRELATION "columns=theta:low:high:w:error,bins=9", 5 * 9 * 8 },
};

/* Pango draws boxes for letters where it has no fonts, and not always in the same places. */
static gboolean without_fonts(void)
{
  PangoFontMap *map = pango_cairo_font_map_new();
  PangoContext *context = pango_font_map_create_context(map);
  PangoLayout *layout = pango_layout_new(context);
  pango_layout_set_text(layout, "0", -1);
  gboolean without = pango_layout_get_unknown_glyphs_count(layout) > 0;
  g_object_unref(layout);
  g_object_unref(context);
  g_object_unref(map);
  if (without)
    g_test_skip("no fonts here");
  return without;
}

/* Of any bytes and any size: every pixel is written, and none beside the frame; colours in the
 * other order are the same colours. */
static void any_frame(void)
{
  static const guint sizes[][2] = { { 16, 16 },   { 17, 300 },   { 640, 360 },
                                    { 400, 500 }, { 16384, 16 }, { 16, 16384 } };
  if (without_fonts())
    return;
  for (guint s = 0; s < G_N_ELEMENTS(streams); s++)
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
      guint w = sizes[i][0], h = sizes[i][1];
      gsize stride = w * 4 + GAP;
      g_autofree guint8 *data = g_malloc(streams[s].bytes);
      test_fill(data, streams[s].bytes, s);
      g_autoptr(AstroRenderer) a = new_render(streams[s].caps, &plain),
                               b = new_render(streams[s].caps, &plain);
      guint8 *blue = draw_frame(a, data, streams[s].bytes, w, h, FALSE),
             *red = draw_frame(b, data, streams[s].bytes, w, h, TRUE);
      for (guint y = 0; y < h; y++)
        for (guint x = 0; x < w; x++)
          for (guint c = 0; c < 3; c++)
            g_assert_cmphex(blue[y * stride + x * 4 + c], ==, red[y * stride + x * 4 + 2 - c]);
      test_free(blue);
      test_free(red);
    }
}

/* What is kept from one frame to the next does not show: frames are as those of a new picture. */
static void kept_page(void)
{
  static const guint sizes[][2] = { { 320, 240 }, { 320, 240 }, { 640, 480 }, { 320, 240 } };
  if (without_fonts())
    return;
  for (guint s = 0; s < G_N_ELEMENTS(streams); s++) {
    if (strstr(streams[s].caps, "spectra")) /* these remember */
      continue;
    g_autoptr(AstroRenderer) kept = new_render(streams[s].caps, &plain);
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
      guint w = sizes[i][0], h = sizes[i][1];
      g_autofree guint8 *data = g_malloc(streams[s].bytes);
      test_fill(data, streams[s].bytes, 100 * s + i);
      g_autoptr(AstroRenderer) fresh = new_render(streams[s].caps, &plain);
      guint8 *a = draw_frame(kept, data, streams[s].bytes, w, h, i == 3),
             *b = draw_frame(fresh, data, streams[s].bytes, w, h, i == 3);
      gsize size = (w * 4 + GAP) * h;
      g_assert_cmpmem(a, size, b, size);
      test_free(a);
      test_free(b);
    }
  }
}

/* Texts of a picture are the same whatever language the program speaks. */
static void any_locale(void)
{
  enum { W = 640, H = 360, SIZE = (W * 4 + GAP) * H };
  if (without_fonts())
    return;
  for (guint s = 0; s < G_N_ELEMENTS(streams); s++) {
    g_autofree char *caps =
        strstr(streams[s].caps, "frequency")
            ? g_strdup(streams[s].caps)
            : g_strconcat(streams[s].caps, ",frequency=(double)150250000", NULL);
    g_autofree guint8 *data = g_malloc(streams[s].bytes);
    test_fill(data, streams[s].bytes, s);
    g_autoptr(AstroRenderer) a = new_render(caps, &plain), b = new_render(caps, &plain);
    guint8 *point = draw_frame(a, data, streams[s].bytes, W, H, FALSE);
    if (!comma_begin()) {
      test_free(point);
      return;
    }
    guint8 *comma = draw_frame(b, data, streams[s].bytes, W, H, FALSE);
    comma_end();
    g_assert_cmpmem(point, SIZE, comma, SIZE);
    test_free(point);
    test_free(comma);
  }
}

/* The pixel of a bare frame, 0xRRGGBB. */
static guint32 pixel_at(const guint8 *frame, guint width, guint x, guint y)
{
  const guint8 *p = frame + y * (width * 4 + GAP) + x * 4;
  return (guint32)p[2] << 16 | (guint32)p[1] << 8 | p[0];
}

/* The brightest pixel of an image of nothing, between the outermost that are black: lines of the
 * sky, and labels, which are brighter than lines are where they cross. */
static guint brightest(double pixel)
{
  enum { W = 300, H = 220 };
  static const float zeros[32 * 32];
  AstroRenderStyle style = plain;
  guint left = W, right = 0, top = H, bottom = 0, most = 0;
  style.colormap = ASTRO_COLORMAP_GRAY;
  style.low = 0;
  style.high = 1;
  style.colour_bar = FALSE;
  g_autofree char *caps = g_strdup_printf(IMAGE "width=32,height=32,pols=1,pixel=%.9f", pixel);
  g_autoptr(AstroRenderer) render = new_render(caps, &style);
  guint8 *frame = draw_frame(render, zeros, sizeof zeros, W, H, FALSE);
  for (guint y = 0; y < H; y++)
    for (guint x = 0; x < W; x++)
      if (pixel_at(frame, W, x, y) == 0) {
        left = MIN(left, x);
        right = MAX(right, x);
        top = MIN(top, y);
        bottom = MAX(bottom, y);
      }
  for (guint y = top; y <= bottom; y++)
    for (guint x = left; x <= right; x++)
      most = MAX(most, pixel_at(frame, W, x, y) & 0xff);
  test_free(frame);
  return most;
}

/* Labels stand in the picture where the edge of the sky leaves them no other place, and not where
 * an edge has room for one alone. */
static void labels_in_the_middle(void)
{
  if (without_fonts())
    return;
  g_assert_cmpuint(brightest(0.1), >, 0xb0);
  for (double pixel = 0.0002; pixel < 0.004; pixel *= 1.2)
    g_assert_cmpuint(brightest(pixel), <, 0xb0);
}

/* Row 0 of an image is at the bottom, and column 0 on the left. */
static void image_stands_upright(void)
{
  float values[4 * 4] = { 0 };
  AstroRenderStyle style = plain;
  style.colormap = ASTRO_COLORMAP_GRAY;
  values[1] = 1; /* x = 1, y = 0 */
  g_autoptr(AstroRenderer) render = new_render(IMAGE "width=4,height=4,pols=1", &style);
  guint8 *frame = draw_frame(render, values, sizeof values, 64, 64, FALSE);
  for (guint y = 0; y < 4; y++)
    for (guint x = 0; x < 4; x++)
      g_assert_cmphex(pixel_at(frame, 64, x * 16 + 8, y * 16 + 8), ==,
                      x == 1 && y == 3 ? 0xffffff : 0);
  test_free(frame);
}

/* A mean of channels is of those that have a value there. */
static void mean_of_channels(void)
{
  static const char *const formats[] = { "F32LE", "F64LE" };
  const double channels[3][4] = { { 0, 1, 1, NAN }, { NAN, NAN, NAN, NAN }, { 0, 0, 1, NAN } };
  const guint32 expected[] = { 0, 0x808080, 0xffffff, 0x303030 };
  AstroRenderStyle style = plain;
  style.colormap = ASTRO_COLORMAP_GRAY;
  for (guint f = 0; f < G_N_ELEMENTS(formats); f++) {
    g_autofree char *caps = g_strdup_printf(
        "application/x-astro-image,format=%s,layout=channel:pol:y:x,channels=3,pols=1,"
        "width=4,height=1",
        formats[f]);
    g_autoptr(AstroRenderer) render = new_render(caps, &style);
    float single[3][4];
    for (guint i = 0; i < 12; i++)
      single[i / 4][i % 4] = (float)channels[i / 4][i % 4];
    guint8 *frame = f ? draw_frame(render, channels, sizeof channels, 64, 16, FALSE)
                      : draw_frame(render, single, sizeof single, 64, 16, FALSE);
    for (guint x = 0; x < 4; x++)
      g_assert_cmphex(pixel_at(frame, 64, x * 16 + 8, 8), ==, expected[x]);
    test_free(frame);
  }
}

/* The newest row is on top, and power is the mean over stations and times. */
static void waterfall_falls(void)
{
  AstroRenderStyle style = plain;
  style.colormap = ASTRO_COLORMAP_GRAY;
  style.rows = 4;
  style.low = 0;
  style.high = 200;
  g_autoptr(AstroRenderer) render = new_render(SPECTRA "format=CI8,channels=4", &style);
  for (guint i = 0; i < 3; i++) {
    gint8 data[2][3][4][2] = { 0 }; /* station, time, channel */
    for (guint s = 0; s < 2; s++)
      for (guint t = 0; t < 3; t++)
        data[s][t][i][1] = s ? -10 : 14; /* (100 + 196) / 2 */
    guint8 *frame = draw_frame(render, data, sizeof data, 64, 64, FALSE);
    for (guint row = 0; row < 4; row++)
      for (guint c = 0; c < 4; c++) {
        guint32 expected = row > i ? 0x303030 : c == i - row ? 0xbdbdbd : 0; /* 148 / 200 */
        g_assert_cmphex(pixel_at(frame, 64, c * 16 + 8, row * 16 + 8), ==, expected);
      }
    test_free(frame);
  }
}

/* Station i is row i, and V_ji is the conjugate of V_ij. */
static void matrix_of_visibilities(void)
{
  AstroRenderStyle style = plain;
  float data[2][3][4][2] = { 0 }; /* channel, baseline, product */
  guint32 twilight[256];
  style.colormap = ASTRO_COLORMAP_GRAY;
  style.product = "XY";
  for (guint c = 0; c < 2; c++) {
    data[c][0][1][0] = 1;  /* station 0 with itself */
    data[c][1][1][1] = 2;  /* X of 1 with Y of 0: 2i */
    data[c][1][2][0] = -3; /* Y of 1 with X of 0: X of 0 with Y of 1 is its conjugate */
  }
  for (guint i = 0; i < 256; i++)
    twilight[i] = astro_colormap_colours[ASTRO_COLORMAP_TWILIGHT][i];
  style.low = 0;
  style.high = 3;
  g_autoptr(AstroRenderer) render =
      new_render(VISIBILITIES "channels=2,baselines=3,pols=2", &style);
  guint8 *frame = draw_frame(render, data, sizeof data, 128, 64, FALSE);
  g_assert_cmphex(pixel_at(frame, 128, 16, 16), ==, 0x555555);
  g_assert_cmphex(pixel_at(frame, 128, 48, 16), ==, 0xffffff);
  g_assert_cmphex(pixel_at(frame, 128, 16, 48), ==, 0xaaaaaa);
  g_assert_cmphex(pixel_at(frame, 128, 48, 48), ==, 0);
  g_assert_cmphex(pixel_at(frame, 128, 64 + 16, 48), ==, twilight[191]); /* 90 degrees */
  guint32 turned = pixel_at(frame, 128, 64 + 48, 16);                    /* 180 or -180 */
  g_assert_true(turned == twilight[0] || turned == twilight[255]);
  test_free(frame);
}

/* Counts of good samples, one after the other, over axes of a stream; free the buffer. */
static AstroValidityMeta *new_counts(GstBuffer **buffer, const AstroLayout *shape, guint32 full,
                                     const guint32 *counts)
{
  *buffer = gst_buffer_new();
  AstroValidityMeta *meta = astro_buffer_add_validity(*buffer, shape, full);
  memcpy(meta->counts, counts, astro_validity_n_counts(meta) * sizeof *counts);
  return meta;
}

/* Zeros that stand for lost samples do not lower the power, and a row of nothing else is blank. */
static void lost_spectra(void)
{
  const AstroLayout shape = { 3,
                              { ASTRO_AXIS_STATION, ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL },
                              { 2, 3, 2 } };
  const guint32 counts[] = { 5, 0, 5, 0, 0, 0, 0, 0, 0, 0, 5, 0 }; /* half of channels 0 and 1 */
  const guint32 expected[] = { 0xffffff, 0xffffff, 0x303030, 0x303030 };
  AstroRenderStyle style = plain;
  GstBuffer *buffer;
  style.colormap = ASTRO_COLORMAP_GRAY;
  style.rows = 1;
  style.low = 0;
  style.high = 100;
  AstroRenderMoment moment = { 0, GST_SECOND, .validity = new_counts(&buffer, &shape, 5, counts) };
  g_autoptr(AstroRenderer) render = new_render(SPECTRA "format=CI8,channels=4", &style);
  gint8 data[2][3][4][2] = { 0 };
  data[0][0][0][0] = data[0][1][0][0] = data[1][2][0][0] = 10;
  data[0][0][1][0] = data[0][1][1][0] = data[1][2][1][0] = 10;
  guint8 *frame = draw_moment(render, data, sizeof data, &moment, 64, 16, FALSE);
  for (guint c = 0; c < 4; c++)
    g_assert_cmphex(pixel_at(frame, 64, c * 16 + 8, 8), ==, expected[c]);
  test_free(frame);
  moment = (AstroRenderMoment){ 0, GST_SECOND, .is_gap = TRUE };
  frame = draw_moment(render, data, sizeof data, &moment, 64, 16, FALSE);
  g_assert_cmphex(pixel_at(frame, 64, 8, 8), ==, 0x303030);
  test_free(frame);
  gst_buffer_unref(buffer);
}

/* A buffer's spectra are averaged without a time axis too. */
static void spectra_without_time(void)
{
  AstroRenderStyle style = plain;
  AstroRenderMoment moment = { 0, GST_SECOND };
  style.colormap = ASTRO_COLORMAP_GRAY;
  style.rows = 1;
  style.low = 0;
  style.high = 100;
  g_autoptr(AstroRenderer) render =
      new_render(SPECTRA "format=CI8,layout=channel,channels=2", &style);
  gint8(*data)[2][2] = test_alloc(5 * sizeof *data);
  memset(data, 0, 5 * sizeof *data);
  for (guint i = 0; i < 5; i++)
    data[i][0][0] = 10;
  data[0][1][0] = data[2][1][1] = 10;
  guint8 *frame = draw_moment(render, data, 5 * sizeof *data, &moment, 64, 16, FALSE);
  g_assert_cmphex(pixel_at(frame, 64, 16, 8), ==, 0xffffff);
  g_assert_cmphex(pixel_at(frame, 64, 48, 8), ==, 0x666666);
  test_free(frame);
  test_free(data);
}

/* Pixels so small that the sky's coordinates hardly tell them apart: lines come to an end. */
static void tiny_pixels(void)
{
  static const double decs[] = { 0, 1e-9, 0.4, 1.5707 };
  g_autoptr(AstroObservation) o = new_observation();
  const float image[4] = { 1, 2, 3, 4 };
  for (gint power = -300; power < 0; power += power < -24 ? 46 : 1)
    for (guint i = 0; i < 2 * G_N_ELEMENTS(decs); i++) {
      g_autofree char *text =
          g_strdup_printf(IMAGE "pols=1,products=I,width=2,height=2,pixel=(double)1e%d,"
                                "centre-l=(double)%s",
                          power, i % 2 ? "0.5" : "0.0");
      g_autoptr(GstCaps) caps = gst_caps_from_string(text);
      o->phase_dec = decs[i / 2];
      g_autoptr(AstroRenderer) render = astro_renderer_new(caps, &plain, o, NULL);
      g_assert_nonnull(render);
      test_free(draw_frame(render, image, sizeof image, 320, 240, FALSE));
    }
}

/* What was lost of the second of two integrations, which is the one that is shown. */
static void lost_visibilities(void)
{
  static const char *const formats[] = { "CF32LE", "CI32LE" };
  const AstroLayout shape = { 3,
                              { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL, ASTRO_AXIS_BASELINE },
                              { 2, 2, 3 } };
  const guint32 counts[] = { 4, 4, 4, 4, 4, 4, 4, 1, 0, 0, 3, 0 };
  AstroRenderStyle style = plain;
  GstBuffer *buffer;
  style.colormap = ASTRO_COLORMAP_GRAY;
  style.low = 0;
  style.high = 100;
  AstroRenderMoment moment = { 0, GST_SECOND, .validity = new_counts(&buffer, &shape, 4, counts) };
  for (guint f = 0; f < G_N_ELEMENTS(formats); f++) {
    g_autofree char *caps =
        g_strdup_printf("application/x-astro-visibilities,format=%s,layout="
                        "channel:baseline:pol:pol,channels=2,baselines=3,pols=1",
                        formats[f]);
    g_autoptr(AstroRenderer) render = new_render(caps, &style);
    /* Per good sample: 100 in channel 0 of baseline 0; 100 and 20 of baseline 1, whose mean is 40.
     */
    const float means[2][2][3][2] = {
      { { { 0 } } }, { { { 100 }, { 100 }, { 1e9f } }, { { 1e9f }, { 20 }, { 7 } } }
    };
    gint32 sums[2][2][3][2] = { { { { 0 } } },
                                { { { 100 }, { 25 }, { 0 } }, { { 0 }, { 15 }, { 0 } } } };
    guint8 *frame =
        draw_moment(render, f ? (gconstpointer)sums : means, sizeof sums, &moment, 128, 64, FALSE);
    g_assert_cmphex(pixel_at(frame, 128, 16, 16), ==, 0xffffff);
    g_assert_cmphex(pixel_at(frame, 128, 16, 48), ==, 0x666666);
    g_assert_cmphex(pixel_at(frame, 128, 48, 48), ==, 0x303030);
    g_assert_cmphex(pixel_at(frame, 128, 64 + 48, 48), ==, 0x303030);
    test_free(frame);
  }
  gst_buffer_unref(buffer);
}

/* Points are where the axes say: drawn in the mark's colour alone. */
static void correlation_points(void)
{
  double table[3][2] = { { 3.16227766, 31.6227766 }, { 0.316227766, -0.0316227766 }, { 0, 0 } };
  g_autoptr(AstroRenderer) render = new_render(CORRELATION "columns=theta:w:error,bins=2", &plain);
  guint8 *frame = draw_frame(render, table, sizeof table, 100, 100, FALSE);
  /* Too small for axes: 1 to 100 arcmin across, 0.01 to 1 up. */
  g_assert_cmphex(pixel_at(frame, 100, 25, 25), ==, 0xffb840);
  g_assert_cmphex(pixel_at(frame, 100, 75, 75), ==, 0x111111);
  test_free(frame);
}

/* The beam is an ellipse in the lower left corner, as wide as it is in pixels, of which a model has
 * none; the major axis goes from north to east, which is to the left. */
static void beam(void)
{
  enum { W = 400, H = 400, N = 100 };
  static const float zeros[2 * N * N];
  AstroImageMeta image = { .has_beam = TRUE, .major = 0.02, .minor = 0.005, .angle = G_PI / 4 };
  const AstroRenderMoment moment = { 5 * GST_SECOND, GST_SECOND, &image };
  const struct {
    const char *caps;
    gsize bytes;
    gboolean drawn;
  } cases[] = {
    { IMAGE "width=100,height=100,pols=1,pixel=(double)0.001", sizeof zeros / 2, TRUE },
    { IMAGE "width=100,height=100,pols=1,pixel=(double)0.001,products=I-MODEL", sizeof zeros / 2,
      FALSE },
    { IMAGE "width=100,height=100,pols=1", sizeof zeros / 2, FALSE },
  };
  if (without_fonts())
    return;
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(AstroRenderer) a = new_render(cases[i].caps, &plain),
                             b = new_render(cases[i].caps, &plain);
    guint8 *with = draw_moment(a, zeros, cases[i].bytes, &moment, W, H, FALSE),
           *without = draw_frame(b, zeros, cases[i].bytes, W, H, FALSE);
    gint left = W, right = 0, top = H, bottom = 0, top_x = 0;
    for (gint y = 0; y < H; y++)
      for (gint x = 0; x < W; x++)
        if (pixel_at(with, W, x, y) != pixel_at(without, W, x, y)) {
          top_x = y < top ? x : top_x;
          left = MIN(left, x);
          right = MAX(right, x);
          top = MIN(top, y);
          bottom = MAX(bottom, y);
        }
    g_assert_cmpint(right > left, ==, cases[i].drawn);
    if (cases[i].drawn) {
      g_assert_cmpint(right, <, W / 2);
      g_assert_cmpint(top, >, H / 2);
      g_assert_cmpint(ABS((right - left) - (bottom - top)), <=, 2);
      g_assert_cmpint(top_x, <, (left + right) / 2); /* the upper end is the eastern one */
    }
    test_free(with);
    test_free(without);
  }
}

static void refused(void)
{
  static const struct {
    const char *caps, *product, *says;
    gint channel;
  } cases[] = {
    { "application/x-astro-catalogue,format=F64LE,layout=column:point,columns=ra:dec", NULL,
      "no pictures of catalogue", -1 },
    { IMAGE "width=4,height=4,pols=1", "Q", "no product Q, but I", -1 },
    { IMAGE "width=4,height=4,pols=1", NULL, "no channel 1, expected 0, or -1 for", 1 },
    { SPECTRA "format=F32LE,channels=4", NULL, "expected", -1 },
    { "application/x-astro-spectra,format=CF32LE,layout=station:pol:time,stations=2,pols=1", NULL,
      "one with channels", -1 },
    { VISIBILITIES "channels=1,baselines=5,pols=1", NULL, "baselines is 5", -1 },
    { VISIBILITIES "channels=1,baselines=3,pols=1", "YY", "no product YY", -1 },
    { VISIBILITIES "channels=1,baselines=3,pols=1", NULL, "no channel 7", 7 },
    { VISIBILITIES "channels=7,baselines=3,pols=1", NULL, "no channel 7, expected 0 to 6,", 7 },
    { CORRELATION "columns=theta:low,bins=2", NULL, "theta and w", -1 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GstCaps) caps = gst_caps_from_string(cases[i].caps);
    g_autoptr(GError) error = NULL;
    AstroRenderStyle style = plain;
    style.product = cases[i].product;
    style.channel = cases[i].channel;
    g_assert_null(astro_renderer_new(caps, &style, NULL, &error));
    g_assert_nonnull(error);
    g_test_message("%s", error->message);
    g_assert_nonnull(strstr(error->message, cases[i].says));
  }
}

static void wrong_size(void)
{
  g_autoptr(AstroRenderer) render = new_render(IMAGE "width=4,height=4,pols=1", &plain);
  g_autoptr(GError) error = NULL;
  guint8 frame[16 * 16 * 4], data[65] = { 0 };
  const AstroRenderTarget target = { frame, 64, 16, 16, FALSE };
  g_assert_false(astro_renderer_frame(render, data, sizeof data, &five, &target, &error));
  g_assert_nonnull(error);
}

/* Nothing is made of a size that only caps tell of. */
static void huge(void)
{
  static const char *const caps[] = {
    IMAGE "width=2147483647,height=8000,pols=1",
    SPECTRA "format=CF32LE,channels=2147483647",
    VISIBILITIES "channels=1,baselines=134225920,pols=1",
    CORRELATION "columns=theta:w,bins=2147483647",
  };
  guint8 frame[16 * 16 * 4], data[65] = { 0 };
  const AstroRenderTarget target = { frame, 64, 16, 16, FALSE };
  for (guint i = 0; i < G_N_ELEMENTS(caps); i++) {
    g_autoptr(AstroRenderer) render = new_render(caps[i], &plain);
    g_autoptr(GError) error = NULL;
    g_assert_false(astro_renderer_frame(render, data, sizeof data, &five, &target, &error));
    g_assert_nonnull(strstr(error->message, "no whole number"));
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
  g_test_add_func("/render/labels-in-the-middle", labels_in_the_middle);
  g_test_add_func("/render/any-frame", any_frame);
  g_test_add_func("/render/any-locale", any_locale);
  g_test_add_func("/render/huge", huge);
  g_test_add_func("/render/kept-page", kept_page);
  g_test_add_func("/render/image-stands-upright", image_stands_upright);
  g_test_add_func("/render/mean-of-channels", mean_of_channels);
  g_test_add_func("/render/waterfall-falls", waterfall_falls);
  g_test_add_func("/render/matrix-of-visibilities", matrix_of_visibilities);
  g_test_add_func("/render/lost-spectra", lost_spectra);
  g_test_add_func("/render/spectra-without-time", spectra_without_time);
  g_test_add_func("/render/tiny-pixels", tiny_pixels);
  g_test_add_func("/render/lost-visibilities", lost_visibilities);
  g_test_add_func("/render/correlation-points", correlation_points);
  g_test_add_func("/render/beam", beam);
  g_test_add_func("/render/refused", refused);
  g_test_add_func("/render/wrong-size", wrong_size);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
