/* Pictures of profiles: each value of the three panels, losses, and what is refused. */
#include "core/render/panel.h"
#include "core/stream/profile.h"
#include "tests/core/render/render.h"

#define PROFILE                                                                                    \
  "application/x-astro-profile,format=F32LE,layout=station:channel:pol:phase,stations=2,"          \
  "channels=3,pols=2,products=I:Q,bins=4,period=0.5,dm=0.0,"
enum { STATIONS = 2, CHANNELS = 3, POLS = 2, BINS = 4, STEP = STATIONS * CHANNELS * POLS * BINS };

typedef struct {
  AstroRenderInput input;
  AstroRenderStyle style;
  GArray *panels;
  gpointer kind;
} Picture;

static void open_picture(Picture *p, const AstroRenderStyle *style, GError **error)
{
  g_autoptr(GstCaps) caps = gst_caps_from_string(PROFILE);
  AstroProfile profile;
  *p = (Picture){ .style = *style, .panels = g_array_new(FALSE, FALSE, sizeof(AstroPanel)) };
  p->input.style = &p->style;
  g_array_set_clear_func(p->panels, astro_panel_clear);
  g_assert_true(astro_profile_from_caps(&p->input.stream, &profile, caps, NULL));
  p->input.products = profile.products;
  p->kind = astro_render_profile.open(&p->input, p->panels, error);
  for (guint i = 0; i < p->panels->len; i++)
    astro_panel_make_room(&g_array_index(p->panels, AstroPanel, i), NULL);
}

static void close_picture(Picture *p)
{
  if (p->kind)
    astro_render_profile.close(p->kind);
  g_array_unref(p->panels);
}

static AstroPanel *take(Picture *p, const float *data, guint64 steps,
                        const AstroRenderMoment *moment)
{
  AstroPanel *panels = (AstroPanel *)(gpointer)p->panels->data;
  astro_render_profile.take(p->kind, data, steps, moment, panels);
  return panels;
}

static double power_at(guint step, guint s, guint c, guint b)
{
  return (step + 1) * (s ? 3 : 1) * (1 + c) + 10 * b;
}

static void fill(float *data, guint step)
{
  for (guint s = 0; s < STATIONS; s++)
    for (guint c = 0; c < CHANNELS; c++)
      for (guint b = 0; b < BINS; b++) {
        float *at = data + (((gsize)s * CHANNELS + c) * POLS) * BINS + b;
        at[0] = (float)power_at(step, s, c, b);
        at[BINS] = -at[0];
      }
}

#define assert_near(a, b) g_assert_cmpfloat_with_epsilon((double)(a), b, 1e-5 * fabs(b) + 1e-5)

/* Pulses and channels are means over both sub-integrations, rows are each by itself; in one buffer
 * or in two, and of the other product. */
static void test_values(void)
{
  for (guint way = 0; way < 3; way++) {
    AstroRenderStyle style = test_plain;
    float data[2 * STEP];
    Picture p;
    const double sign = way == 2 ? -1 : 1;
    style.view = ASTRO_VIEW_AUTO;
    style.product = way == 2 ? "Q" : NULL;
    fill(data, 0);
    fill(data + STEP, 1);
    open_picture(&p, &style, NULL);
    g_assert_cmpuint(p.panels->len, ==, 3);
    if (way == 0)
      take(&p, data, 1, &test_five);
    const AstroPanel *panels = take(&p, way ? data : data + STEP, way ? 2 : 1, &test_five);
    g_assert_cmpuint(panels[2].height, ==, 2);
    for (guint b = 0; b < BINS; b++) {
      for (guint s = 0; s < STATIONS; s++)
        assert_near(panels[0].own[s * BINS + b], sign * (1.5 * (s ? 3 : 1) * 2 + 10 * b));
      for (guint c = 0; c < CHANNELS; c++)
        assert_near(panels[1].own[c * BINS + b], sign * (1.5 * 2 * (1 + c) + 10 * b));
      for (guint r = 0; r < 2; r++)
        assert_near(panels[2].own[r * BINS + b], sign * ((2 - r) * 2 * 2 + 10 * b));
    }
    close_picture(&p);
  }
}

