/* Whole frames of pictures: any stream and size, what is around and over the pixels, and
 * refusals. */
#include "tests/comma.h"
#include "tests/core/render/render.h"

#include <pango/pangocairo.h>

static const struct {
  const char *caps;
  gsize bytes;
} streams[] = {
  { TEST_IMAGE "width=40,height=30,pols=1", 40 * 30 * 4 },
  { TEST_IMAGE "width=32,height=32,pols=4,pixel=(double)0.001,products=I:I-MODEL:I-RESIDUAL:PSF",
    4 * 32 * 32 * 4 },
  { TEST_IMAGE "width=32,height=32,pols=1,pixel=(double)0.1", 32 * 32 * 4 }, /* beyond the sky */
  { "application/x-astro-image,format=F64LE,layout=channel:pol:y:x,channels=3,pols=1,width=9,"
    "height=9",
    3 * 9 * 9 * 8 },
  { TEST_SPECTRA "format=CI4,channels=16", 2 * 16 * 5 },
  { TEST_SPECTRA "format=CF64LE,channels=16,frequency=(double)1e8,bandwidth=(double)1e6",
    2 * 16 * 5 * 16 },
  { TEST_VISIBILITIES "channels=2,baselines=6,pols=2", 2 * 6 * 4 * 8 },
  { TEST_VISIBILITIES "channels=2,baselines=1,pols=1", 2 * 1 * 8 },
  { TEST_VISIBILITIES "channels=4,baselines=3,pols=2,rate=(fraction)1/10,frequency=(double)1e8,"
                      "bandwidth=(double)1e6",
    4 * 3 * 4 * 8 },
  { TEST_CORRELATION "columns=theta:low:high:w:error,bins=9", 5 * 9 * 8 },
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

/* With any bytes and any size every pixel of the frame is written and none outside it. Frames with
 * the colours in another order have the same colours. */
static void any_frame(void)
{
  static const guint sizes[][2] = { { 16, 16 },   { 17, 300 },   { 640, 360 },
                                    { 400, 500 }, { 16384, 16 }, { 16, 16384 } };
  if (without_fonts())
    return;
  for (guint s = 0; s < G_N_ELEMENTS(streams); s++)
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
      guint w = sizes[i][0], h = sizes[i][1];
      gsize stride = w * 4 + TEST_GAP;
      g_autofree guint8 *data = g_malloc(streams[s].bytes);
      test_fill(data, streams[s].bytes, s);
      AstroRenderStyle style = test_plain;
      style.view = ASTRO_VIEW_AUTO;
      style.scaling = ASTRO_SCALING_SMOOTH;
      style.stretch = ASTRO_STRETCH_AUTO;
      g_autoptr(AstroRenderer) a = test_new_render(streams[s].caps, &style),
                               b = test_new_render(streams[s].caps, &style);
      guint8 *blue = test_draw_frame(a, data, streams[s].bytes, w, h, FALSE),
             *red = test_draw_frame(b, data, streams[s].bytes, w, h, TRUE);
      for (guint y = 0; y < h; y++)
        for (guint x = 0; x < w; x++)
          for (guint c = 0; c < 3; c++)
            g_assert_cmphex(blue[y * stride + x * 4 + c], ==, red[y * stride + x * 4 + 2 - c]);
      test_free(blue);
      test_free(red);
    }
}

/* Nothing kept between frames shows: each frame is the same as the first of a new picture. */
static void kept_page(void)
{
  static const guint sizes[][2] = { { 320, 240 }, { 320, 240 }, { 640, 480 }, { 320, 240 } };
  if (without_fonts())
    return;
  for (guint s = 0; s < G_N_ELEMENTS(streams); s++) {
    if (strstr(streams[s].caps, "spectra")) /* these remember */
      continue;
    g_autoptr(AstroRenderer) kept = test_new_render(streams[s].caps, &test_plain);
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
      guint w = sizes[i][0], h = sizes[i][1];
      g_autofree guint8 *data = g_malloc(streams[s].bytes);
      test_fill(data, streams[s].bytes, 100 * s + i);
      g_autoptr(AstroRenderer) fresh = test_new_render(streams[s].caps, &test_plain);
      guint8 *a = test_draw_frame(kept, data, streams[s].bytes, w, h, i == 3),
             *b = test_draw_frame(fresh, data, streams[s].bytes, w, h, i == 3);
      gsize size = (w * 4 + TEST_GAP) * h;
      g_assert_cmpmem(a, size, b, size);
      test_free(a);
      test_free(b);
    }
  }
}

