/* Pictures of each kind of stream show every value in its place, and what was lost. */
#include "tests/core/render/render.h"

/* Row 0 of an image is at the bottom, and column 0 on the left. */
static void image_stands_upright(void)
{
  float values[4 * 4] = { 0 };
  AstroRenderStyle style = test_plain;
  style.colormap = ASTRO_COLORMAP_GRAY;
  values[1] = 1; /* x = 1, y = 0 */
  g_autoptr(AstroRenderer) render = test_new_render(TEST_IMAGE "width=4,height=4,pols=1", &style);
  guint8 *frame = test_draw_frame(render, values, sizeof values, 64, 64, FALSE);
  for (guint y = 0; y < 4; y++)
    for (guint x = 0; x < 4; x++)
      g_assert_cmphex(test_pixel_at(frame, 64, x * 16 + 8, y * 16 + 8), ==,
                      x == 1 && y == 3 ? 0xffffff : 0);
  test_free(frame);
}

/* A mean of channels is taken over those with a value. */
static void mean_of_channels(void)
{
  static const char *const formats[] = { "F32LE", "F64LE" };
  const double channels[3][4] = { { 0, 1, 1, NAN }, { NAN, NAN, NAN, NAN }, { 0, 0, 1, NAN } };
  const guint32 expected[] = { 0, 0x808080, 0xffffff, 0x303030 };
  AstroRenderStyle style = test_plain;
  style.colormap = ASTRO_COLORMAP_GRAY;
  for (guint f = 0; f < G_N_ELEMENTS(formats); f++) {
    g_autofree char *caps = g_strdup_printf(
        "application/x-astro-image,format=%s,layout=channel:pol:y:x,channels=3,pols=1,"
        "width=4,height=1",
        formats[f]);
    g_autoptr(AstroRenderer) render = test_new_render(caps, &style);
    float single[3][4];
    for (guint i = 0; i < 12; i++)
      single[i / 4][i % 4] = (float)channels[i / 4][i % 4];
    guint8 *frame = f ? test_draw_frame(render, channels, sizeof channels, 64, 16, FALSE)
                      : test_draw_frame(render, single, sizeof single, 64, 16, FALSE);
    for (guint x = 0; x < 4; x++)
      g_assert_cmphex(test_pixel_at(frame, 64, x * 16 + 8, 8), ==, expected[x]);
    test_free(frame);
  }
}

/* The newest row is on top, and power is the mean over stations and times. There are as many rows
 * as have come, up to the number asked for. */
static void waterfall_falls(void)
{
  AstroRenderStyle style = test_plain;
  style.colormap = ASTRO_COLORMAP_GRAY;
  style.rows = 4;
  style.low = 0;
  style.high = 200;
  g_autoptr(AstroRenderer) render = test_new_render(TEST_SPECTRA "format=CI8,channels=4", &style);
  for (guint i = 0; i < 200; i++) { /* the rows are moved in memory twice */
    const guint rows = MIN(i + 1, 4);
    gint8 data[2][3][4][2] = { 0 }; /* station, time, channel */
    for (guint s = 0; s < 2; s++)
      for (guint t = 0; t < 3; t++)
        data[s][t][i % 4][1] = s ? -10 : 14; /* (100 + 196) / 2 */
    guint8 *frame = test_draw_frame(render, data, sizeof data, 64, 64, FALSE);
    for (guint row = 0; row < rows; row++)
      for (guint c = 0; c < 4; c++) {
        guint32 expected = c == (i - row) % 4 ? 0xbdbdbd : 0; /* 148 / 200 */
        g_assert_cmphex(test_pixel_at(frame, 64, c * 16 + 8, (row * 64 + 32) / rows), ==, expected);
      }
    test_free(frame);
  }
}

/* Station i is row i, and V_ji is the conjugate of V_ij. */
static void matrix_of_visibilities(void)
{
  AstroRenderStyle style = test_plain;
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
      test_new_render(TEST_VISIBILITIES "channels=2,baselines=3,pols=2", &style);
  guint8 *frame = test_draw_frame(render, data, sizeof data, 128, 64, FALSE);
  g_assert_cmphex(test_pixel_at(frame, 128, 16, 16), ==, 0x555555);
  g_assert_cmphex(test_pixel_at(frame, 128, 48, 16), ==, 0xffffff);
  g_assert_cmphex(test_pixel_at(frame, 128, 16, 48), ==, 0xaaaaaa);
  g_assert_cmphex(test_pixel_at(frame, 128, 48, 48), ==, 0);
  g_assert_cmphex(test_pixel_at(frame, 128, 64 + 16, 48), ==, twilight[191]); /* 90 degrees */
  guint32 turned = test_pixel_at(frame, 128, 64 + 48, 16);                    /* 180 or -180 */
  g_assert_true(turned == twilight[0] || turned == twilight[255]);
  test_free(frame);
}

