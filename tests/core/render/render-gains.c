/* Pictures of gains: the value of each station, interval and channel, gaps and flags, and what is
 * refused. */
#include "core/lib/gains/caps.h"
#include "core/render/figure-layout.h"
#include "core/render/panel.h"
#include "tests/core/render/render.h"

#define GAINS(stations, channels, type, pols, products)                                            \
  "application/x-astro-gains,format=CF64LE,layout=station:channel:pol,stations=" #stations         \
  ",channels=" #channels ",gains=" type ",pols=" #pols ",products=" products

typedef struct {
  AstroRenderInput input;
  AstroRenderStyle style;
  GArray *panels;
  gpointer kind;
} Picture;

static void open_picture(Picture *p, const char *text, const AstroRenderStyle *style,
                         GError **error)
{
  g_autoptr(GstCaps) caps = gst_caps_from_string(text);
  *p = (Picture){ .style = *style, .panels = g_array_new(FALSE, FALSE, sizeof(AstroPanel)) };
  p->input.style = &p->style;
  g_array_set_clear_func(p->panels, astro_panel_clear);
  AstroGainsType type;
  g_assert_true(astro_gains_from_caps(&p->input.stream, &type, &p->input.products, caps, NULL));
  p->input.has_amplitudes =
      type == ASTRO_GAINS_GAIN || type == ASTRO_GAINS_FULL || type == ASTRO_GAINS_BANDPASS;
  p->kind = astro_render_gains.open(&p->input, p->panels, error);
  for (guint i = 0; i < p->panels->len; i++)
    astro_panel_make_room(&g_array_index(p->panels, AstroPanel, i), NULL);
}

static void close_picture(Picture *p)
{
  if (p->kind)
    astro_render_gains.close(p->kind);
  g_array_unref(p->panels);
}

static AstroRenderMoment moment_of(double begin, double end)
{
  return (AstroRenderMoment){ .middle_ns = (gint64)((begin + end) / 2 * GST_SECOND),
                              .duration_ns = (guint64)((end - begin) * GST_SECOND) };
}

static const AstroPanel *take(Picture *p, const complex double *data, AstroRenderMoment moment)
{
  AstroPanel *panels = (AstroPanel *)(gpointer)p->panels->data;
  astro_render_gains.take(p->kind, data, 1, &moment, panels);
  return panels;
}

#define assert_near(a, b) g_assert_cmpfloat_with_epsilon((double)(a), (b), 1e-4)

/* Two stations, each polarisation: amplitude and phase; the time from 20 to 40 s has no interval,
 * and a longer interval takes more columns. */
static void test_times(void)
{
  AstroRenderStyle style = test_plain;
  Picture p;
  style.view = ASTRO_VIEW_AUTO;
  open_picture(&p, GAINS(2, 1, "gain", 2, "X:Y"), &style, NULL);
  g_assert_cmpuint(p.panels->len, ==, 4);
  const complex double one[] = { 1, 2 * I, 3, -4 }, two[] = { 5, 6, 7, 8 };
  take(&p, one, moment_of(0, 10));
  take(&p, two, moment_of(10, 20));
  const AstroPanel *panels = take(&p, one, moment_of(40, 60));
  g_assert_cmpstr(panels[0].x.label, ==, "Time since the start (s)");
  g_assert_cmpfloat(panels[0].x.from, ==, 0);
  g_assert_cmpfloat(panels[0].x.to, ==, 60);
  static const double amplitudes[4][6] = {
    { 1, 5, NAN, NAN, 1, 1 },
    { 3, 7, NAN, NAN, 3, 3 }, /* X of each station */
    { 2, 6, NAN, NAN, 2, 2 },
    { 4, 8, NAN, NAN, 4, 4 }, /* Y */
  };
  for (guint panel = 0; panel < 4; panel += 2) {
    g_assert_cmpuint(panels[panel].width, ==, 6);
    g_assert_cmpuint(panels[panel].height, ==, 2);
    g_assert_true(panels[panel + 1].is_dots);
    for (guint k = 0; k < 12; k++) {
      const double expected = amplitudes[panel + k / 6][k % 6];
      if (isnan(expected))
        g_assert_true(isnan(panels[panel].own[k]));
      else
        assert_near(panels[panel].own[k], expected);
    }
  }
  assert_near(panels[3].own[0], 90);
  assert_near(fabs(panels[3].own[6]), 180);
  assert_near(panels[3].own[1], 0);
  panels = take(&p, two, moment_of(0, 10)); /* back in time: a picture of its own */
  g_assert_cmpuint(panels[0].width, ==, 1);
  assert_near(panels[0].own[0], 5);
  close_picture(&p);
}