/* Texts of a picture are the same whatever language the program speaks. */
static void any_locale(void)
{
  enum { W = 640, H = 360, SIZE = (W * 4 + TEST_GAP) * H };
  if (without_fonts())
    return;
  for (guint s = 0; s < G_N_ELEMENTS(streams); s++) {
    g_autofree char *caps =
        strstr(streams[s].caps, "frequency")
            ? g_strdup(streams[s].caps)
            : g_strconcat(streams[s].caps, ",frequency=(double)150250000", NULL);
    g_autofree guint8 *data = g_malloc(streams[s].bytes);
    test_fill(data, streams[s].bytes, s);
    g_autoptr(AstroRenderer) a = test_new_render(caps, &test_plain),
                             b = test_new_render(caps, &test_plain);
    guint8 *point = test_draw_frame(a, data, streams[s].bytes, W, H, FALSE);
    if (!comma_begin()) {
      test_free(point);
      return;
    }
    guint8 *comma = test_draw_frame(b, data, streams[s].bytes, W, H, FALSE);
    comma_end();
    g_assert_cmpmem(point, SIZE, comma, SIZE);
    test_free(point);
    test_free(comma);
  }
}

/* The brightest pixel of an image of zeros, between the outermost black ones: lines of the sky, and
 * labels, which are brighter than lines are where they cross. */
static guint brightest(double pixel)
{
  enum { W = 300, H = 220 };
  static const float zeros[32 * 32];
  AstroRenderStyle style = test_plain;
  guint left = W, right = 0, top = H, bottom = 0, most = 0;
  style.colormap = ASTRO_COLORMAP_GRAY;
  style.low = 0;
  style.high = 1;
  style.colour_bar = FALSE;
  g_autofree char *caps = g_strdup_printf(TEST_IMAGE "width=32,height=32,pols=1,pixel=%.9f", pixel);
  g_autoptr(AstroRenderer) render = test_new_render(caps, &style);
  guint8 *frame = test_draw_frame(render, zeros, sizeof zeros, W, H, FALSE);
  for (guint y = 0; y < H; y++)
    for (guint x = 0; x < W; x++)
      if (test_pixel_at(frame, W, x, y) == 0) {
        left = MIN(left, x);
        right = MAX(right, x);
        top = MIN(top, y);
        bottom = MAX(bottom, y);
      }
  for (guint y = top; y <= bottom; y++)
    for (guint x = left; x <= right; x++)
      most = MAX(most, test_pixel_at(frame, W, x, y) & 0xff);
  test_free(frame);
  return most;
}

/* Labels are inside the picture if the edge of the sky leaves no other place, but not where an edge
 * only has room for one. */
static void labels_in_the_middle(void)
{
  if (without_fonts())
    return;
  g_assert_cmpuint(brightest(0.1), >, 0xb0);
  for (double pixel = 0.0002; pixel < 0.004; pixel *= 1.2)
    g_assert_cmpuint(brightest(pixel), <, 0xb0);
}