/* Gives a buffer counts of good samples over axes of a stream; free the buffer. */
static AstroValidityMeta *new_counts(GstBuffer **buffer, const AstroLayout *shape, guint32 full,
                                     const guint32 *counts)
{
  *buffer = gst_buffer_new();
  AstroValidityMeta *meta = astro_buffer_add_validity(*buffer, shape, full);
  memcpy(meta->counts, counts, astro_validity_n_counts(meta) * sizeof *counts);
  return meta;
}

/* Zeros in place of lost samples do not lower the power, and a row without good samples is
 * blank. */
static void lost_spectra(void)
{
  const AstroLayout shape = { 3,
                              { ASTRO_AXIS_STATION, ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL },
                              { 2, 3, 2 } };
  const guint32 counts[] = { 5, 0, 5, 0, 0, 0, 0, 0, 0, 0, 5, 0 }; /* half of channels 0 and 1 */
  const guint32 expected[] = { 0xffffff, 0xffffff, 0x303030, 0x303030 };
  AstroRenderStyle style = test_plain;
  GstBuffer *buffer;
  style.colormap = ASTRO_COLORMAP_GRAY;
  style.rows = 1;
  style.low = 0;
  style.high = 100;
  AstroRenderMoment moment = { 0, GST_SECOND, .validity = new_counts(&buffer, &shape, 5, counts) };
  g_autoptr(AstroRenderer) render = test_new_render(TEST_SPECTRA "format=CI8,channels=4", &style);
  gint8 data[2][3][4][2] = { 0 };
  data[0][0][0][0] = data[0][1][0][0] = data[1][2][0][0] = 10;
  data[0][0][1][0] = data[0][1][1][0] = data[1][2][1][0] = 10;
  guint8 *frame = test_draw_moment(render, data, sizeof data, &moment, 64, 16, FALSE);
  for (guint c = 0; c < 4; c++)
    g_assert_cmphex(test_pixel_at(frame, 64, c * 16 + 8, 8), ==, expected[c]);
  test_free(frame);
  moment = (AstroRenderMoment){ 0, GST_SECOND, .is_gap = TRUE };
  frame = test_draw_moment(render, data, sizeof data, &moment, 64, 16, FALSE);
  g_assert_cmphex(test_pixel_at(frame, 64, 8, 8), ==, 0x303030);
  test_free(frame);
  gst_buffer_unref(buffer);
}

/* A buffer's spectra are averaged without a time axis too. */
static void spectra_without_time(void)
{
  AstroRenderStyle style = test_plain;
  AstroRenderMoment moment = { 0, GST_SECOND };
  style.colormap = ASTRO_COLORMAP_GRAY;
  style.rows = 1;
  style.low = 0;
  style.high = 100;
  g_autoptr(AstroRenderer) render =
      test_new_render(TEST_SPECTRA "format=CI8,layout=channel,channels=2", &style);
  gint8(*data)[2][2] = test_alloc(5 * sizeof *data);
  memset(data, 0, 5 * sizeof *data);
  for (guint i = 0; i < 5; i++)
    data[i][0][0] = 10;
  data[0][1][0] = data[2][1][1] = 10;
  guint8 *frame = test_draw_moment(render, data, 5 * sizeof *data, &moment, 64, 16, FALSE);
  g_assert_cmphex(test_pixel_at(frame, 64, 16, 8), ==, 0xffffff);
  g_assert_cmphex(test_pixel_at(frame, 64, 48, 8), ==, 0x666666);
  test_free(frame);
  test_free(data);
}

/* Losses in the second of two integrations, which is the one that is shown. */
static void lost_visibilities(void)
{
  static const char *const formats[] = { "CF32LE", "CI32LE" };
  const AstroLayout shape = { 3,
                              { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL, ASTRO_AXIS_BASELINE },
                              { 2, 2, 3 } };
  const guint32 counts[] = { 4, 4, 4, 4, 4, 4, 4, 1, 0, 0, 3, 0 };
  AstroRenderStyle style = test_plain;
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
    g_autoptr(AstroRenderer) render = test_new_render(caps, &style);
    /* Per good sample: 100 in channel 0 of baseline 0; 100 and 20 in baseline 1, with a mean of
     * 40. */
    const float means[2][2][3][2] = {
      { { { 0 } } }, { { { 100 }, { 100 }, { 1e9f } }, { { 1e9f }, { 20 }, { 7 } } }
    };
    gint32 sums[2][2][3][2] = { { { { 0 } } },
                                { { { 100 }, { 25 }, { 0 } }, { { 0 }, { 15 }, { 0 } } } };
    guint8 *frame = test_draw_moment(render, f ? (gconstpointer)sums : means, sizeof sums, &moment,
                                     128, 64, FALSE);
    g_assert_cmphex(test_pixel_at(frame, 128, 16, 16), ==, 0xffffff);
    g_assert_cmphex(test_pixel_at(frame, 128, 16, 48), ==, 0x666666);
    g_assert_cmphex(test_pixel_at(frame, 128, 48, 48), ==, 0x303030);
    g_assert_cmphex(test_pixel_at(frame, 128, 64 + 48, 48), ==, 0x303030);
    test_free(frame);
  }
  gst_buffer_unref(buffer);
}

