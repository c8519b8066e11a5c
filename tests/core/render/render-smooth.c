/* Images scaled smoothly, compared with the formula, pixel by pixel. */
#include "core/render/smooth.h"
#include "tests/core/render/render.h"

/* Catmull and Rom's cubic, as published. */
static double cubic(double t)
{
  t = fabs(t);
  return t < 1   ? 1.5 * t * t * t - 2.5 * t * t + 1
         : t < 2 ? -0.5 * t * t * t + 2.5 * t * t - 4 * t + 2
                 : 0;
}

/* The weight of value k in pixel i; the outermost values continue beyond the edges. */
static double weight(guint values, guint pixels, guint i, guint k)
{
  const double scale = (double)values / pixels;
  if (values > pixels)
    return fmax(0, fmin((i + 1) * scale, k + 1.0) - fmax(i * scale, k)) / scale;
  const double at = (i + 0.5) * scale - 0.5;
  double sum = 0;
  for (gint j = -2; j < (gint)values + 2; j++)
    if (CLAMP(j, 0, (gint)values - 1) == (gint)k)
      sum += cubic(at - j);
  return sum;
}

static double level_of(const AstroColouring *c, float value)
{
  return c->level[astro_colouring_step(c, value)];
}

/* The gray of a pixel, counted from the upper left, before rounding; or NAN. */
static double expected(const AstroPixels *p, const AstroColouring *c, guint width, guint height,
                       guint i, guint r)
{
  const guint row = p->upward ? height - 1 - r : r;
  const gboolean enlarged = p->width <= width && p->height <= height;
  const float nearest = p->values[(gsize)((row + 0.5) * p->height / height) * p->width +
                                  (gsize)((i + 0.5) * p->width / width)];
  double sum = 0, weights = 0;
  if (!isfinite(nearest))
    return isnan(nearest) ? NAN : level_of(c, nearest) * 255;
  for (guint y = 0; y < p->height; y++)
    for (guint x = 0; x < p->width; x++) {
      const float value = p->values[(gsize)y * p->width + x];
      const double w = weight(p->width, width, i, x) * weight(p->height, height, row, y);
      if (w == 0 || isnan(value) || (isinf(value) && !enlarged))
        continue;
      sum += w * (enlarged ? level_of(c, value) : value);
      weights += w;
    }
  return 255 * (enlarged ? CLAMP(sum / weights, 0, 1) : level_of(c, (float)(sum / weights)));
}

static void as_formula(void)
{
  static const guint sizes[] = { 1, 2, 3, 7, 16, 33, 64, 100 };
  guint drawn = 0;
  for (guint round = 0; round < 120; round++) {
    guint32 random[8], bits[64 * 64];
    float values[64 * 64], low, high;
    test_fill(random, sizeof random, round);
    test_fill(bits, sizeof bits, round + 1000);
    AstroPixels p = { values, sizes[random[0] % 7], sizes[random[1] % 7], random[2] % 2 };
    const guint width = sizes[random[3] % 8], height = sizes[random[4] % 8];
    const guint n = p.width * p.height;
    g_autofree AstroColouring *c = g_new0(AstroColouring, 1);
    for (guint i = 0; i < n; i++)
      values[i] = bits[i] % 13 == 0   ? NAN
                  : bits[i] % 17 == 0 ? INFINITY
                                      : (float)(bits[i] * 0x1p-32);
    if (!astro_smooth_serves(&p, width, height))
      continue;
    drawn++;
    astro_range_find(values, n, 100, &low, &high);
    astro_colouring_set(c, ASTRO_COLORMAP_GRAY,
                        random[5] % 2 ? ASTRO_STRETCH_LOG : ASTRO_STRETCH_LINEAR, low, high, values,
                        n, 0x102030, random[6] % 2);
    const gsize stride = width * 4 + TEST_GAP, bytes = stride * height;
    guint8 *data = test_alloc(bytes);
    const AstroRectangle to = { data, stride, width, height };
    astro_smooth_draw(&p, c, &to);
    test_check_guard(data, bytes);
    for (guint y = 0; y < height; y++)
      for (guint x = 0; x < width; x++) {
        const guint8 *pixel = data + y * stride + x * 4;
        const double gray = expected(&p, c, width, height, x, y);
        g_assert_cmphex(pixel[3], ==, 0xff);
        if (isnan(gray)) {
          g_assert_cmphex(pixel[1], ==, 0x20);
          g_assert_cmphex(pixel[random[6] % 2 ? 0 : 2], ==, 0x10);
        } else
          for (guint k = 0; k < 3; k++) /* a rounding of floats is at most one gray */
            g_assert_cmpfloat(fabs(pixel[k] - gray), <, 1.01);
      }
    for (guint y = 0; y < height; y++)
      for (guint i = 0; i < TEST_GAP; i++)
        g_assert_cmphex(data[y * stride + width * 4 + i], ==, 0xa5);
    test_free(data);
  }
  g_assert_cmpuint(drawn, >, 40);
}