/* Left of the numbers, however many digits they have, there is only the label of the axis. */
static void label_beside_numbers(void)
{
  enum { W = 600, H = 600, EM = 10, TOP = 30 };
  static const float zeros[16 * 16];
  if (without_fonts())
    return;
  for (double pixel = 1e-2; pixel > 1e-11; pixel /= 7) {
    g_autofree char *caps =
        g_strdup_printf(TEST_IMAGE "width=16,height=16,pols=1,pixel=(double)%.9g", pixel);
    g_autoptr(AstroRenderer) render = test_new_render(caps, &test_plain);
    guint8 *frame = test_draw_frame(render, zeros, sizeof zeros, W, H, FALSE);
    const guint32 page = test_pixel_at(frame, W, 0, H - 1);
    guint top = H, bottom = 0;
    for (guint x = 0, columns = 0; x < W && columns < EM; x++) {
      for (guint y = TOP; y < H; y++)
        if (test_pixel_at(frame, W, x, y) != page) {
          top = MIN(top, y);
          bottom = MAX(bottom, y);
        }
      columns += bottom > 0;
    }
    g_test_message("pixel %g: label from %u to %u", pixel, top, bottom);
    g_assert_cmpuint(top, >, H / 2 - 10 * EM);
    g_assert_cmpuint(bottom, <, H / 2 + 10 * EM);
    g_assert_cmpuint(bottom - top, >, 5 * EM);
    test_free(frame);
  }
}

/* The rows beside the colour bar with letters in them. */
static guint8 *letters_beside_bar(float low, float high, guint *rows)
{
  enum { W = 600, H = 400 };
  const float image[2] = { low, high };
  g_autoptr(AstroRenderer) render =
      test_new_render(TEST_IMAGE "width=2,height=1,pols=1,pixel=(double)0.01", &test_plain);
  guint8 *frame = test_draw_frame(render, image, sizeof image, W, H, FALSE);
  const guint32 page = test_pixel_at(frame, W, 0, H - 1);
  *rows = 0;
  for (guint y = H / 10; y < H; y++) {
    gboolean any = FALSE;
    for (guint x = W - 45; x < W; x++)
      any |= test_pixel_at(frame, W, x, y) != page;
    *rows += any;
  }
  return frame;
}

/* Numbers beside the colour bar distinguish close values, and there is one if there is only one
 * value. */
static void bar_numbers(void)
{
  guint rows, alone;
  if (without_fonts())
    return;
  guint8 *a = letters_beside_bar(2000.01f, 2000.02f, &rows),
         *b = letters_beside_bar(2000.03f, 2000.04f, &rows),
         *one = letters_beside_bar(3, 3, &alone);
  g_assert_cmpint(memcmp(a, b, 400 * (600 * 4 + TEST_GAP)), !=, 0);
  g_assert_cmpuint(alone, >, 0);
  g_assert_cmpuint(3 * alone, <, rows);
  test_free(a);
  test_free(b);
  test_free(one);
}

/* A telescope that is not in the file is not named. */
static void untold_telescope(void)
{
  enum { W = 300, H = 200 };
  static const char *const telescopes[] = { ASTRO_TELESCOPE_UNKNOWN, "" };
  const float image[2] = { 1, 2 };
  g_autoptr(GstCaps) caps = gst_caps_from_string(TEST_IMAGE "width=2,height=1,pols=1");
  guint8 *frames[2];
  if (without_fonts())
    return;
  for (guint i = 0; i < 2; i++) {
    g_autoptr(AstroObservation) o = astro_observation_new(0);
    g_free(o->telescope);
    o->telescope = g_strdup(telescopes[i]);
    g_autoptr(AstroRenderer) render = astro_renderer_new(caps, &test_plain, o, NULL);
    frames[i] = test_draw_frame(render, image, sizeof image, W, H, FALSE);
  }
  g_assert_cmpmem(frames[0], H * (W * 4 + TEST_GAP), frames[1], H * (W * 4 + TEST_GAP));
  test_free(frames[0]);
  test_free(frames[1]);
}

/* Pixels so small that the sky's coordinates hardly distinguish them: drawing lines comes to an
 * end. */
