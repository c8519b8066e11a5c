/* Views of visibilities: the spectrum of one station, the fringe of two, the matrix of more; every
 * value in its place. */
#include "core/render/lags.h"
#include "core/render/ticks.h"
#include "tests/core/render/render.h"

#define MARK 0xffb840 /* of the dark theme */
#define BAND "frequency=(double)1e8,bandwidth=(double)1e6,"

static AstroRenderStyle bare(AstroView view)
{
  AstroRenderStyle style = test_plain;
  style.view = view;
  style.colormap = ASTRO_COLORMAP_GRAY;
  return style;
}

/* ---- which one ---- */

/* Unless one is set, each number of stations has the view that shows most. */
static void by_stations(void)
{
  static const AstroView views[] = { ASTRO_VIEW_SPECTRUM, ASTRO_VIEW_FRINGE, ASTRO_VIEW_MATRIX };
  static const guint baselines[] = { 1, 3, 6 };
  enum { W = 96, H = 64 };
  for (guint i = 0; i < G_N_ELEMENTS(views); i++) {
    g_autofree char *caps =
        g_strdup_printf(TEST_VISIBILITIES BAND "channels=8,baselines=%u,pols=1", baselines[i]);
    const AstroRenderStyle named = bare(views[i]), automatic = bare(ASTRO_VIEW_AUTO);
    g_autoptr(AstroRenderer) a = test_new_render(caps, &named),
                             b = test_new_render(caps, &automatic);
    g_autofree float *data = g_new(float, 8 * 2 * baselines[i]);
    for (guint k = 0; k < 8 * 2 * baselines[i]; k++)
      data[k] = (float)(k * 7 % 23);
    guint8 *x = test_draw_frame(a, data, 64 * baselines[i], W, H, FALSE),
           *y = test_draw_frame(b, data, 64 * baselines[i], W, H, FALSE);
    g_assert_cmpmem(x, H * (W * 4 + TEST_GAP), y, H * (W * 4 + TEST_GAP));
    test_free(x);
    test_free(y);
  }
}

static void fringe_of_one(void)
{
  const AstroRenderStyle style = bare(ASTRO_VIEW_FRINGE);
  g_autoptr(GstCaps) caps = gst_caps_from_string(TEST_VISIBILITIES "channels=8,baselines=1,pols=1");
  g_autoptr(GError) error = NULL;
  g_assert_null(astro_renderer_new(caps, &style, NULL, &error));
  g_assert_nonnull(strstr(error->message, "a fringe needs two stations, but there is one"));
}

/* Streams of others, whose baselines do not make a triangle or are in another order. */
static void not_of_stations(void)
{
  static const struct {
    AstroView view;
    const char *caps, *says;
  } cases[] = {
    { ASTRO_VIEW_MATRIX, TEST_VISIBILITIES "channels=8,baselines=5,pols=1",
      "baselines is 5, expected n (n + 1) / 2 of n stations, at most 16384" },
    { ASTRO_VIEW_SPECTRUM,
      "application/x-astro-visibilities,format=CF32LE,layout=baseline:channel:pol:pol,rate=1/1,"
      "channels=8,baselines=3,pols=1",
      "layout = (string) channel:baseline:pol:pol" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const AstroRenderStyle style = bare(cases[i].view);
    g_autoptr(GstCaps) caps = gst_caps_from_string(cases[i].caps);
    g_autoptr(GError) error = NULL;
    g_assert_null(astro_renderer_new(caps, &style, NULL, &error));
    test_says(error->message, cases[i].says);
  }
}

/* ---- the spectrum ---- */

/* The middle of the pixels of one colour in a column; -1: there are none. */
static double height_at(const guint8 *frame, guint width, guint height, guint x)
{
  double sum = 0;
  guint n = 0;
  for (guint y = 0; y < height; y++)
    if (test_pixel_at(frame, width, x, y) == MARK) {
      sum += y + 0.5;
      n++;
    }
  return n ? sum / n : -1;
}

/* Whether there is a dot: a line alone covers hardly any pixel completely. */
static gboolean is_marked(const guint8 *frame, guint width, guint height, guint x, double y)
{
  for (guint at = (guint)fmax(y - 2, 0); at < fmin(y + 2, height); at++)
    if (test_pixel_at(frame, width, x, at) == MARK ||
        test_pixel_at(frame, width, x - 1, at) == MARK)
      return TRUE;
  return FALSE;
}

/* Powers from 1 to 1e4: 0 to 40 dB, as on the axis. A quarter of the samples are lost in channel 2,
 * and all in channel 5. */
static void spectrum_in_db(void)
{
  enum { W = 80, H = 160, N = 8 };
  static const char *const formats[] = { "CF32LE", "CI32LE" };
  static const double db[N] = { 0, 10, 20, 40, 30, NAN, 0, 40 };
  static const guint32 counts[N] = { 4, 4, 3, 4, 4, 0, 4, 4 };
  const AstroLayout shape = { 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL }, { 1, N } };
  g_autoptr(GstBuffer) buffer = gst_buffer_new();
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &shape, 4);
  memcpy(meta->counts, counts, sizeof counts);
  const AstroRenderMoment moment = { 0, GST_SECOND, .validity = meta };
  const AstroRenderStyle style = bare(ASTRO_VIEW_AUTO);
  for (guint f = 0; f < G_N_ELEMENTS(formats); f++) {
    g_autofree char *caps = g_strdup_printf(
        "application/x-astro-visibilities,format=%s,layout=channel:baseline:pol:pol," BAND
        "channels=8,baselines=1,pols=1",
        formats[f]);
    g_autoptr(AstroRenderer) render = test_new_render(caps, &style);
    float means[N][2] = { { 0 } };
    gint32 sums[N][2] = { { 0 } };
    for (guint c = 0; c < N; c++) {
      means[c][0] = isnan(db[c]) ? 0 : (float)pow(10, db[c] / 10);
      sums[c][0] = (gint32)round(means[c][0] * counts[c] / 4); /* per sample if all were good */
    }
    guint8 *frame = test_draw_moment(render, f ? (gconstpointer)sums : means, sizeof sums, &moment,
                                     W, H, FALSE);
    for (guint c = 0; c < N; c++) {
      g_test_message("channel %u at %g", c, height_at(frame, W, H, c * 10 + 5));
      if (isnan(db[c]))
        g_assert_cmpfloat(height_at(frame, W, H, c * 10 + 5), ==, -1);
      else
        g_assert_true(is_marked(frame, W, H, c * 10 + 5, (1 - db[c] / 40) * H));
    }
    test_free(frame);
  }
}

