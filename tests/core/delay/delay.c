/* Delays compared with physics: a wave from the phase centre has the same phase everywhere, over
 * the band and an hour, and the effects of the instrument are undone. */
#include "core/lib/interpolate/fraction.h"
#include "core/lib/sky/voltages.h"
#include "core/stream/uvw.h"
#include "tests/core/delay/delay.h"

/* A wave from the phase centre, made from (u,v,w) alone: after the stage its phase is 0. */
static void test_flat_spectra(void)
{
  enum { STATIONS = 5, CHANNELS = 200, STEPS = 3 };
  static float complex in[STATIONS][2][STEPS][CHANNELS], out[STATIONS][2][STEPS][CHANNELS];
  static const double seconds[] = { 0, 0.123, 1800, 3600 };
  g_autoptr(AstroObservation) observation = test_observe_aside("vla-like", STATIONS);
  g_autoptr(AstroDelayModel) model = test_model_of(observation, 2, NULL);
  AstroStream stream = test_stream_of(ASTRO_FORMAT_CF32LE, "station:pol:time:channel", STATIONS, 2,
                                      CHANNELS, 1.4e9, 100000000);
  for (guint b = 0; test_backends[b]; b++) {
    TestStage stage = test_open_stage(test_backends[b], &stream, ASTRO_FORMAT_CF32LE);
    for (guint t = 0; t < G_N_ELEMENTS(seconds); t++) {
      AstroDelayArguments arguments = { .model = model,
                                        .steps = STEPS,
                                        .first = (guint64)(seconds[t] * 1e8 / CHANNELS) };
      double uvw[3 * STATIONS];
      for (guint step = 0; step < STEPS; step++) {
        astro_uvw(observation, (gint64)((arguments.first + step + 0.5) * CHANNELS * 10), uvw);
        for (guint s = 0; s < STATIONS; s++)
          for (guint k = 0; k < CHANNELS; k++) {
            double frequency = 1.4e9 + 1e8 * ((k + 0.5) / CHANNELS - 0.5);
            double tau = (uvw[3 * s + 2] - uvw[2]) / ASTRO_LIGHT_SPEED;
            in[s][0][step][k] = in[s][1][step][k] = (float complex)TEST_TURN(frequency * tau);
          }
      }
      test_submit(&stage, in, sizeof in, out, sizeof out, &arguments);
      for (guint i = 0; i < STATIONS * 2 * STEPS * CHANNELS; i++) {
        double complex first = out[0][0][i / CHANNELS % STEPS][i % CHANNELS];
        test_near(carg(((float complex *)out)[i] * conj(first)) / (2 * G_PI), 0, 1e-4);
        test_near(cabsf(((float complex *)out)[i]), 1, 1e-5);
      }
    }
    test_close_stage(&stage);
  }
}

/* The samples that the farthest stations need lie within the margin, although delays change while
 * the wave travels. */
static void test_far_stations(void)
{
  enum { STATIONS = 2 };
  const double rate = 10000, tile = ASTRO_DELAY_TILE / rate;
  g_autoptr(AstroObservation) observation = test_observe_aside("disc", STATIONS);
  observation->phase_dec = 0;
  for (guint k = 0; k < 3; k++)
    observation->positions[3 + k] = k == 0 ? ASTRO_OBSERVATION_MAX_METRES : 0;
  g_autoptr(AstroDelayModel) model = test_model_of(observation, 1, NULL);
  AstroStream stream =
      test_stream_of(ASTRO_FORMAT_CF32LE, "time:station:pol", STATIONS, 1, 0, 1.5e8, (gint)rate);
  double margin = (double)astro_delay_margin(model, &stream), most = 0;
  for (guint minute = 0; minute < 1440; minute++) {
    double now[STATIONS], next[STATIONS];
    astro_delay_model_at(model, minute * 60 * (gint64)GST_SECOND, now);
    astro_delay_model_at(model, minute * 60 * (gint64)GST_SECOND + (gint64)(tile * 1e9), next);
    for (guint s = 0; s < STATIONS; s++)
      most = fmax(most, fabs(now[s] * (1 - (next[s] - now[s]) / tile)) * rate);
  }
  g_assert_cmpfloat(most, >, astro_delay_model_longest(model) * rate);
  g_assert_cmpfloat(most, <=, margin - ASTRO_FRACTION_TAPS);
}