static void tiny_pixels(void)
{
  static const double decs[] = { 0, 1e-9, 0.4, 1.5707 };
  g_autoptr(AstroObservation) o = test_new_observation();
  const float image[4] = { 1, 2, 3, 4 };
  for (gint power = -300; power < 0; power += power < -24 ? 46 : 1)
    for (guint i = 0; i < 2 * G_N_ELEMENTS(decs); i++) {
      g_autofree char *text =
          g_strdup_printf(TEST_IMAGE "pols=1,products=I,width=2,height=2,pixel=(double)1e%d,"
                                     "centre-l=(double)%s",
                          power, i % 2 ? "0.5" : "0.0");
      g_autoptr(GstCaps) caps = gst_caps_from_string(text);
      o->phase_dec = decs[i / 2];
      g_autoptr(AstroRenderer) render = astro_renderer_new(caps, &test_plain, o, NULL);
      g_assert_nonnull(render);
      test_free(test_draw_frame(render, image, sizeof image, 320, 240, FALSE));
    }
}

/* The beam is an ellipse in the lower left corner, as wide as it is in pixels, with its axes beside
 * it; a model has none. The major axis goes from north to east, which is to the left. */
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
    { TEST_IMAGE "width=100,height=100,pols=1,pixel=(double)0.001", sizeof zeros / 2, TRUE },
    { TEST_IMAGE "width=100,height=100,pols=1,pixel=(double)0.001,products=I-MODEL",
      sizeof zeros / 2, FALSE },
    { TEST_IMAGE "width=100,height=100,pols=1", sizeof zeros / 2, FALSE },
  };
  if (without_fonts())
    return;
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(AstroRenderer) a = test_new_render(cases[i].caps, &test_plain),
                             b = test_new_render(cases[i].caps, &test_plain);
    guint8 *with = test_draw_moment(a, zeros, cases[i].bytes, &moment, W, H, FALSE),
           *without = test_draw_frame(b, zeros, cases[i].bytes, W, H, FALSE);
    gint left = W, right = 0, top = H, bottom = 0, top_x = 0, beside = 0;
    for (gint x = 0; x < W; x++)
      for (gint y = 0; y < H; y++) {
        if (test_pixel_at(with, W, x, y) == test_pixel_at(without, W, x, y))
          continue;
        if (left < W && x > right + 1) { /* a column between them is free */
          beside++;
          continue;
        }
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
      g_assert_cmpint(beside, >, 100);               /* pixels of its axes in figures */
    }
    test_free(with);
    test_free(without);
  }
}

/* The pixels where two frames of an image differ: their middle and their number. */
static guint differing(const guint8 *a, const guint8 *b, guint width, guint height,
                       double middle[2])
{
  guint n = 0;
  middle[0] = middle[1] = 0;
  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < width; x++)
      if (test_pixel_at(a, width, x, y) != test_pixel_at(b, width, x, y)) {
        middle[0] += x;
        middle[1] += y;
        n++;
      }
  middle[0] /= n;
  middle[1] /= n;
  return n;
}

/* A source is marked where it is. There is no mark if there is no source, if nobody wants marks, or
 * in the point-spread function. */
static void marks(void)
{
  enum { W = 400, H = 400, N = 100 };
  static const float zeros[N * N];
  const AstroRenderMark mark = { 3, -0.02, 0.03, TRUE }, lost = { 3, -0.02, 0.03, FALSE },
                        outside = { 3, 0.2, 0, TRUE };
  const struct {
    const AstroRenderMark *mark;
    gboolean wanted;
    const char *products;
    gboolean drawn;
  } cases[] = {
    { &mark, TRUE, "I", TRUE },   { &lost, TRUE, "I", TRUE },    { &outside, TRUE, "I", FALSE },
    { &mark, FALSE, "I", FALSE }, { &mark, TRUE, "PSF", FALSE },
  };
  guint drawn[G_N_ELEMENTS(cases)];
  if (without_fonts())
    return;
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *caps =
        g_strdup_printf(TEST_IMAGE "width=100,height=100,pols=1,pixel=(double)0.001,products=%s",
                        cases[i].products);
    AstroRenderStyle style = test_plain;
    AstroRenderMoment moment = test_five;
    double middle[2];
    style.marks = cases[i].wanted;
    style.axes = style.colour_bar = style.grid = FALSE;
    style.title = "";
    g_autoptr(AstroRenderer) render = test_new_render(caps, &style);
    guint8 *without = test_draw_moment(render, zeros, sizeof zeros, &moment, W, H, FALSE);
    moment.marks = cases[i].mark;
    moment.n_marks = 1;
    guint8 *with = test_draw_moment(render, zeros, sizeof zeros, &moment, W, H, FALSE);
    drawn[i] = differing(with, without, W, H, middle);
    g_assert_cmpint(drawn[i] > 0, ==, cases[i].drawn);
    if (drawn[i]) {
      /* Margins of 17 and 8 pixels, 3 pixels a value: x = 50 + 20, y = 50 + 30, from below. */
      g_assert_cmpfloat_with_epsilon(middle[0], W / 2. + 20.5 * 3, 8);
      g_assert_cmpfloat_with_epsilon(middle[1], H / 2. - 30.5 * 3, 10);
    }
    test_free(with);
    test_free(without);
  }
  g_assert_cmpuint(drawn[1], <, drawn[0]); /* dashed */
}