/* The oldest intervals make room for new ones. */
static void test_many(void)
{
  AstroRenderStyle style = test_plain;
  Picture p;
  const AstroPanel *panels = NULL;
  style.view = ASTRO_VIEW_AUTO;
  open_picture(&p, GAINS(1, 1, "gain", 1, "X"), &style, NULL);
  for (guint t = 0; t < 20; t++) {
    const complex double value = t;
    panels = take(&p, &value, moment_of(t, t + 1));
  }
  g_assert_cmpuint(panels[0].width, ==, 8);
  for (guint t = 0; t < 8; t++)
    assert_near(panels[0].own[t], 12 + t);
  close_picture(&p);
}

/* Flagged gains are left out of means over channels, and are not shown alone; along the band each
 * channel is shown. */
static void test_flags(void)
{
  static const AstroLayout shape = { 3,
                                     { ASTRO_AXIS_STATION, ASTRO_AXIS_CHANNEL, ASTRO_AXIS_POL },
                                     { 2, 3, 1 } };
  AstroRenderStyle style = test_plain;
  AstroRenderMoment moment = moment_of(0, 10);
  g_autoptr(GstBuffer) buffer = gst_buffer_new();
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &shape, 1);
  const complex double data[] = { 1, 100, 3, 9, 9, 9 };
  Picture p;
  meta->counts[1] = meta->counts[3] = meta->counts[4] = meta->counts[5] = 0;
  moment.validity = meta;
  style.view = ASTRO_VIEW_AUTO;
  open_picture(&p, GAINS(2, 3, "bandpass", 1, "X"), &style, NULL);
  g_assert_cmpuint(p.panels->len, ==, 4);
  const AstroPanel *panels = take(&p, data, moment);
  assert_near(panels[0].own[0], 2);
  g_assert_true(isnan(panels[0].own[1]));
  g_assert_cmpuint(panels[2].width, ==, 3);
  assert_near(panels[2].own[0], 1);
  g_assert_true(isnan(panels[2].own[1]));
  assert_near(panels[2].own[2], 3);
  g_assert_true(isnan(panels[2].own[5]));
  close_picture(&p);
  style.channel = 2;
  open_picture(&p, GAINS(2, 3, "bandpass", 1, "X"), &style, NULL);
  panels = take(&p, data, moment);
  assert_near(panels[0].own[0], 3);
  close_picture(&p);
}

/* Delays are in ns; of types without amplitudes only phases are shown. */
static void test_delays(void)
{
  AstroRenderStyle style = test_plain;
  const complex double data[] = { I, 3e-9 };
  Picture p;
  style.view = ASTRO_VIEW_AUTO;
  open_picture(&p, GAINS(1, 1, "delay", 2, "X:X-DELAY"), &style, NULL);
  g_assert_cmpuint(p.panels->len, ==, 2);
  const AstroPanel *panels = take(&p, data, moment_of(0, 10));
  assert_near(panels[0].own[0], 90);
  assert_near(panels[1].own[0], 3);
  g_assert_cmpstr(panels[1].y.label, ==, "Delay (ns)");
  close_picture(&p);
  open_picture(&p, GAINS(1, 1, "phase", 2, "R:L"), &style, NULL);
  g_assert_cmpuint(p.panels->len, ==, 2);
  g_assert_cmpstr(g_array_index(p.panels, AstroPanel, 1).title, ==, "L");
  close_picture(&p);
  style.product = "YY";
  open_picture(&p, GAINS(1, 1, "full", 4, "XX:XY:YX:YY"), &style, NULL);
  g_assert_cmpuint(p.panels->len, ==, 2);
  const complex double full[] = { 1, 2, 3, 4 };
  assert_near(take(&p, full, moment_of(0, 10))[0].own[0], 4);
  close_picture(&p);
}

/* Many stations are rows of pixels. */
static void test_raster(void)
{
  AstroRenderStyle style = test_plain;
  complex double data[40];
  Picture p;
  style.view = ASTRO_VIEW_AUTO;
  for (guint i = 0; i < 40; i++)
    data[i] = i;
  open_picture(&p, GAINS(40, 1, "gain", 1, "X"), &style, NULL);
  const AstroPanel *panels = take(&p, data, moment_of(0, 10));
  g_assert_false(panels[0].is_curves);
  g_assert_true(panels[1].is_angle);
  for (guint i = 0; i < 40; i++)
    assert_near(panels[0].own[i], i);
  close_picture(&p);
}