/* ---- lags ---- */

/* The phase of a tone grows by that fraction of a cycle from channel to channel, over which lags
 * are counted. */
static void lags_of_tones(void)
{
  static const guint channels[] = { 1, 2, 8, 64, 1000, 4096 };
  for (guint i = 0; i < G_N_ELEMENTS(channels); i++)
    for (gint turn = -3; turn <= 3; turn++) {
      const guint n = channels[i], count = astro_lags_count(n);
      AstroLags *lags = astro_lags_new(n);
      g_autofree double(*spectrum)[2] = g_malloc(n * sizeof *spectrum);
      g_autofree float *found = g_new(float, count);
      guint best = 0;
      for (guint c = 0; c < n; c++) {
        spectrum[c][0] = 5 * cos(2 * G_PI * turn * 0.1 * c);
        spectrum[c][1] = 5 * sin(2 * G_PI * turn * 0.1 * c);
        if (c % 5 == 4)
          spectrum[c][0] = NAN; /* lost: the rest has the same amplitude */
      }
      astro_lags_find(lags, (const double(*)[2])spectrum, found);
      for (guint k = 0; k < count; k++)
        best = found[k] > found[best] ? k : best;
      if (n > 2)
        g_assert_cmpfloat_with_epsilon(((double)best - count / 2) / count, turn * 0.1,
                                       1.5 / MIN(count, n * 4));
      g_assert_cmpfloat_with_epsilon(found[best], 5, n > 1 ? 0.25 : 1e-6);
      astro_lags_free(lags);
    }
}

/* If everything is lost there are no lags. */
static void lags_of_nothing(void)
{
  double spectrum[4][2];
  float found[1024];
  AstroLags *lags = astro_lags_new(4);
  for (guint c = 0; c < 4; c++)
    spectrum[c][0] = spectrum[c][1] = NAN;
  astro_lags_find(lags, (const double(*)[2])spectrum, found);
  g_assert_true(isnan(found[0]) && isnan(found[astro_lags_count(4) - 1]));
  astro_lags_free(lags);
}

/* ---- the fringe ---- */

enum { CHANNELS = 16 };
#define TURN (2.5 / CHANNELS) /* a channel; the mean of all keeps the phase of the middle */

/* Two stations: the baseline of station 1 with 0 has that phase in the middle of the band, and a
 * phase slope along it. */
static void fill(float data[CHANNELS][3][2], double degrees, double turn)
{
  memset(data, 0, CHANNELS * sizeof *data);
  for (guint c = 0; c < CHANNELS; c++) {
    const double phase = degrees * G_PI / 180 + 2 * G_PI * turn * (c - (CHANNELS - 1) / 2.);
    data[c][0][0] = data[c][2][0] = 100;
    data[c][1][0] = (float)(4 * cos(phase));
    data[c][1][1] = (float)(4 * sin(phase));
  }
}

/* Each integration is a point at its phase, and a column of lags, the newest on the right. A lost
 * one in between leaves a gap, and those older than the last `rows` disappear. */