/* The sky's first and last column in a frame of a white image on a dark page. */
static guint width_of_image(AstroScaling scaling, guint n)
{
  enum { W = 500, H = 500 };
  g_autofree float *values = g_new(float, (gsize)n *n);
  AstroRenderStyle style = test_plain;
  guint first = W, last = 0;
  for (gsize i = 0; i < (gsize)n * n; i++)
    values[i] = 1;
  style.colormap = ASTRO_COLORMAP_GRAY;
  style.low = 0;
  style.high = 1;
  style.axes = style.colour_bar = style.grid = FALSE;
  style.scaling = scaling;
  g_autofree char *caps = g_strdup_printf(TEST_IMAGE "width=%u,height=%u,pols=1", n, n);
  g_autoptr(AstroRenderer) render = test_new_render(caps, &style);
  guint8 *frame = test_draw_frame(render, values, (gsize)n * n * 4, W, H, FALSE);
  for (guint x = 0; x < W; x++)
    if (test_pixel_at(frame, W, x, H / 2) == 0xffffff) {
      first = MIN(first, x);
      last = MAX(last, x);
    }
  test_free(frame);
  return last + 1 - first;
}

/* An image fills its place if it may be interpolated; otherwise each value is as many whole pixels
 * as fit. */
static void fills_its_place(void)
{
  static const guint sizes[] = { 7, 64, 100, 256, 300 };
  const guint most = width_of_image(ASTRO_SCALING_SMOOTH, 50);
  if (without_fonts())
    return;
  g_assert_cmpuint(most, >, 400);
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
    g_assert_cmpuint(width_of_image(ASTRO_SCALING_SMOOTH, sizes[i]), ==, most);
    g_assert_cmpuint(width_of_image(ASTRO_SCALING_EXACT, sizes[i]), ==, most / sizes[i] * sizes[i]);
  }
}