/* The weights of a pixel sum to 1, so that a constant stays constant. */
static void weights_sum(void)
{
  for (guint values = 1; values < 40; values++)
    for (guint pixels = 1; pixels < 90; pixels++) {
      g_autofree AstroSmoothTaps *taps = astro_smooth_taps(values, pixels);
      for (guint i = 0; i < pixels; i++) {
        double sum = 0;
        g_assert_cmpuint(taps[i].n, >, 0);
        g_assert_cmpuint(taps[i].first + taps[i].n, <=, values);
        g_assert_cmpuint(taps[i].nearest, <, values);
        for (guint k = 0; k < taps[i].n; k++)
          sum += taps[i].weights[k];
        g_assert_cmpfloat_with_epsilon(sum, 1, 1e-6);
      }
    }
}

/* An image of 16 by 16 pixels, enlarged 20 times: neighbouring pixels are close where values are
 * smooth, while they used to have steps of a sixth of the range. */
static void no_steps(void)
{
  enum { N = 16, W = 320 };
  static const AstroScaling scalings[] = { ASTRO_SCALING_EXACT, ASTRO_SCALING_SMOOTH };
  float values[N * N];
  gint largest[2] = { 0 };
  for (guint y = 0; y < N; y++)
    for (guint x = 0; x < N; x++)
      values[y * N + x] = expf(-((x - 7.f) * (x - 7.f) + (y - 8.f) * (y - 8.f)) / 8);
  for (guint s = 0; s < 2; s++) {
    AstroRenderStyle style = test_plain;
    style.colormap = ASTRO_COLORMAP_GRAY;
    style.scaling = scalings[s];
    style.axes = style.grid = style.colour_bar = FALSE;
    style.title = "";
    g_autoptr(AstroRenderer) render =
        test_new_render(TEST_IMAGE "width=16,height=16,pols=1", &style);
    guint8 *frame = test_draw_frame(render, values, sizeof values, W, W, FALSE);
    for (guint y = 40; y < W - 40; y++)
      for (guint x = 40; x < W - 40; x++) {
        const gint here = test_pixel_at(frame, W, x, y) & 0xff,
                   right = test_pixel_at(frame, W, x + 1, y) & 0xff;
        largest[s] = MAX(largest[s], ABS(here - right));
      }
    test_free(frame);
  }
  g_assert_cmpint(largest[0], >, 35);
  g_assert_cmpint(largest[1], <, 6);
}

/* A peak between the stretches of its neighbours has no ring around it. */
static void no_rings(void)
{
  enum { N = 9, W = 90 };
  float values[N * N] = { 0 };
  g_autofree AstroColouring *c = g_new0(AstroColouring, 1);
  guint8 data[W * W * 4];
  const AstroPixels p = { values, N, N, FALSE };
  const AstroRectangle to = { data, W * 4, W, W };
  values[4 * N + 4] = 1;
  astro_colouring_set(c, ASTRO_COLORMAP_GRAY, ASTRO_STRETCH_ASINH, 0, 1, values, N * N, 0, FALSE);
  astro_smooth_draw(&p, c, &to);
  for (guint y = 0; y < W; y++)
    for (guint x = 0; x < W; x++)
      if (hypot(x - 44.5, y - 44.5) > 20)
        g_assert_cmpuint(data[(y * W + x) * 4], <=, 2);
  g_assert_cmpuint(data[(45 * W + 45) * 4], >, 240);
}

static void add_tests(void)
{
  g_test_add_func("/render-smooth/as-formula", as_formula);
  g_test_add_func("/render-smooth/weights-sum", weights_sum);
  g_test_add_func("/render-smooth/no-steps", no_steps);
  g_test_add_func("/render-smooth/no-rings", no_rings);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
