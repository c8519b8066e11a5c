/* Visibilities of polarised sources and of sources with lines, compared with a plain double loop
 * over the measurement equation, in both bases. */
#include "tests/core/lib/predict/predict.h"
#include "tests/core/lib/sky/coherency.h"

#define STEP (120 * SECOND)

/* Every other source is polarised, every third has a line. */
static void dress(Setup *s)
{
  for (guint i = 0; i < s->sky->n; i++) {
    AstroSource *source = &s->sky->sources[i];
    if (i % 2 == 0) {
      const double part = i % 4 ? 1 : 0.3; /* fully polarised or not */
      source->quv[0] = part * source->flux * 0.6 * (i % 8 ? 1 : -1);
      source->quv[1] = part * source->flux * 0.64;
      source->quv[2] = part * source->flux * 0.48;
      source->rotation_measure = 7.0 * i - 20;
    }
    if (i % 3 == 0) {
      source->n_lines = 2;
      source->lines = g_new(AstroSpectralLine, 2);
      source->lines[0] = (AstroSpectralLine){ 148e6, 3e6, 2 };
      source->lines[1] = (AstroSpectralLine){ 153e6, 5e6, -0.7 * source->flux };
    }
  }
}

static void predict_naively(Setup *s, guint channel, guint i, guint j, complex double sums[4])
{
  const AstroStream *stream = &s->config.stream;
  const guint points = s->config.points;
  const double width = stream->bandwidth / stream->layout.extents[0];
  memset(sums, 0, 4 * sizeof *sums);
  for (guint t = 0; t < points; t++) {
    const double *uvw = uvw_at(s, (gint64)((t + 0.5) / points * STEP));
    for (guint f = 0; f < points; f++) {
      const double frequency =
          stream->frequency - stream->bandwidth / 2 + (channel + (f + 0.5) / points) * width;
      for (guint k = 0; k < s->sky->n; k++) {
        const AstroSource *source = &s->sky->sources[k];
        complex double products[4];
        double metres = 0;
        for (guint c = 0; c < 3; c++)
          metres += (uvw[3 * i + c] - uvw[3 * j + c]) * (source->lmn[c] - (c == 2));
        coherency_of(source, g_str_equal(s->observation->basis, "circular"), stream->frequency,
                     frequency, width / points, products);
        for (guint p = 0; p < 4; p++)
          sums[p] += products[p] / (points * points) *
                     cexp(2 * G_PI * I * (metres * frequency / ASTRO_LIGHT_SPEED));
      }
    }
  }
}

static void compare(Setup *s, double tolerance)
{
  const AstroLayout *layout = &s->config.stream.layout;
  const guint pols = (guint)layout->extents[2];
  g_autoptr(AstroPredict) predict = astro_predict_new(&s->config, NULL);
  complex double *out = test_alloc(n_values(s) * 16);
  astro_predict_fill(predict, 0, 0, STEP, out, NULL);
  test_check_guard(out, n_values(s) * 16);
  gsize at = 0;
  for (guint c = 0; c < layout->extents[0]; c++)
    for (guint i = 0; i < s->observation->n_stations; i++)
      for (guint j = 0; j <= i; j++) {
        complex double expected[4];
        predict_naively(s, c, i, j, expected);
        for (guint p = 0; p < pols * pols; p++)
          test_near_complex(out[at++], expected[p], tolerance);
      }
  test_free(out);
}

static void test_sums(void)
{
  static const struct {
    const char *array, *basis;
    guint stations, pols, channels, sources, points;
    double tolerance;
  } cases[] = {
    { "disc", "linear", 1, 2, 3, 1, 1, 1e-5 },
    { "disc", "circular", 1, 2, 3, 1, 1, 1e-5 },
    { "disc", "linear", 7, 2, 5, 13, 1, 1e-5 },
    { "vla-like", "circular", 11, 2, 2, 29, 1, 1e-5 },
    { "disc", "linear", 70, 2, 1, 3, 1, 1e-5 },
    { "disc", "circular", 5, 1, 2, 9, 1, 1e-5 },
    { "lofar-like", "linear", 9, 1, 2, 4, 3, 1e-3 },
    { "lofar-like", "circular", 9, 2, 2, 4, 3, 1e-3 },
  };
  for (guint l = 0; levels[l]; l++) {
    g_setenv("ASTRO_CPU", levels[l], TRUE);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
      Setup s;
      set_up(&s, cases[i].array, cases[i].stations, cases[i].pols, cases[i].channels,
             cases[i].sources);
      g_free(s.observation->basis);
      s.observation->basis = g_strdup(cases[i].basis);
      s.config.points = cases[i].points;
      dress(&s);
      compare(&s, cases[i].tolerance);
      tear_down(&s);
    }
  }
  g_unsetenv("ASTRO_CPU");
}

/* A line is as bright as it is, whether channels are far wider than it or far narrower. */
static void test_line_flux(void)
{
  static const guint channels[] = { 1, 7, 256 };
  for (guint i = 0; i < G_N_ELEMENTS(channels); i++) {
    Setup s;
    set_up(&s, "disc", 1, 1, channels[i], 1);
    AstroSource *source = &s.sky->sources[0];
    source->flux = 0;
    source->n_lines = 1;
    source->lines = g_new(AstroSpectralLine, 1);
    source->lines[0] = (AstroSpectralLine){ 151e6, 2e5, 4 };
    g_autoptr(AstroPredict) predict = astro_predict_new(&s.config, NULL);
    g_autofree complex double *out = g_new(complex double, n_values(&s));
    astro_predict_fill(predict, 0, 0, STEP, out, NULL);
    double sum = 0;
    for (guint c = 0; c < channels[i]; c++)
      sum += creal(out[c]) * s.config.stream.bandwidth / channels[i];
    test_near(sum, 4 * 2e5 * sqrt(G_PI / (4 * G_LN2)), 1);
    tear_down(&s);
  }
}

static void add_tests(void)
{
  g_test_add_func("/predict/polarised/sums", test_sums);
  g_test_add_func("/predict/polarised/line-flux", test_line_flux);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