/* Every colour of a page is that of the theme: the light page has nothing of the dark one. */
static void themes(void)
{
  enum { W = 400, H = 300 };
  static const guint32 pages[] = { 0x111111, 0xffffff };
  if (without_fonts())
    return;
  for (guint s = 0; s < G_N_ELEMENTS(streams); s++)
    for (AstroTheme theme = ASTRO_THEME_DARK; theme <= ASTRO_THEME_LIGHT; theme++) {
      AstroRenderStyle style = test_plain;
      g_autofree guint8 *data = g_malloc0(streams[s].bytes);
      guint page = 0, other = 0;
      style.theme = theme;
      g_autoptr(AstroRenderer) render = test_new_render(streams[s].caps, &style);
      guint8 *frame = test_draw_frame(render, data, streams[s].bytes, W, H, FALSE);
      for (guint i = 0; i < W; i++) { /* along the edges */
        page += (test_pixel_at(frame, W, i, 0) == pages[theme]) +
                (test_pixel_at(frame, W, i, H - 1) == pages[theme]);
        other += (test_pixel_at(frame, W, i, 0) == pages[!theme]) +
                 (test_pixel_at(frame, W, i, H - 1) == pages[!theme]);
      }
      g_assert_cmpuint(page, >, 2 * W - 20);
      g_assert_cmpuint(other, ==, 0);
      test_free(frame);
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
    { TEST_IMAGE "width=4,height=4,pols=1", "Q", "no product Q, expected one of I", -1 },
    { TEST_IMAGE "width=4,height=4,pols=1", NULL, "no channel 1, expected 0, or -1 for", 1 },
    { TEST_SPECTRA "format=F32LE,channels=4", NULL, "expected", -1 },
    { "application/x-astro-spectra,format=CF32LE,layout=station:pol:time,stations=2,pols=1", NULL,
      "one with channels", -1 },
    { TEST_VISIBILITIES "channels=1,baselines=5,pols=1", NULL, "baselines is 5", -1 },
    { TEST_VISIBILITIES "channels=1,baselines=3,pols=1", "YY", "no product YY", -1 },
    { TEST_VISIBILITIES "channels=1,baselines=3,pols=1", NULL, "no channel 7", 7 },
    { TEST_VISIBILITIES "channels=7,baselines=3,pols=1", NULL, "no channel 7, expected 0 to 6,",
      7 },
    { TEST_CORRELATION "columns=theta:low,bins=2", NULL, "theta and w", -1 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GstCaps) caps = gst_caps_from_string(cases[i].caps);
    g_autoptr(GError) error = NULL;
    AstroRenderStyle style = test_plain;
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
  g_autoptr(AstroRenderer) render =
      test_new_render(TEST_IMAGE "width=4,height=4,pols=1", &test_plain);
  g_autoptr(GError) error = NULL;
  guint8 frame[16 * 16 * 4], data[65] = { 0 };
  const AstroRenderTarget target = { frame, 64, 16, 16, FALSE };
  g_assert_false(astro_renderer_frame(render, data, sizeof data, &test_five, &target, &error));
  g_assert_nonnull(error);
}

/* No memory is taken for a size that is only in the caps. */
static void huge(void)
{
  static const char *const caps[] = {
    TEST_IMAGE "width=2147483647,height=8000,pols=1",
    TEST_SPECTRA "format=CF32LE,channels=2147483647",
    TEST_VISIBILITIES "channels=1,baselines=134225920,pols=1",
    TEST_CORRELATION "columns=theta:w,bins=2147483647",
  };
  guint8 frame[16 * 16 * 4], data[65] = { 0 };
  const AstroRenderTarget target = { frame, 64, 16, 16, FALSE };
  for (guint i = 0; i < G_N_ELEMENTS(caps); i++) {
    g_autoptr(AstroRenderer) render = test_new_render(caps[i], &test_plain);
    g_autoptr(GError) error = NULL;
    g_assert_false(astro_renderer_frame(render, data, sizeof data, &test_five, &target, &error));
    g_assert_nonnull(strstr(error->message, "not a whole number"));
  }
}

static void add_tests(void)
{
  g_test_add_func("/render/labels-in-the-middle", labels_in_the_middle);
  g_test_add_func("/render/label-beside-numbers", label_beside_numbers);
  g_test_add_func("/render/bar-numbers", bar_numbers);
  g_test_add_func("/render/untold-telescope", untold_telescope);
  g_test_add_func("/render/any-frame", any_frame);
  g_test_add_func("/render/any-locale", any_locale);
  g_test_add_func("/render/huge", huge);
  g_test_add_func("/render/kept-page", kept_page);
  g_test_add_func("/render/tiny-pixels", tiny_pixels);
  g_test_add_func("/render/beam", beam);
  g_test_add_func("/render/marks", marks);
  g_test_add_func("/render/fills-its-place", fills_its_place);
  g_test_add_func("/render/themes", themes);
  g_test_add_func("/render/refused", refused);
  g_test_add_func("/render/wrong-size", wrong_size);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
