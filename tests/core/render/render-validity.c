/* Pictures of validity: each value, for streams whose counts are over any axes; and refusals. */
#include "core/render/panel.h"
#include "tests/core/render/render.h"

enum { STEPS = 4, CHANNELS = 4 };
#define POWER                                                                                      \
  "application/x-astro-power,format=F32LE,layout=time:station:pol:channel,stations=2,channels=4,"  \
  "pols=1,products=I,rate=1/1"
#define SPECTRA                                                                                    \
  "application/x-astro-spectra,format=CF16LE,layout=station:time:channel,stations=2,channels=4"

typedef struct {
  AstroRenderInput input;
  AstroRenderStyle style;
  GArray *panels;
  gpointer kind;
} Picture;

static void open_picture(Picture *p, const char *text)
{
  g_autoptr(GstCaps) caps = gst_caps_from_string(text);
  *p = (Picture){ .style = test_plain, .panels = g_array_new(FALSE, FALSE, sizeof(AstroPanel)) };
  p->style.rows = 8;
  p->input.style = &p->style;
  g_array_set_clear_func(p->panels, astro_panel_clear);
  g_assert_true(astro_stream_from_caps(&p->input.stream, caps, NULL));
  p->kind = astro_render_validity.open(&p->input, p->panels, NULL);
  g_assert_nonnull(p->kind);
  astro_panel_make_room(&g_array_index(p->panels, AstroPanel, 0), NULL);
}

static void close_picture(Picture *p)
{
  astro_render_validity.close(p->kind);
  g_array_unref(p->panels);
}

/* The newest row is on top. */
static const float *take(Picture *p, const AstroValidityMeta *meta, gboolean is_gap)
{
  const AstroRenderMoment moment = { .validity = meta, .is_gap = is_gap };
  AstroPanel *panel = &g_array_index(p->panels, AstroPanel, 0);
  astro_render_validity.take(p->kind, NULL, STEPS, &moment, panel);
  return panel->values;
}

static void test_power(void)
{
  Picture p;
  g_autoptr(GstBuffer) buffer = gst_buffer_new();
  const AstroLayout shape = { 3,
                              { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION, ASTRO_AXIS_CHANNEL },
                              { STEPS, 2, CHANNELS } };
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &shape, 8);
  open_picture(&p, POWER);
  for (guint t = 0; t < STEPS; t++)
    for (guint s = 0; s < 2; s++)
      for (guint c = 0; c < CHANNELS; c++)
        meta->counts[(t * 2 + s) * CHANNELS + c] = s ? t : c;
  const float *rows = take(&p, meta, FALSE);
  for (guint t = 0; t < STEPS; t++)
    for (guint c = 0; c < CHANNELS; c++)
      g_assert_cmpfloat_with_epsilon(rows[(STEPS - 1 - t) * CHANNELS + c],
                                     100.f * (float)(t + c) / 16, 1e-4f);
  rows = take(&p, NULL, FALSE);
  g_assert_cmpfloat(rows[CHANNELS - 1], ==, 100);
  rows = take(&p, NULL, TRUE);
  g_assert_cmpfloat(rows[0], ==, 0);
  g_assert_cmpfloat(rows[STEPS * CHANNELS], ==, 100); /* of the block before */
  close_picture(&p);
}

/* A row a buffer; counts of two halves of the time, and of pairs of channels. */
static void test_spectra(void)
{
  Picture p;
  g_autoptr(GstBuffer) buffer = gst_buffer_new();
  const AstroLayout shape = { 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL }, { 2, 2 } };
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &shape, 1);
  open_picture(&p, SPECTRA);
  meta->counts[1] = meta->counts[3] = 0;
  meta->counts[2] = 0;
  const float *rows = take(&p, meta, FALSE);
  g_assert_cmpfloat(rows[0], ==, 50);
  g_assert_cmpfloat(rows[1], ==, 50);
  g_assert_cmpfloat(rows[2], ==, 0);
  g_assert_cmpfloat(rows[3], ==, 0);
  close_picture(&p);
}

/* Two waterfalls of the mean of both stations: flags leave the values, and take them out of the
 * second. */
static void test_flags(void)
{
  Picture p;
  g_autoptr(GstCaps) caps = gst_caps_from_string(POWER);
  g_autoptr(GstBuffer) buffer = gst_buffer_new();
  const AstroLayout shape = { 3,
                              { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION, ASTRO_AXIS_CHANNEL },
                              { STEPS, 2, CHANNELS } };
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &shape, 2);
  float data[STEPS * 2 * CHANNELS];
  p = (Picture){ .style = test_plain, .panels = g_array_new(FALSE, FALSE, sizeof(AstroPanel)) };
  p.input.style = &p.style;
  g_array_set_clear_func(p.panels, astro_panel_clear);
  g_assert_true(astro_power_from_caps(&p.input.stream, &p.input.products, caps, NULL));
  p.kind = astro_render_flags.open(&p.input, p.panels, NULL);
  AstroPanel *panels = (AstroPanel *)(gpointer)p.panels->data;
  for (guint i = 0; i < 2; i++)
    astro_panel_make_room(&panels[i], NULL);
  for (guint i = 0; i < STEPS * 2 * CHANNELS; i++)
    data[i] = (float)(i / CHANNELS % 2 ? 10 : 2 + i % CHANNELS);
  for (guint t = 0; t < STEPS; t++)
    meta->counts[(t * 2 + 1) * CHANNELS + 1] = 0;
  for (guint s = 0; s < 2; s++)
    meta->counts[s * CHANNELS + 2] = 0;
  data[3] = data[CHANNELS + 3] = 0; /* no sample at all */
  const AstroRenderMoment moment = { .validity = meta };
  astro_render_flags.take(p.kind, data, STEPS, &moment, panels);
  for (guint row = 0; row < STEPS; row++)
    for (guint c = 0; c < CHANNELS; c++) {
      const gboolean is_first = row == STEPS - 1;
      const float before = panels[0].values[row * CHANNELS + c],
                  after = panels[1].values[row * CHANNELS + c];
      if (is_first && c == 3)
        g_assert_true(isnan(before) && isnan(after));
      else
        g_assert_cmpfloat(before, ==, (12 + c) / 2.f);
      if (is_first && c == 2)
        g_assert_true(isnan(after));
      else if (c == 1)
        g_assert_cmpfloat(after, ==, 3);
      else if (!is_first || c != 3)
        g_assert_cmpfloat(after, ==, before);
    }
  astro_render_flags.close(p.kind);
  g_array_unref(p.panels);
}

static void test_refused(void)
{
  AstroRenderStyle style = test_plain;
  g_autoptr(GError) error = NULL;
  g_autoptr(GstCaps) caps =
      gst_caps_from_string("application/x-astro-voltages,format=CF32LE,layout=time:station,"
                           "stations=2");
  style.show = ASTRO_SHOW_VALIDITY;
  g_assert_null(astro_renderer_new(caps, &style, NULL, &error));
  test_says(error->message, "show is validity, expected values for voltages");
  g_clear_error(&error);
  style.show = ASTRO_SHOW_FLAGS;
  g_assert_null(astro_renderer_new(caps, &style, NULL, &error));
  test_says(error->message, "show is flags, expected values or validity for voltages");
}

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/render/validity/power", test_power);
  g_test_add_func("/render/validity/spectra", test_spectra);
  g_test_add_func("/render/validity/flags", test_flags);
  g_test_add_func("/render/validity/refused", test_refused);
  return g_test_run();
}