static void transform(double complex *x, guint n)
{
  if (n == 1)
    return;
  g_autofree double complex *halves = g_new(double complex, n);
  for (guint i = 0; i < n; i++)
    halves[i / 2 + i % 2 * (n / 2)] = x[i];
  transform(halves, n / 2);
  transform(halves + n / 2, n / 2);
  for (guint i = 0; i < n / 2; i++) {
    double complex odd = halves[n / 2 + i] * TEST_TURN(-(double)i / n);
    x[i] = halves[i] + odd;
    x[i + n / 2] = halves[i] - odd;
  }
}

#define LENGTH 1024 /* of transforms of voltages */
#define SEGMENTS 20

/* The transform of a windowed segment. */
static void transform_segment(gboolean is_complex, const float *samples, double complex x[LENGTH])
{
  for (guint i = 0; i < LENGTH; i++) {
    const double window = sin(G_PI * (i + 0.5) / LENGTH);
    x[i] = window * (is_complex ? samples[2 * i] + I * samples[2 * i + 1] : samples[i]);
  }
  transform(x, LENGTH);
}

/* The gain of an input relative to another whose gain is one, over the inner 90% of the band. */
static void check_band(gboolean is_complex, const float *input, const float *other,
                       double complex gain)
{
  const guint parts = is_complex ? 2 : 1, bins = LENGTH / 2 * parts;
  double complex cross[LENGTH] = { 0 };
  double power[LENGTH] = { 0 };
  for (guint segment = 0; segment < SEGMENTS; segment++) {
    double complex a[LENGTH], b[LENGTH];
    transform_segment(is_complex, input + segment * LENGTH * parts, a);
    transform_segment(is_complex, other + segment * LENGTH * parts, b);
    for (guint i = 0; i < LENGTH; i++) {
      cross[i] += a[i] * conj(b[i]);
      power[i] += creal(b[i] * conj(b[i]));
    }
  }
  for (guint k = bins / 20; k <= bins - bins / 20; k++) {
    const guint at = is_complex ? (k + LENGTH / 2) % LENGTH : k;
    test_near(carg(cross[at] / gain) / (2 * G_PI), 0, 1e-3);
    test_near(cabs(cross[at] / gain) / power[at], 1, 0.02);
  }
}

/* From the simulated sky to flat phases: a source at the phase centre, an array as wide as
 * thousands of samples, at the start and an hour later; and a gain that is undone. */
static void check_flat_voltages(const AstroBackend *backend, AstroFormat format)
{
  enum { STATIONS = 4, START = 15000, STEPS = 50000 };
  static const double seconds[] = { 0, 3600 };
  const gboolean is_complex = astro_format_info(format)->is_complex;
  g_autoptr(AstroObservation) observation = test_observe_aside("lofar-like", STATIONS);
  g_autoptr(AstroDelayModel) model = test_model_of(observation, 1, "gain A003 0 0.5 60\n");
  g_autoptr(AstroSky) sky = astro_sky_new("0,0,1", NULL);
  g_assert_true(astro_sky_resolve(sky, observation, NULL));
  AstroVoltagesConfig config = {
    .observation = observation,
    .sky = sky,
    .stream = test_stream_of(format, "station:pol:time", STATIONS, 1, 0, 1.5e8, 20000000),
  };
  const double rate = config.stream.rate_n;
  g_assert_cmpfloat(astro_delay_model_reach(model) * rate, >, 1000);
  g_assert_cmpuint(astro_delay_margin(model, &config.stream), <, START);
  for (guint t = 0; t < G_N_ELEMENTS(seconds); t++) {
    const guint64 first = (guint64)(seconds[t] * rate) + 99;
    const gsize bytes = STEPS * astro_stream_step_bytes(&config.stream);
    const gsize row = bytes / sizeof(float) / STATIONS, start = row / STEPS * START;
    float *in = test_alloc(bytes), *out = test_alloc(bytes);
    g_autoptr(AstroVoltages) voltages = astro_voltages_new(&config, NULL);
    astro_voltages_fill(voltages, first, STEPS, in);
    TestStage stage = test_open_stage(backend, &config.stream, format);
    AstroDelayArguments arguments = { .model = model,
                                      .first = first,
                                      .steps = STEPS,
                                      .restart = TRUE,
                                      .out_first = first,
                                      .out_steps = STEPS };
    test_submit(&stage, in, bytes, out, bytes, &arguments);
    test_close_stage(&stage);
    for (guint s = 1; s < STATIONS; s++)
      check_band(is_complex, out + s * row + start, out + start,
                 s == 2 ? 2 * TEST_TURN(-60 / 360.0) : 1);
    test_free(in);
    test_free(out);
  }
}

