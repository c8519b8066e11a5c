/* Pictures of power: each value of both panels, in dB or not, with and without the shape of the
 * band. */
#include "core/render/panel.h"
#include "tests/near.h"
#include "tests/core/render/render.h"

#define POWER                                                                                      \
  "application/x-astro-power,format=F32LE,layout=time:station:pol:channel,stations=2,channels=3,"  \
  "pols=2,products=I:Q,"
enum { STEPS = 4, STATIONS = 2, POLS = 2, CHANNELS = 3, STEP = STATIONS * POLS * CHANNELS };

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
  g_assert_true(astro_power_from_caps(&p->input.stream, &p->input.products, caps, NULL));
  p->kind = astro_render_power.open(&p->input, p->panels, error);
  for (guint i = 0; i < p->panels->len; i++)
    astro_panel_make_room(&g_array_index(p->panels, AstroPanel, i), NULL);
}

static void close_picture(Picture *p)
{
  if (p->kind)
    astro_render_power.close(p->kind);
  g_array_unref(p->panels);
}

static AstroPanel *take(Picture *p, const float *data, const AstroRenderMoment *moment)
{
  AstroPanel *panels = (AstroPanel *)(gpointer)p->panels->data;
  astro_render_power.take(p->kind, data, STEPS, moment, panels);
  return panels;
}

/* I of station s in channel c at step t. */
static double power_at(guint t, guint s, guint c)
{
  return (t + 1) * (s ? 3 : 1) * pow(10, c);
}

static void fill(float *data)
{
  for (guint t = 0; t < STEPS; t++)
    for (guint s = 0; s < STATIONS; s++)
      for (guint c = 0; c < CHANNELS; c++) {
        float *at = data + ((gsize)t * STATIONS + s) * POLS * CHANNELS + c;
        at[0] = (float)power_at(t, s, c);
        at[CHANNELS] = -at[0];
      }
}

#define assert_near(a, b) g_assert_cmpfloat_with_epsilon((double)(a), b, 1e-5 * fabs(b) + 1e-5)

/* The spectrum is the mean over all of each station, and the rows are the mean of both, the
 * newest first. */
static void test_values(void)
{
  AstroRenderStyle style = test_plain;
  float data[STEPS * STEP];
  Picture p;
  fill(data);
  style.view = ASTRO_VIEW_AUTO;
  for (guint decibels = 0; decibels < 2; decibels++) {
    style.decibels = decibels != 0;
    open_picture(&p, POWER, &style, NULL);
    g_assert_cmpuint(p.panels->len, ==, 2);
    const AstroPanel *panels = take(&p, data, &test_five);
    g_assert_cmpuint(panels[0].height, ==, STATIONS);
    g_assert_cmpuint(panels[1].height, ==, STEPS);
    for (guint c = 0; c < CHANNELS; c++) {
      for (guint s = 0; s < STATIONS; s++) {
        const double mean = power_at(0, s, c) * 2.5;
        assert_near(panels[0].own[s * CHANNELS + c], decibels ? 10 * log10(mean) : mean);
      }
      for (guint t = 0; t < STEPS; t++) {
        const double mean = power_at(STEPS - 1 - t, 0, c) * 2;
        assert_near(panels[1].own[t * CHANNELS + c], decibels ? 10 * log10(mean) : mean);
      }
    }
    /* Each integration is a quarter of the buffer's second. */
    assert_near(panels[1].y.from, 1.0);
    close_picture(&p);
  }
}

/* Divided by the mean of each channel over the rows, nothing is left of the band. */
static void test_flatten(void)
{
  AstroRenderStyle style = test_plain;
  float data[STEPS * STEP];
  Picture p;
  fill(data);
  style.view = ASTRO_VIEW_AUTO;
  style.flatten = TRUE;
  open_picture(&p, POWER, &style, NULL);
  const AstroPanel *panels = take(&p, data, &test_five);
  for (guint c = 0; c < CHANNELS; c++) {
    assert_near(panels[0].own[c], 0.5);
    assert_near(panels[0].own[CHANNELS + c], 1.5);
    for (guint t = 0; t < STEPS; t++)
      assert_near(panels[1].own[t * CHANNELS + c], (STEPS - t) / 2.5);
  }
  close_picture(&p);
}

