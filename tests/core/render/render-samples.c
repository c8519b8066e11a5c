/* Pictures of samples: the bandpass shows a tone where it is, levels are counted, lost samples are
 * not, and the power over time keeps all of it however long the stream is. */
#include "core/memory/memory.h"
#include "core/render/panel.h"
#include "tests/tests.h"

#include <math.h>

#define POLS 2
#define STATIONS 3

typedef struct {
  const AstroRenderKind *kind;
  AstroRenderStyle style;
  AstroRenderInput input;
  GArray *panels;
  gpointer instance;
} Drawn;

static Drawn begin(const AstroRenderKind *kind, const char *caps)
{
  Drawn d = { .kind = kind, .panels = g_array_new(FALSE, FALSE, sizeof(AstroPanel)) };
  g_autoptr(GstCaps) parsed = gst_caps_from_string(caps);
  GError *error = NULL;
  g_array_set_clear_func(d.panels, astro_panel_clear);
  g_assert_true(astro_stream_from_caps(&d.input.stream, parsed, &error));
  d.input.style = &d.style;
  d.instance = kind->open(&d.input, d.panels, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(d.panels->len, ==, 3);
  for (guint i = 0; i < d.panels->len; i++)
    g_assert_true(astro_panel_make_room(&g_array_index(d.panels, AstroPanel, i), NULL));
  return d;
}

static void end(Drawn *d)
{
  d->kind->close(d->instance);
  g_array_unref(d->panels);
}

static const AstroPanel *panel(const Drawn *d, guint i)
{
  return &g_array_index(d->panels, AstroPanel, i);
}

static void take(Drawn *d, gconstpointer data, guint64 steps, const AstroValidityMeta *validity,
                 gboolean is_gap)
{
  const AstroRenderMoment moment = { .duration_ns = GST_SECOND / 2,
                                     .validity = validity,
                                     .is_gap = is_gap };
  d->kind->take(d->instance, data, steps, &moment, (AstroPanel *)d->panels->data);
}

static guint largest(const AstroPanel *p, guint row)
{
  guint best = 0;
  for (guint i = 1; i < p->width; i++)
    if (p->values[row * p->width + i] > p->values[row * p->width + best])
      best = i;
  return best;
}

#define VOLTAGES                                                                                   \
  "application/x-astro-voltages,stations=3,pols=2,rate=1000000/1,frequency=1e8,bandwidth=1e6,"

/* The tone of polarisation 0 is at +0.2 of the rate from the centre, that of 1 at -0.1. */
static void test_tone(void)
{
  static const char *const layouts[] = { "layout=time:station:pol,format=CF32LE",
                                         "layout=station:pol:time,format=CF32LE" };
  const guint steps = 4096;
  for (guint l = 0; l < 2; l++) {
    g_autofree char *caps = g_strconcat(VOLTAGES, layouts[l], NULL);
    Drawn d = begin(&astro_render_voltages, caps);
    g_autofree float *data = g_new(float, 2 * steps * STATIONS * POLS);
    for (guint t = 0; t < steps; t++)
      for (guint i = 0; i < STATIONS * POLS; i++) {
        float *to = data + 2 * (l ? i * steps + t : t * STATIONS * POLS + i);
        const double phase = 2 * G_PI * t * (i % 2 ? -0.1 : 0.2);
        to[0] = (float)(10 * cos(phase));
        to[1] = (float)(10 * sin(phase));
      }
    take(&d, data, steps, NULL, FALSE);
    const AstroPanel *band = panel(&d, 0);
    g_assert_cmpuint(band->height, ==, POLS);
    for (guint p = 0; p < POLS; p++) {
      const double at = (largest(band, p) + 0.5) / band->width - 0.5;
      g_assert_cmpfloat(fabs(at - (p ? -0.1 : 0.2)), <, 1.0 / band->width);
    }
    g_assert_cmpfloat(fabs(band->x.from - 99.5), <, 1e-9);
    g_assert_cmpfloat(fabs(band->x.to - 100.5), <, 1e-9);
    g_assert_cmpfloat(fabs(panel(&d, 2)->values[0] - 20), <, 1e-4); /* dB of 10 squared */
    end(&d);
  }
}

/* A real tone at a quarter of the rate is in the middle of its band; noise has its power in each
 * channel. */
static void test_real(void)
{
  const guint steps = 16384;
  Drawn d = begin(&astro_render_voltages,
                  "application/x-astro-voltages,stations=1,pols=1,rate=2000000/1,frequency=1e8,"
                  "bandwidth=1e6,layout=time:station:pol,format=I8");
  g_autofree gint8 *data = g_malloc(steps);
  for (guint t = 0; t < steps; t++)
    data[t] = (gint8)(100 * cos(G_PI / 2 * t));
  take(&d, data, steps, NULL, FALSE);
  g_assert_cmpint(ABS((gint)largest(panel(&d, 0), 0) - 128), <=, 1);
  end(&d);
  d = begin(&astro_render_voltages,
            "application/x-astro-voltages,stations=1,pols=1,rate=1000000/1,layout=time:station:pol,"
            "format=I8");
  test_fill(data, steps, 3);
  take(&d, data, steps, NULL, FALSE);
  double mean = 0;
  for (guint i = 0; i < 256; i++)
    mean += pow(10, panel(&d, 0)->values[i] / 10) / 256;
  g_assert_cmpfloat(fabs(10 * log10(mean) - panel(&d, 2)->values[0]), <, 0.3);
  end(&d);
}

/* Each level of integers is counted; lost samples are not, nor do they lower the power. */
static void test_levels(void)
{
  Drawn d = begin(&astro_render_voltages, "application/x-astro-voltages,stations=1,pols=2,rate=1/1,"
                                          "layout=time:station:pol,format=CI8");
  static const gint8 data[] = { 3, -128, 5, 5, 3, 3, 5, 127, 99, 99, 5, 5 }; /* the fifth is lost */
  g_autoptr(GstBuffer) buffer = gst_buffer_new();
  const AstroLayout shape = { 3,
                              { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION, ASTRO_AXIS_POL },
                              { 3, 1, 2 } };
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &shape, 1);
  meta->counts[4] = 0;
  take(&d, data, 3, meta, FALSE);
  const AstroPanel *levels = panel(&d, 1);
  g_assert_cmpuint(levels->width, ==, 256);
  g_assert_cmpfloat(levels->x.from, ==, -128.5);
  g_assert_cmpfloat(levels->x.to, ==, 127.5);
  g_assert_cmpfloat(levels->values[128 + 3], ==, 0.75f);
  g_assert_cmpfloat(levels->values[0], ==, 0.25f);
  g_assert_cmpfloat(levels->values[128 + 99], ==, 0);
  g_assert_cmpfloat(levels->values[256 + 128 + 5], ==, 5.0f / 6);
  g_assert_cmpfloat(levels->values[256 + 255], ==, 1.0f / 6);
  const double x = 10 * log10((9 + 128 * 128 + 9 + 9) / 2.0);
  g_assert_cmpfloat(fabs(panel(&d, 2)->values[0] - x), <, 1e-4);
  end(&d);
}