static void test_flat_voltages(gconstpointer backend)
{
  check_flat_voltages(backend, ASTRO_FORMAT_CF32LE);
}

static void test_flat_real(gconstpointer backend)
{
  check_flat_voltages(backend, ASTRO_FORMAT_F32LE);
}

/* Effects of the instrument that the file describes are undone. */
static void test_calibration(gconstpointer backend)
{
  enum { STATIONS = 2, CHANNELS = 100 };
  static float complex in[STATIONS][CHANNELS], out[STATIONS][CHANNELS];
  g_autoptr(AstroObservation) observation = test_observe_aside("disc", STATIONS);
  g_autoptr(AstroDelayModel) plain = test_model_of(observation, 1, NULL);
  g_autoptr(AstroDelayModel) model = test_model_of(
      observation, 1,
      "gain * 0 3\ngain A002 * 0.5 45 # replaced\ndelay A002 0 100\nbandpass 1.39e9 2\n"
      "bandpass A001 0 1.41e9 4\nbandpass A002 * 1.41e9 8\n");
  AstroStream stream = test_stream_of(ASTRO_FORMAT_CF32LE, "station:pol:time:channel", STATIONS, 1,
                                      CHANNELS, 1.4e9, 40000000);
  double delays[STATIONS];
  astro_delay_model_at(plain, CHANNELS * 25 / 2, delays);
  for (guint s = 0; s < STATIONS; s++)
    for (guint k = 0; k < CHANNELS; k++) {
      double frequency = 1.4e9 + 4e7 * ((k + 0.5) / CHANNELS - 0.5);
      double rise = CLAMP((frequency - 1.39e9) / 2e7, 0, 1); /* to another height each */
      double bandpass = 2 + (s ? 6 : 2) * rise;
      double complex did = s ? 0.5 * TEST_TURN(0.125) * TEST_TURN(-frequency * 1e-7) : 3;
      in[s][k] = (float complex)(bandpass * did * TEST_TURN(frequency * delays[s]));
    }
  AstroDelayArguments arguments = { .model = model, .steps = 1 };
  TestStage stage = test_open_stage(backend, &stream, ASTRO_FORMAT_CF32LE);
  test_submit(&stage, in, sizeof in, out, sizeof out, &arguments);
  test_close_stage(&stage);
  for (guint i = 0; i < STATIONS * CHANNELS; i++) {
    test_near(creal(((float complex *)out)[i]), 1, 1e-3);
    test_near(cimag(((float complex *)out)[i]), 0, 1e-3);
  }
}

static void add_tests(void)
{
  test_find_devices();
  test_add_for_backends("voltages/flat", test_flat_voltages);
  test_add_for_backends("voltages/flat-real", test_flat_real);
  test_add_for_backends("calibration/divided-out", test_calibration);
  g_test_add_func("/delay/spectra/flat", test_flat_spectra);
  g_test_add_func("/delay/far-stations", test_far_stations);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