/* Q has a sign, and is shown as it is. */
static void test_signed(void)
{
  AstroRenderStyle style = test_plain;
  float data[STEPS * STEP];
  Picture p;
  fill(data);
  style.view = ASTRO_VIEW_WATERFALL;
  style.decibels = style.flatten = TRUE;
  style.product = "Q";
  open_picture(&p, POWER, &style, NULL);
  g_assert_cmpuint(p.panels->len, ==, 1);
  const AstroPanel *panels = take(&p, data, &test_five);
  assert_near(panels[0].own[0], -2.0 * power_at(STEPS - 1, 0, 0));
  close_picture(&p);
}

/* A station without samples does not lower the mean of all, and a gap has no values. */
static void test_losses(void)
{
  AstroRenderStyle style = test_plain;
  AstroRenderMoment moment = test_five;
  float data[STEPS * STEP];
  const AstroLayout shape = { 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION }, { STEPS, STATIONS } };
  g_autoptr(GstBuffer) buffer = gst_buffer_new();
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &shape, 5);
  Picture p;
  fill(data);
  meta->counts[(STEPS - 1) * STATIONS + 1] = 0;
  meta->counts[(STEPS - 2) * STATIONS] = meta->counts[(STEPS - 2) * STATIONS + 1] = 0;
  moment.validity = meta;
  style.view = ASTRO_VIEW_AUTO;
  open_picture(&p, POWER, &style, NULL);
  const AstroPanel *panels = take(&p, data, &moment);
  assert_near(panels[1].own[0], power_at(STEPS - 1, 0, 0));
  g_assert_true(isnan(panels[1].own[CHANNELS]));
  assert_near(panels[0].own[0], (1 + 2 + 4) / 3.0);
  assert_near(panels[0].own[CHANNELS], 3 * (1 + 2) / 2.0);
  moment.is_gap = TRUE;
  panels = take(&p, data, &moment);
  g_assert_true(isnan(panels[1].own[0]));
  assert_near(panels[0].own[0], (1 + 2 + 4) / 3.0);
  g_assert_cmpuint(panels[1].height, ==, 8);
  close_picture(&p);
}

/* Spectra forget what was long ago: of five buffers with as many integrations as there are rows,
 * the first three. */
static void test_forgets(void)
{
  AstroRenderStyle style = test_plain;
  float data[STEPS * STEP];
  Picture p;
  style.view = ASTRO_VIEW_SPECTRUM;
  style.rows = STEPS;
  open_picture(&p, POWER, &style, NULL);
  const AstroPanel *panels = NULL;
  for (guint i = 0; i < 5; i++) {
    for (guint k = 0; k < STEPS * STEP; k++)
      data[k] = (float)(i < 3 ? 1000 : i);
    panels = take(&p, data, &test_five);
  }
  assert_near(panels[0].own[0], 3.5);
  close_picture(&p);
}

/* Dispersion measures stand in the place of channels, with their values where these are even. */
/* Rows are 100 ns long. Pulses before the oldest row, after the newest, and at dispersion measures
 * that are not there have no mark. */
static void mark_pulses(Picture *p, guint which)
{
  const AstroRenderPulse pulses[] = {
    { 7, STEPS * 100 - 150, 115 }, { 8, -1, 115 },    { 9, STEPS * 100 + 1, 115 },
    { 10, STEPS * 100, 100 },      { 11, 100, 99.9 }, { 12, 100, 131 },
  };
  const AstroRenderMoment moment = { .middle_ns = STEPS * 50,
                                     .duration_ns = STEPS * 100,
                                     .pulses = pulses,
                                     .n_pulses = G_N_ELEMENTS(pulses) };
  float data[STEPS * STEP] = { 0 };
  AstroPanel *panel = &g_array_index(p->panels, AstroPanel, 0);
  take(p, data, &moment);
  astro_render_power.mark(p->kind, &moment, panel);
  if (which == 2) { /* without dispersion measures there is no place for them */
    g_assert_cmpuint(panel->n_marks, ==, 0);
    return;
  }
  g_assert_cmpuint(panel->n_marks, ==, 2);
  g_assert_cmpuint(panel->marks[0].number, ==, 7);
  test_near(panel->marks[0].x, which == 0 ? 1.5 : 1.25, 1e-12);
  test_near(panel->marks[0].y, panel->height - 1.5 - 0.5, 1e-12);
  g_assert_cmpuint(panel->marks[1].number, ==, 10);
  test_near(panel->marks[1].x, 0, 1e-12);
  test_near(panel->marks[1].y, panel->height - 0.5, 1e-12);
}