/* Points are where the axes say, in the colour of marks alone. */
static void correlation_points(void)
{
  double table[3][2] = { { 3.16227766, 31.6227766 }, { 0.316227766, -0.0316227766 }, { 0, 0 } };
  g_autoptr(AstroRenderer) render =
      test_new_render(TEST_CORRELATION "columns=theta:w:error,bins=2", &test_plain);
  guint8 *frame = test_draw_frame(render, table, sizeof table, 100, 100, FALSE);
  /* Too small for axes: 1 to 100 arcmin across, 0.01 to 1 up. */
  g_assert_cmphex(test_pixel_at(frame, 100, 25, 25), ==, 0xffb840);
  g_assert_cmphex(test_pixel_at(frame, 100, 75, 75), ==, 0x111111);
  test_free(frame);
}

/* Bins without pairs of the data are not drawn, and axes do not extend to them. */
static void correlation_without_pairs(void)
{
  const double table[4][4] = { { 3.16227766, 31.6227766, 3162.27766, 31622.7766 },
                               { 0.316227766, -0.0316227766, 1, 1 },
                               { 0, 0, 1e-15, NAN },
                               { 1000, 1000, 0, 0 } };
  g_autoptr(AstroRenderer) render =
      test_new_render(TEST_CORRELATION "columns=theta:w:error:dd,bins=4", &test_plain);
  guint8 *frame = test_draw_frame(render, (gpointer)table, sizeof table, 100, 100, FALSE);
  g_assert_cmphex(test_pixel_at(frame, 100, 25, 25), ==, 0xffb840);
  g_assert_cmphex(test_pixel_at(frame, 100, 75, 75), ==, 0x111111);
  test_free(frame);
}

/* Each function of a shear has a panel over decades, below one another. */
static void correlation_of_shear(void)
{
  enum { R_NOM, LOW, HIGH, MEAN_R, XIP, XIM, SIGMA_XIP, SIGMA_XIM, NPAIRS, N_COLUMNS };
  double table[N_COLUMNS][3] = { [MEAN_R] = { 3.16227766, 31.6227766, 3162.27766 },
                                 [XIP] = { 0.316227766, 0.0316227766, 1e9 },
                                 [XIM] = { 0.0316227766, 0.316227766, 1e9 },
                                 [NPAIRS] = { 5, 5, 0 } };
  g_autoptr(AstroRenderer) render = test_new_render(
      TEST_CORRELATION "columns=r_nom:low:high:meanr:xip:xim:sigma_xip:sigma_xim:npairs,bins=3",
      &test_plain);
  guint8 *frame = test_draw_frame(render, table, sizeof table, 100, 200, FALSE);
  for (guint panel = 0; panel < 2; panel++)
    for (guint bin = 0; bin < 2; bin++) {
      const guint x = bin ? 75 : 25, up = bin == panel ? 25 : 75;
      g_assert_cmphex(test_pixel_at(frame, 100, x, 100 * panel + up), ==, 0xffb840);
      g_assert_cmphex(test_pixel_at(frame, 100, x, 100 * panel + 100 - up), !=, 0xffb840);
    }
  test_free(frame);
}

/* Values of xi are where their bins are, s upwards and mu to the right, whether the table has the
 * columns of a row together or, as of wedges, the rows of a column. */
static void correlation_maps(void)
{
  enum { S, LOW, HIGH, MU, MU_LOW, MU_HIGH, XI, ERROR, N_COLUMNS };
  static const double values[3][2] = { { 0, 40 }, { 100, 0 }, { NAN, 100 } }; /* [s][mu] */
  static const guint32 expected[3][2] = { { 0x000000, 0x666666 },
                                          { 0xffffff, 0x000000 },
                                          { 0x303030, 0xffffff } };
  AstroRenderStyle style = test_plain;
  style.colormap = ASTRO_COLORMAP_GRAY;
  style.stretch = ASTRO_STRETCH_LINEAR;
  style.low = 0;
  style.high = 100;
  for (guint by_row = 0; by_row < 2; by_row++) {
    double table[N_COLUMNS][6] = { { 0 } };
    g_autoptr(AstroRenderer) render = test_new_render(
        TEST_CORRELATION "columns=s:s_low:s_high:mu:mu_low:mu_high:xi:error,bins=6", &style);
    for (guint s = 0; s < 3; s++)
      for (guint m = 0; m < 2; m++) {
        const guint row = by_row ? 2 * s + m : 3 * m + s;
        table[S][row] = 5 + 10 * s;
        table[LOW][row] = 10 * s;
        table[HIGH][row] = 10 + 10 * s;
        table[MU_LOW][row] = 0.5 * m;
        table[MU_HIGH][row] = 0.5 + 0.5 * m;
        table[XI][row] = values[s][m];
      }
    guint8 *frame = test_draw_frame(render, table, sizeof table, 60, 60, FALSE);
    for (guint s = 0; s < 3; s++)
      for (guint m = 0; m < 2; m++)
        g_assert_cmphex(test_pixel_at(frame, 60, 15 + 30 * m, 50 - 20 * s), ==, expected[s][m]);
    test_free(frame);
  }
}