/* Buffers beyond the points of the curve join in pairs, and none is forgotten. */
static void test_time(void)
{
  Drawn d = begin(&astro_render_voltages, "application/x-astro-voltages,stations=1,pols=1,rate=1/1,"
                                          "layout=time:station:pol,format=I8");
  for (guint i = 0; i < 200; i++) {
    const gint8 data[2] = { i < 100 ? 1 : 10, i < 100 ? -1 : -10 };
    take(&d, data, 2, NULL, i == 60 || i == 61);
    const AstroPanel *power = panel(&d, 2);
    const guint each = i < 64 ? 1 : i < 128 ? 2 : 4;
    g_assert_cmpuint(power->width, ==, i / each + 1);
    g_assert_cmpfloat(fabs(power->x.to - power->width * each * 0.5), <, 1e-9);
    g_assert_cmpfloat(power->values[0], ==, 0);
    if (i == 61)
      g_assert_true(isnan(power->values[60]));
  }
  const AstroPanel *power = panel(&d, 2);
  for (guint i = 0; i < power->width; i++)
    g_assert_cmpfloat(fabs(power->values[i] - (i < 25 ? 0 : 20)), <, 1e-4);
  end(&d);
}

static void test_spectra(void)
{
  Drawn d = begin(&astro_render_samples,
                  "application/x-astro-spectra,stations=1,pols=2,channels=4,rate=1/1,"
                  "layout=time:channel:station:pol,format=CI8");
  gint8 data[2 * 4 * 2 * 2];
  for (guint i = 0; i < sizeof data; i++)
    data[i] = (gint8)((i / 4 % 4 + 1) * (i / 2 % 2 + 1));
  take(&d, data, 2, NULL, FALSE);
  for (guint p = 0; p < 2; p++)
    for (guint c = 0; c < 4; c++) {
      const double value = (c + 1) * (p + 1);
      g_assert_cmpfloat(fabs(panel(&d, 0)->values[4 * p + c] - 10 * log10(2 * value * value)), <,
                        1e-4);
    }
  end(&d);
}

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/render-samples/tone", test_tone);
  g_test_add_func("/render-samples/real", test_real);
  g_test_add_func("/render-samples/levels", test_levels);
  g_test_add_func("/render-samples/time", test_time);
  g_test_add_func("/render-samples/spectra", test_spectra);
  return g_test_run();
}