/* Divided by the mean over phase. */
static void test_flatten(void)
{
  AstroRenderStyle style = test_plain;
  float data[STEP];
  Picture p;
  style.view = ASTRO_VIEW_AUTO;
  style.flatten = TRUE;
  fill(data, 0);
  open_picture(&p, &style, NULL);
  const AstroPanel *panels = take(&p, data, 1, &test_five);
  for (guint b = 0; b < BINS; b++) {
    assert_near(panels[0].own[b], (2 + 10 * b) / 17.0);
    assert_near(panels[1].own[2 * BINS + b], (6 + 10 * b) / 21.0);
  }
  close_picture(&p);
}

/* Values weigh as much as the samples behind them; where there are none nothing is shown. */
static void test_losses(void)
{
  static const AstroLayout shape = { 3,
                                     { ASTRO_AXIS_STATION, ASTRO_AXIS_CHANNEL, ASTRO_AXIS_PHASE },
                                     { STATIONS, CHANNELS, BINS } };
  AstroRenderStyle style = test_plain;
  AstroRenderMoment moment = test_five;
  float data[STEP];
  g_autoptr(GstBuffer) buffer = gst_buffer_new();
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &shape, 1);
  Picture p;
  fill(data, 0);
  for (guint s = 0; s < STATIONS; s++)
    for (guint c = 0; c < CHANNELS; c++)
      meta->counts[(s * CHANNELS + c) * BINS + 3] = 0;
  meta->counts[0] = 3;
  data[0] = NAN;
  data[1 * POLS * BINS] = 1000;
  meta->counts[1 * BINS] = 0;
  moment.validity = meta;
  style.view = ASTRO_VIEW_AUTO;
  open_picture(&p, &style, NULL);
  const AstroPanel *panels = take(&p, data, 1, &moment);
  assert_near(panels[0].own[0], power_at(0, 0, 2, 0));
  g_assert_true(isnan(panels[0].own[3]));
  g_assert_true(isnan(panels[1].own[3]));
  assert_near(panels[1].own[0], power_at(0, 1, 0, 0));
  g_assert_true(isnan(panels[2].own[3]));
  moment.is_gap = TRUE;
  panels = take(&p, data, 1, &moment);
  g_assert_true(isnan(panels[2].own[0]));
  assert_near(panels[0].own[0], power_at(0, 0, 2, 0));
  close_picture(&p);
}

static void test_refused(void)
{
  static const struct {
    const char *product, *says;
    AstroView view;
  } cases[] = {
    { "XX", "no product XX, expected one of I:Q", ASTRO_VIEW_AUTO },
    { NULL, "property view is matrix", ASTRO_VIEW_MATRIX },
    { NULL, "property view is waterfall", ASTRO_VIEW_WATERFALL },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    AstroRenderStyle style = test_plain;
    g_autoptr(GError) error = NULL;
    Picture p;
    style.view = cases[i].view;
    style.product = cases[i].product;
    open_picture(&p, &style, &error);
    g_assert_null(p.kind);
    test_says(error->message, cases[i].says);
    close_picture(&p);
  }
}

/* The whole page. */
static void test_page(void)
{
  AstroRenderStyle style = test_plain;
  float data[STEP];
  fill(data, 0);
  style.view = ASTRO_VIEW_AUTO;
  g_autoptr(AstroRenderer) render = test_new_render(PROFILE, &style);
  guint8 *frame = test_draw_frame(render, data, sizeof data, 320, 240, FALSE);
  test_free(frame);
}

static void add_tests(void)
{
  g_test_add_func("/render-profile/values", test_values);
  g_test_add_func("/render-profile/flatten", test_flatten);
  g_test_add_func("/render-profile/losses", test_losses);
  g_test_add_func("/render-profile/refused", test_refused);
  g_test_add_func("/render-profile/page", test_page);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