/* wp is over decades, as w(theta) is. */
static void correlation_wp(void)
{
  double table[5][2] = {
    { 3.16227766, 31.6227766 }, { 0, 0 }, { 0, 0 }, { 31.6227766, -3.16227766 }, { 0, 0 }
  };
  g_autoptr(AstroRenderer) render =
      test_new_render(TEST_CORRELATION "columns=rp:rp_low:rp_high:wp:error,bins=2", &test_plain);
  guint8 *frame = test_draw_frame(render, table, sizeof table, 100, 100, FALSE);
  g_assert_cmphex(test_pixel_at(frame, 100, 25, 25), ==, 0xffb840);
  g_assert_cmphex(test_pixel_at(frame, 100, 75, 75), ==, 0x111111);
  test_free(frame);
}

/* A panel for each multipole, of s^2 xi, whose range has 0 in it. */
static void correlation_multipoles(void)
{
  enum { S, LOW, HIGH, ELL, XI, ERROR, N_COLUMNS };
  double table[N_COLUMNS][6] = { { 0 } };
  static const double xi[3] = { 1, -1, 0 };
  for (guint row = 0; row < 6; row++) {
    table[S][row] = row % 2 ? 15 : 5;
    table[LOW][row] = row % 2 ? 10 : 0;
    table[HIGH][row] = row % 2 ? 20 : 10;
    table[ELL][row] = 2 * (row / 2);
    table[XI][row] = row % 2 ? xi[row / 2] : NAN;
  }
  g_autoptr(AstroRenderer) render =
      test_new_render(TEST_CORRELATION "columns=s:s_low:s_high:ell:xi:error,bins=6", &test_plain);
  guint8 *frame = test_draw_frame(render, table, sizeof table, 90, 270, FALSE);
  guint found[3] = { 0 };
  for (guint y = 0; y < 270; y++)
    if (test_pixel_at(frame, 90, 67, y) == 0xffb840)
      found[y / 90]++;
  for (guint m = 0; m < 3; m++)
    g_assert_cmpuint(found[m], >, 0);
  test_free(frame);
}

static void correlation_refused(void)
{
  static const char *const columns[] = { "s:s_low:s_high:xi:error", "rp:wp:error",
                                         "s:s_low:s_high:ell:xi:error" };
  for (guint i = 0; i < G_N_ELEMENTS(columns); i++) {
    g_autofree char *text = g_strdup_printf(TEST_CORRELATION "columns=%s,bins=4", columns[i]);
    g_autoptr(GstCaps) caps = gst_caps_from_string(text);
    g_autoptr(GError) error = NULL;
    g_assert_null(astro_renderer_new(caps, &test_plain, NULL, &error));
    g_assert_error(error, ASTRO_RENDER_ERROR, ASTRO_RENDER_ERROR_CAPS);
    g_assert_nonnull(strstr(error->message, "expected those of astrotpacf: s or rp"));
  }
}

static void add_tests(void)
{
  g_test_add_func("/render/correlation-maps", correlation_maps);
  g_test_add_func("/render/correlation-of-shear", correlation_of_shear);
  g_test_add_func("/render/correlation-wp", correlation_wp);
  g_test_add_func("/render/correlation-multipoles", correlation_multipoles);
  g_test_add_func("/render/correlation-refused", correlation_refused);
  g_test_add_func("/render/image-stands-upright", image_stands_upright);
  g_test_add_func("/render/mean-of-channels", mean_of_channels);
  g_test_add_func("/render/waterfall-falls", waterfall_falls);
  g_test_add_func("/render/matrix-of-visibilities", matrix_of_visibilities);
  g_test_add_func("/render/lost-spectra", lost_spectra);
  g_test_add_func("/render/spectra-without-time", spectra_without_time);
  g_test_add_func("/render/lost-visibilities", lost_visibilities);
  g_test_add_func("/render/correlation-points", correlation_points);
  g_test_add_func("/render/correlation-without-pairs", correlation_without_pairs);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