static void fringe(void)
{
  enum { W = 120, H = 240 };
  AstroRenderStyle style = bare(ASTRO_VIEW_AUTO);
  /* Numbers of integrations, and phases: the third is lost. */
  static const struct {
    guint number;
    double degrees;
  } seen[] = { { 0, -90 }, { 1, 0 }, { 3, 90 }, { 4, 45 } };
  static const double shown[] = { 0, NAN, 90, 45 };
  float data[CHANNELS][3][2];
  style.rows = 4;
  g_autoptr(AstroRenderer) render =
      test_new_render(TEST_VISIBILITIES BAND "channels=16,baselines=3,pols=1", &style);
  guint8 *frame = NULL;
  for (guint i = 0; i < G_N_ELEMENTS(seen); i++) {
    const AstroRenderMoment moment = { seen[i].number * 10 * GST_SECOND + 5 * GST_SECOND,
                                       10 * GST_SECOND };
    g_clear_pointer(&frame, test_free);
    fill(data, seen[i].degrees, TURN);
    frame = test_draw_moment(render, data, sizeof data, &moment, W, H, FALSE);
  }
  for (guint t = 0; t < 4; t++) {
    const guint x = t * W / 4 + W / 8;
    guint brightest = H / 2;
    if (isnan(shown[t])) {
      g_assert_cmpfloat(height_at(frame, W, H / 2, x), ==, -1);
      g_assert_cmphex(test_pixel_at(frame, W, x, 3 * H / 4), ==, 0x303030);
      continue;
    }
    g_assert_cmpfloat_with_epsilon(height_at(frame, W, H / 2, x), (180 - shown[t]) / 360 * H / 2,
                                   2);
    for (guint y = H / 2; y < H; y++)
      if ((test_pixel_at(frame, W, x, y) & 0xff) > (test_pixel_at(frame, W, x, brightest) & 0xff))
        brightest = y;
    /* One cycle a channel is the whole range, and zero its middle. */
    g_assert_cmpfloat_with_epsilon(brightest, (0.75 - TURN / 2) * H, 4);
  }
  test_free(frame);
}

/* Several integrations in a buffer are as many columns; time that runs backward begins anew. */
static void fringe_of_several(void)
{
  enum { W = 120, H = 240 };
  const AstroRenderStyle style = bare(ASTRO_VIEW_FRINGE);
  float data[3][CHANNELS][3][2];
  g_autoptr(AstroRenderer) render =
      test_new_render(TEST_VISIBILITIES BAND "channels=16,baselines=3,pols=1", &style);
  for (guint again = 0; again < 2; again++) {
    const AstroRenderMoment moment = { 15 * GST_SECOND, 30 * GST_SECOND };
    for (guint t = 0; t < 3; t++)
      fill(data[t], t * 40.0, 0);
    guint8 *frame = test_draw_moment(render, data, sizeof data, &moment, W, H, FALSE);
    for (guint t = 0; t < 3; t++)
      g_assert_cmpfloat_with_epsilon(height_at(frame, W, H / 2, t * 40 + 20),
                                     (180 - t * 40.0) / 360 * H / 2, 2);
    test_free(frame);
  }
}

/* ---- the matrix ---- */

/* Few stations: their names are along the edges and values in the squares, which a picture of the
 * same colours without them does not have. */
static void values_of_few(void)
{
  enum { W = 800, H = 400 };
  const float alike[2][3][2] = { { { 5, 0 }, { 5, 0 }, { 5, 0 } },
                                 { { 6, 0 }, { 6, 0 }, { 6, 0 } } };
  guint8 *frames[2];
  guint differ = 0;
  AstroRenderStyle style = bare(ASTRO_VIEW_MATRIX);
  style.low = 0;
  style.high = 1; /* both are beyond it */
  style.colour_bar = FALSE;
  for (guint i = 0; i < 2; i++) {
    g_autoptr(AstroRenderer) render =
        test_new_render(TEST_VISIBILITIES "channels=1,baselines=3,pols=1", &style);
    frames[i] = test_draw_frame(render, alike[i], sizeof alike[i], W, H, FALSE);
  }
  for (guint y = 0; y < H; y++)
    for (guint x = 0; x < W; x++)
      differ += test_pixel_at(frames[0], W, x, y) != test_pixel_at(frames[1], W, x, y);
  g_assert_cmpuint(differ, >, 4 * 10);
  g_assert_cmpuint(differ, <, 4 * 400);
  test_free(frames[0]);
  test_free(frames[1]);
}

static void names_along_axis(void)
{
  char *names[] = { "CS001", "RS208", "UK608" };
  AstroTick ticks[ASTRO_MAX_TICKS];
  const AstroPanelAxis axis = { NULL, -0.5, 2.5, .whole = TRUE, .names = names, .n_names = 3 };
  g_assert_cmpuint(astro_ticks(&axis, 12, ticks), ==, 3);
  g_assert_cmpstr(ticks[1].text, ==, "RS208");
}

static void add_tests(void)
{
  g_test_add_func("/render-views/by-stations", by_stations);
  g_test_add_func("/render-views/fringe-of-one", fringe_of_one);
  g_test_add_func("/render-views/not-of-stations", not_of_stations);
  g_test_add_func("/render-views/spectrum-in-db", spectrum_in_db);
  g_test_add_func("/render-views/lags-of-tones", lags_of_tones);
  g_test_add_func("/render-views/lags-of-nothing", lags_of_nothing);
  g_test_add_func("/render-views/fringe", fringe);
  g_test_add_func("/render-views/fringe-of-several", fringe_of_several);
  g_test_add_func("/render-views/values-of-few", values_of_few);
  g_test_add_func("/render-views/names-along-axis", names_along_axis);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