static void test_dms(void)
{
  static const char caps[] = "application/x-astro-power,format=F32LE,layout=time:station:dm:pol,"
                             "stations=2,dms=3,pols=2,products=I:Q";
  static const double dms[2][3] = { { 100, 110, 120 }, { 100, 110, 130 } };
  for (guint i = 0; i < 3; i++) {
    AstroRenderStyle style = test_plain;
    float data[STEPS * STEP], turned[STEPS * STEP];
    g_autoptr(AstroObservation) observation = astro_observation_new(2);
    g_autoptr(GstCaps) of = gst_caps_from_string(caps);
    Picture p = { .panels = g_array_new(FALSE, FALSE, sizeof(AstroPanel)) };
    fill(data);
    for (guint t = 0; t < STEPS * STATIONS; t++) /* pol is the fastest axis here */
      for (guint c = 0; c < CHANNELS; c++)
        for (guint pol = 0; pol < POLS; pol++)
          turned[(t * CHANNELS + c) * POLS + pol] = data[(t * POLS + pol) * CHANNELS + c];
    style.view = ASTRO_VIEW_WATERFALL;
    p.style = style;
    p.input.style = &p.style;
    if (i < 2) {
      astro_observation_set_dms(observation, dms[i], 3, 1e9, NULL);
      p.input.observation = observation;
    }
    g_array_set_clear_func(p.panels, astro_panel_clear);
    g_assert_true(astro_power_from_caps(&p.input.stream, &p.input.products, of, NULL));
    p.kind = astro_render_power.open(&p.input, p.panels, NULL);
    g_assert_nonnull(p.kind);
    g_assert_cmpuint(p.panels->len, ==, 1);
    astro_panel_make_room(&g_array_index(p.panels, AstroPanel, 0), NULL);
    const AstroPanel *panels = take(&p, turned, &(AstroRenderMoment){ 0 });
    g_assert_cmpuint(panels[0].width, ==, 3);
    g_assert_cmpfloat(panels[0].x.from, ==, i == 0 ? 95 : -0.5);
    g_assert_cmpfloat(panels[0].x.to, ==, i == 0 ? 125 : 2.5);
    for (guint t = 0; t < STEPS; t++)
      for (guint c = 0; c < CHANNELS; c++)
        assert_near(panels[0].own[t * CHANNELS + c], power_at(STEPS - 1 - t, 0, c) * 2);
    mark_pulses(&p, i);
    close_picture(&p);
  }
}

static void test_refused(void)
{
  static const struct {
    const char *caps, *product, *says;
    AstroView view;
  } cases[] = {
    { POWER, "XX", "no product XX, expected one of I:Q", ASTRO_VIEW_AUTO },
    { POWER, NULL, "property view is matrix", ASTRO_VIEW_MATRIX },
    { "application/x-astro-power,format=F32LE,layout=time,products=I", NULL, "an axis of channels",
      ASTRO_VIEW_AUTO },
    { "application/x-astro-power,format=F32LE,layout=time:dm:channel,dms=3,channels=2,products=I",
      NULL, "power of 2 channels at 3 dispersion measures", ASTRO_VIEW_AUTO },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    AstroRenderStyle style = test_plain;
    g_autoptr(GError) error = NULL;
    Picture p;
    style.view = cases[i].view;
    style.product = cases[i].product;
    open_picture(&p, cases[i].caps, &style, &error);
    g_assert_null(p.kind);
    test_says(error->message, cases[i].says);
    close_picture(&p);
  }
}

/* The whole page, and one of visibilities that asks for a waterfall. */
static void test_page(void)
{
  AstroRenderStyle style = test_plain;
  float data[STEPS * STEP];
  fill(data);
  style.view = ASTRO_VIEW_AUTO;
  style.decibels = TRUE;
  g_autoptr(AstroRenderer) render = test_new_render(POWER, &style);
  guint8 *frame = test_draw_frame(render, data, sizeof data, 320, 240, FALSE);
  test_free(frame);
  style.view = ASTRO_VIEW_WATERFALL;
  g_autoptr(GstCaps) caps = gst_caps_from_string(TEST_VISIBILITIES "channels=8,baselines=1,pols=1");
  g_autoptr(GError) error = NULL;
  g_assert_null(astro_renderer_new(caps, &style, NULL, &error));
  test_says(error->message, "property view is waterfall");
}

static void add_tests(void)
{
  g_test_add_func("/render-power/values", test_values);
  g_test_add_func("/render-power/flatten", test_flatten);
  g_test_add_func("/render-power/signed", test_signed);
  g_test_add_func("/render-power/losses", test_losses);
  g_test_add_func("/render-power/forgets", test_forgets);
  g_test_add_func("/render-power/dms", test_dms);
  g_test_add_func("/render-power/refused", test_refused);
  g_test_add_func("/render-power/page", test_page);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