static void test_refused(void)
{
  static const struct {
    const char *product, *says;
    AstroView view;
    gint channel;
  } cases[] = {
    { "XX", "no product XX, expected one of X:Y", ASTRO_VIEW_AUTO, -1 },
    { NULL, "property view is fringe, expected auto for gains", ASTRO_VIEW_FRINGE, -1 },
    { NULL, "there is no channel 1, expected 0", ASTRO_VIEW_AUTO, 1 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    AstroRenderStyle style = test_plain;
    g_autoptr(GError) error = NULL;
    Picture p;
    style.view = cases[i].view;
    style.product = cases[i].product;
    style.channel = cases[i].channel;
    open_picture(&p, GAINS(2, 1, "gain", 2, "X:Y"), &style, &error);
    g_assert_null(p.kind);
    test_says(error->message, cases[i].says);
    close_picture(&p);
  }
}

/* Caps that are not those of gains. */
static void test_caps(void)
{
  static const struct {
    const char *caps, *says;
  } cases[] = {
    { GAINS(2, 1, "gain", 2, "XX:YY"), "products of gains=gain are XX:YY" },
    { GAINS(2, 1, "gain", 3, "X:Y"), "pols=3 but products=X:Y are 2" },
    { GAINS(2, 1, "loss", 2, "X:Y"), "caps field \"gains\" is loss" },
    { GAINS(2, 1, "full", 2, "X:Y"), "products of gains=full are X:Y" },
    { "application/x-astro-gains,format=CF32LE,layout=station:channel:pol,stations=1,channels=1,"
      "pols=1",
      "gains of format=CF32LE" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GstCaps) caps = gst_caps_from_string(cases[i].caps);
    g_autoptr(GError) error = NULL;
    AstroStream stream;
    AstroGainsType type;
    AstroPowerProducts products;
    g_assert_false(astro_gains_from_caps(&stream, &type, &products, caps, &error));
    test_says(error->message, cases[i].says);
  }
}

/* The whole page, of curves and of pixels. */
static void test_page(void)
{
  static const char *const all[] = { GAINS(2, 2, "gain", 2, "X:Y"),
                                     GAINS(20, 2, "gain", 2, "X:Y") };
  for (guint i = 0; i < G_N_ELEMENTS(all); i++) {
    AstroRenderStyle style = test_plain;
    complex double data[80];
    for (guint k = 0; k < G_N_ELEMENTS(data); k++)
      data[k] = cexp(I * k);
    style.view = ASTRO_VIEW_AUTO;
    g_autoptr(AstroRenderer) render = test_new_render(all[i], &style);
    guint8 *frame =
        test_draw_frame(render, data, i ? sizeof data : sizeof data / 10, 640, 480, FALSE);
    test_free(frame);
  }
}

/* Eight panels find places beside their texts, in three columns: two columns would be larger, and
 * too low. */
static void test_layout(void)
{
  AstroRenderStyle style = test_plain;
  AstroPageLayout page;
  AstroPanelPlace places[8];
  Picture p;
  style.view = ASTRO_VIEW_AUTO;
  open_picture(&p, GAINS(40, 16, "bandpass", 2, "X:Y"), &style, NULL);
  g_assert_cmpuint(p.panels->len, ==, G_N_ELEMENTS(places));
  astro_page_layout(&style, TRUE, (const AstroPanel *)(gpointer)p.panels->data,
                    G_N_ELEMENTS(places), 1600, 1200, &page, places);
  g_assert_false(page.is_bare);
  g_assert_cmpint(places[0].y, ==, places[2].y);
  g_assert_cmpint(places[0].y, <, places[3].y);
  close_picture(&p);
}

static void add_tests(void)
{
  g_test_add_func("/render-gains/times", test_times);
  g_test_add_func("/render-gains/many", test_many);
  g_test_add_func("/render-gains/flags", test_flags);
  g_test_add_func("/render-gains/delays", test_delays);
  g_test_add_func("/render-gains/raster", test_raster);
  g_test_add_func("/render-gains/refused", test_refused);
  g_test_add_func("/render-gains/caps", test_caps);
  g_test_add_func("/render-gains/page", test_page);
  g_test_add_func("/render-gains/layout", test_layout);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
