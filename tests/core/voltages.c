/* The voltage simulator against its formula: phase and amplitude over the band between two
 * stations, now and an hour later, in either hand; power; the measurement equation by chi-square;
 * patterns; the same samples whatever the blocks. */
#include "core/sky/array.h"
#include "core/sky/voltages.h"
#include "core/stream/uvw.h"
#include "tests/tests.h"
#include <complex.h>
#include <math.h>

#define LENGTH 1024 /* of the spectra */

static void assert_near(double found, double expected, double tolerance)
{
  if (!(fabs(found - expected) <= tolerance))
    g_error("found %.17g, expected %.17g to %g", found, expected, tolerance);
}

/* In place, forward; a power of two. */
static void transform(double complex *x, guint n)
{
  for (guint i = 0, j = 0; i < n; i++) {
    if (i < j) {
      double complex t = x[i];
      x[i] = x[j];
      x[j] = t;
    }
    guint bit = n >> 1;
    for (; bit && (j & bit); bit >>= 1)
      j ^= bit;
    j |= bit;
  }
  for (guint half = 1; half < n; half *= 2)
    for (guint k = 0; k < half; k++) {
      double complex turn = cexp(-I * G_PI * k / half);
      for (guint i = k; i < n; i += 2 * half) {
        double complex odd = turn * x[i + half];
        x[i + half] = x[i] - odd;
        x[i] += odd;
      }
    }
}

static AstroStream stream_of(AstroFormat format, const char *layout, guint stations, guint pols,
                             double frequency, gint bandwidth)
{
  AstroStream stream = { .quantity = ASTRO_QUANTITY_VOLTAGES,
                         .format = format,
                         .rate_n = bandwidth,
                         .rate_d = 1,
                         .frequency = frequency,
                         .bandwidth = bandwidth };
  g_assert_true(astro_layout_parse(&stream.layout, layout, ASTRO_QUANTITY_VOLTAGES, NULL));
  for (guint i = 0; i < stream.layout.n_axes; i++)
    if (stream.layout.axes[i] != ASTRO_AXIS_TIME)
      stream.layout.extents[i] = stream.layout.axes[i] == ASTRO_AXIS_STATION ? stations : pols;
  return stream;
}

/* The phase centre stands in the zenith, at the start. */
static AstroObservation *observe(const char *positions)
{
  AstroLines lines;
  AstroSite site = { 0.6, -1.8 };
  g_autoptr(GError) error = NULL;
  double centre[3];
  astro_lines_init(&lines, "test", g_strdup(positions));
  AstroObservation *observation = astro_array_from_lines(&lines, 0, &site, &error);
  astro_lines_clear(&lines);
  g_assert_no_error(error);
  g_assert_true(astro_observation_set_start(observation, "2026-11-20T12:00:00", NULL));
  astro_array_centre(observation, centre);
  observation->has_phase_centre = TRUE;
  astro_zenith(observation, 0, centre, &observation->phase_ra, &observation->phase_dec);
  return observation;
}

static AstroVoltages *open_voltages(const AstroVoltagesConfig *config)
{
  g_autoptr(GError) error = NULL;
  AstroVoltages *voltages = astro_voltages_new(config, &error);
  g_assert_no_error(error);
  return voltages;
}

static AstroSky *sky_of(const char *text, const AstroObservation *observation)
{
  g_autoptr(GError) error = NULL;
  AstroSky *sky = astro_sky_new(text, &error);
  g_assert_no_error(error);
  g_assert_true(astro_sky_resolve(sky, observation, &error));
  return sky;
}

/* The delay of source between two stations in seconds, from (u,v,w) alone. */
static double delay_between(const AstroObservation *observation, const AstroSource *source, guint a,
                            guint b, gint64 ns)
{
  g_autofree double *uvw = g_new(double, 3 * observation->n_stations);
  double sum = 0;
  astro_uvw(observation, ns, uvw);
  for (guint k = 0; k < 3; k++)
    sum += (uvw[3 * a + k] - uvw[3 * b + k]) * source->lmn[k];
  return sum / ASTRO_LIGHT_SPEED;
}

/* Two stations and one source. Segments of the one are taken later by the whole samples of delay,
 * so that what is left is a fraction of a sample, and its phase at each frequency is compared with
 * the formula: 1e-3 of a turn over 90% of the band. */
static void check_phases(const char *positions, const char *source, double frequency,
                         gint bandwidth, double seconds)
{
  g_autoptr(AstroObservation) observation = observe(positions);
  g_autoptr(AstroSky) sky = sky_of(source, observation);
  AstroVoltagesConfig config = {
    .observation = observation,
    .sky = sky,
    .stream = stream_of(ASTRO_FORMAT_CF32LE, "station:pol:time", 2, 1, frequency, bandwidth),
    .seed = 7,
  };
  guint segments = 40, steps = (segments + 2) * LENGTH;
  guint64 first = (guint64)(seconds * bandwidth) + 12345;
  g_autoptr(AstroVoltages) voltages = open_voltages(&config);
  g_autofree float complex *data = g_new(float complex, 2 * steps);
  astro_voltages_fill(voltages, first, steps, data);

  double middle = first + LENGTH + segments * LENGTH / 2.0;
  double tau =
      delay_between(observation, &sky->sources[0], 0, 1, (gint64)(middle / bandwidth * 1e9));
  double before = delay_between(observation, &sky->sources[0], 0, 1,
                                (gint64)((middle - segments * LENGTH / 2.0) / bandwidth * 1e9));
  gint whole = (gint)round(tau * bandwidth);
  g_assert_cmpint(ABS(whole), <, LENGTH);
  /* The comparison at the middle of the data holds while the phase turns little within them. */
  g_assert_cmpfloat(fabs(before - tau) * frequency, <, 0.05);

  double complex cross[LENGTH] = { 0 };
  double power[LENGTH] = { 0 };
  for (guint s = 0; s < segments; s++) {
    double complex a[LENGTH], b[LENGTH];
    for (guint i = 0; i < LENGTH; i++) {
      double window = sin(G_PI * (i + 0.5) / LENGTH);
      a[i] = window * data[(s + 1) * LENGTH + i];
      b[i] = window * data[steps + (s + 1) * LENGTH + i + whole];
    }
    transform(a, LENGTH);
    transform(b, LENGTH);
    for (guint i = 0; i < LENGTH; i++) {
      cross[i] += a[i] * conj(b[i]);
      power[i] += cabs(b[i]) * cabs(b[i]);
    }
  }
  for (gint k = -LENGTH * 45 / 100; k <= LENGTH * 45 / 100; k++) {
    guint at = (guint)(k + LENGTH) % LENGTH;
    double offset = (double)k * bandwidth / LENGTH;
    double turns = frequency * tau + offset * (tau - (double)whole / bandwidth);
    double complex ratio = cross[at] / power[at] * cexp(-2 * I * G_PI * (turns - floor(turns)));
    assert_near(carg(ratio) / (2 * G_PI), 0, 1e-3);
    assert_near(cabs(ratio), 1, 0.012);
  }
}

static void test_phase(void)
{
  check_phases("0 0 0\n300 100 5\n", "0.01,0.02,1", 150e6, 20000000, 0);
  check_phases("0 0 0\n300 100 5\n", "-0.3,0.2,1", 1.4e9, 100000000, 0);
  check_phases("0 0 0\n-2000 1500 0\n", "0,0,1", 1.4e9, 50000000, 3600);
  check_phases("10000 0 0\n0 9000 0\n", "0.001,-0.002,1", 1.4e9, 20000000, -0.0);
  check_phases("0 0 0\n3 1 0\n", "0.5,0.5,1", 50e6, 10000, 600);
}

/* The sign, by eyes: a source in the east reaches the eastern station first. */
static void test_sign(void)
{
  g_autoptr(AstroObservation) observation = observe("1000 0 0\n-1000 0 0\n");
  g_autoptr(AstroSky) sky = sky_of("0.3,0,1", observation);
  AstroVoltagesConfig config = {
    .observation = observation,
    .sky = sky,
    .stream = stream_of(ASTRO_FORMAT_CF32LE, "station:pol:time", 2, 1, 1e8, 50000000),
  };
  enum { STEPS = 8192 };
  static float complex data[2][STEPS];
  g_autoptr(AstroVoltages) voltages = open_voltages(&config);
  astro_voltages_fill(voltages, 0, STEPS, data);
  /* 600 m of path are 100 samples: the east has at n what the west has 100 later. */
  double complex sum = 0;
  for (guint i = 0; i < STEPS - 200; i++)
    sum += data[0][i] * conj(data[1][i + 100]);
  g_assert_cmpfloat(cabs(sum) / (STEPS - 200), >, 0.9);
}

typedef struct {
  guint stations, channels, segments;
  double complex *spectra; /* segment, station, channel */
} Spectra;

static void make_spectra(AstroVoltages *voltages, Spectra *out)
{
  guint n = out->channels, steps = out->segments * n;
  g_autofree float complex *data = g_new(float complex, (gsize)steps * out->stations);
  astro_voltages_fill(voltages, 0, steps, data);
  out->spectra = g_new(double complex, (gsize)steps * out->stations);
  for (guint s = 0; s < out->segments; s++)
    for (guint i = 0; i < out->stations; i++) {
      double complex *x = &out->spectra[((gsize)s * out->stations + i) * n];
      for (guint k = 0; k < n; k++)
        x[k] = data[(gsize)i * steps + s * n + k] / sqrt(n);
      transform(x, n);
    }
}

static double complex visibility(const Spectra *spectra, guint a, guint b, guint channel)
{
  double complex sum = 0;
  for (guint s = 0; s < spectra->segments; s++) {
    const double complex *x = &spectra->spectra[(gsize)s * spectra->stations * spectra->channels];
    sum += x[a * spectra->channels + channel] * conj(x[b * spectra->channels + channel]);
  }
  return sum / spectra->segments;
}

/* Visibilities of three sources in noise: their differences from the measurement equation are what
 * the noise alone gives, in both halves of the band, and the fluxes are right. */
static void test_measurement_equation(void)
{
  g_autoptr(AstroObservation) observation =
      observe("0 0 0\n10 3 0\n-4 12 0\n7 -9 1\n-11 -6 0\n2 5 2\n");
  g_autoptr(AstroSky) sky = sky_of("0.3,0.1,3;-0.2,0.4,1.5;0.05,-0.6,2", observation);
  double frequency = 1.5e8, bandwidth = 1e6, power = 10 + 6.5;
  AstroVoltagesConfig config = {
    .observation = observation,
    .sky = sky,
    .stream = stream_of(ASTRO_FORMAT_CF32LE, "station:pol:time", 6, 1, frequency, (gint)bandwidth),
    .noise = 10,
    .seed = 3,
  };
  Spectra spectra = { .stations = 6, .channels = 32, .segments = 1500 };
  g_autoptr(AstroVoltages) voltages = open_voltages(&config);
  make_spectra(voltages, &spectra);

  double square[2] = { 0 }, along = 0, model_square = 0;
  guint count[2] = { 0 };
  gint64 middle = (gint64)(0.5 * 1500 * 32 / bandwidth * 1e9);
  for (guint a = 0; a < 6; a++) {
    double autos = 0;
    for (guint k = 0; k < 32; k++)
      autos += creal(visibility(&spectra, a, a, k)) / 32;
    assert_near(autos, power, 5 * power / sqrt(1500 * 32));
    for (guint b = 0; b < a; b++)
      for (gint k = -14; k <= 14; k++) {
        double complex model = 0;
        for (guint s = 0; s < 3; s++)
          model += sky->sources[s].flux *
                   cexp(2 * I * G_PI * (frequency + k * bandwidth / 32) *
                        delay_between(observation, &sky->sources[s], a, b, middle));
        double complex found = visibility(&spectra, a, b, (guint)(k + 32) % 32);
        double difference = cabs(found - model);
        square[k < 0] += difference * difference / (power * power / 1500);
        count[k < 0]++;
        along += creal(found * conj(model));
        model_square += creal(model * conj(model));
      }
  }
  for (guint half = 0; half < 2; half++)
    assert_near(square[half] / count[half], 1, 5 * sqrt(2.0 / count[half]));
  assert_near(along / model_square, 1, 5 * power / sqrt(1500 * 2 * model_square));
  g_free(spectra.spectra);
}

/* X and Y, and stations without a common source, have nothing in common; and the noise is white. */
static void test_independence(void)
{
  g_autoptr(AstroObservation) observation = observe("0 0 0\n0 0 0\n0 0 0\n");
  g_autoptr(AstroSky) sky = sky_of("0,0,2", observation);
  AstroVoltagesConfig config = {
    .observation = observation,
    .sky = sky,
    .stream = stream_of(ASTRO_FORMAT_CF32LE, "station:pol:time", 3, 2, 1e8, 1000000),
    .noise = 1,
  };
  enum { STEPS = 60000 };
  g_autofree float complex *data = g_new(float complex, 6 * STEPS);
  g_autoptr(AstroVoltages) voltages = open_voltages(&config);
  astro_voltages_fill(voltages, 100, STEPS, data);
  for (guint a = 0; a < 6; a++)
    for (guint b = 0; b <= a; b++)
      for (guint lag = 0; lag < 3; lag++) {
        double complex sum = 0;
        for (guint i = 0; i + lag < STEPS; i++)
          sum += data[a * STEPS + i + lag] * conj(data[b * STEPS + i]);
        double expected = lag || a % 2 != b % 2 ? 0 : a == b ? 3 : 2;
        assert_near(creal(sum) / STEPS, expected, 5 * 3 / sqrt(STEPS));
        assert_near(cimag(sum) / STEPS, 0, 5 * 3 / sqrt(STEPS));
      }
}

/* The power over the band of a source with a slope. */
static void test_slope(void)
{
  g_autoptr(AstroObservation) observation = observe("0 0 0\n");
  g_autoptr(AstroSky) sky = sky_of("0,0,4", observation);
  sky->sources[0].spectral_index = -2;
  AstroVoltagesConfig config = {
    .observation = observation,
    .sky = sky,
    .stream = stream_of(ASTRO_FORMAT_CF32LE, "station:pol:time", 1, 1, 1.5e8, 60000000),
  };
  Spectra spectra = { .stations = 1, .channels = 32, .segments = 3000 };
  g_autoptr(AstroVoltages) voltages = open_voltages(&config);
  make_spectra(voltages, &spectra);
  for (gint k = -14; k <= 14; k++) {
    double found = creal(visibility(&spectra, 0, 0, (guint)(k + 32) % 32));
    double expected = 4 * pow(1 + k / 32.0 * 0.4, -2);
    assert_near(found / expected, 1, 0.1);
  }
  g_free(spectra.spectra);
}

/* Blocks cut anywhere give what one block gives, in every format and layout. */
static void test_blocks(void)
{
  static const AstroFormat formats[] = { ASTRO_FORMAT_CI4, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI16LE,
                                         ASTRO_FORMAT_CF32LE };
  static const char *const layouts[] = { "time:station:pol", "station:time:pol",
                                         "station:pol:time" };
  enum { STATIONS = 19, POLS = 2, STEPS = 3000 };
  g_autoptr(AstroObservation) observation =
      observe("0 0 0\n10 3 0\n-4 120 0\n7 -9 1\n-11 -6 0\n2 5 2\n5000 0 0\n7 8 9\n1 1 1\n2 2 2\n"
              "3 4 5\n1 0 0\n2 0 0\n3 0 0\n4 0 0\n5 0 0\n6 0 0\n7 0 0\n8 0 0\n");
  g_autoptr(AstroSky) sky = sky_of("0.3,0.1,3;-0.2,0.4,1.5", observation);
  sky->sources[1].spectral_index = -0.7;
  for (guint c = 0; c < 6; c++) {
    guint f = c % G_N_ELEMENTS(formats), l = c % G_N_ELEMENTS(layouts);
    AstroVoltagesConfig config = {
      .observation = observation,
      .sky = sky,
      .stream = stream_of(formats[f], layouts[l], STATIONS, POLS, 1e8, 20000000),
      .noise = 5,
      .seed = 99,
      .threads = f % 2,
    };
    gsize bytes = astro_format_info(formats[f])->bytes, inputs = STATIONS * POLS;
    g_autoptr(AstroVoltages) voltages = open_voltages(&config);
    guint8 *whole = test_alloc(STEPS * inputs * bytes);
    astro_voltages_fill(voltages, 777, STEPS, whole);
    test_check_guard(whole, STEPS * inputs * bytes);
    guint64 stride[3]; /* time, station, pol */
    for (guint64 first = 0; first < STEPS;) {
      guint64 cut = (guint64)g_test_rand_int_range(1, 2500), steps = MIN(cut, STEPS - first);
      guint8 *part = test_alloc(steps * inputs * bytes);
      if (g_test_rand_bit()) /* a jump in between does no harm */
        astro_voltages_fill(voltages, 100000, MIN(steps, 10), part);
      astro_voltages_fill(voltages, 777 + first, steps, part);
      test_check_guard(part, steps * inputs * bytes);
      for (guint64 t = 0; t < steps; t++)
        for (guint s = 0; s < STATIONS; s++)
          for (guint p = 0; p < POLS; p++) {
            for (guint k = 0; k < 2; k++) {
              guint64 n = k ? steps : STEPS, at = k ? t : first + t;
              stride[k] = l == 0   ? (at * STATIONS + s) * POLS + p
                          : l == 1 ? (s * n + at) * POLS + p
                                   : (s * POLS + p) * n + at;
            }
            g_assert_cmpint(memcmp(whole + stride[0] * bytes, part + stride[1] * bytes, bytes), ==,
                            0);
          }
      test_free(part);
      first += steps;
    }
    test_free(whole);
  }
}

/* Integers are the floating-point samples times the scale, rounded; their rms fills the range well.
 */
static void test_formats(void)
{
  static const struct {
    AstroFormat format;
    double rms, limit;
  } formats[] = {
    { ASTRO_FORMAT_CI4, 2.95, 7 },
    { ASTRO_FORMAT_CI8, 32, 127 },
    { ASTRO_FORMAT_CI16LE, 2048, 32767 },
  };
  enum { STEPS = 20000 };
  static float exact[STEPS][2];
  static gint16 raw[STEPS][2];
  AstroVoltagesConfig config = {
    .pattern = ASTRO_PATTERN_NOISE,
    .noise = 50,
    .seed = 1,
    .stream = stream_of(ASTRO_FORMAT_CF32LE, "time:station:pol", 1, 1, 0, 1000),
  };
  g_autoptr(AstroVoltages) floats = open_voltages(&config);
  assert_near(astro_voltages_scale(floats), 1, 0);
  astro_voltages_fill(floats, 0, STEPS, exact);
  for (guint f = 0; f < G_N_ELEMENTS(formats); f++) {
    config.stream.format = formats[f].format;
    g_autoptr(AstroVoltages) voltages = open_voltages(&config);
    double scale = astro_voltages_scale(voltages), square = 0;
    assert_near(scale, formats[f].rms / 5, 1e-9);
    astro_voltages_fill(voltages, 0, STEPS, raw);
    for (guint i = 0; i < STEPS; i++)
      for (guint k = 0; k < 2; k++) {
        gint found = f == 0   ? (gint8)(k ? ((guint8 *)raw)[i] << 4 : ((guint8 *)raw)[i]) >> 4
                     : f == 1 ? ((gint8 *)raw)[2 * i + k]
                              : raw[i][k];
        double expected = rint(CLAMP(exact[i][k] * scale, -formats[f].limit - 1, formats[f].limit));
        assert_near(found, expected,
                    fabs(exact[i][k] * scale - trunc(exact[i][k] * scale)) > 0.499 &&
                            fabs(exact[i][k] * scale - trunc(exact[i][k] * scale)) < 0.501
                        ? 1
                        : 0);
        square += found * found / (2.0 * STEPS);
      }
    assert_near(sqrt(square) / formats[f].rms, 1, 0.03);
  }
  config.scale = 3;
  g_autoptr(AstroVoltages) fixed = open_voltages(&config);
  assert_near(astro_voltages_scale(fixed), 3, 0);
}

static void test_patterns(void)
{
  enum { STEPS = 10000 };
  static gint8 data[STEPS][3][2][2];
  static float tone[STEPS][2];
  AstroVoltagesConfig config = {
    .pattern = ASTRO_PATTERN_RAMP,
    .stream = stream_of(ASTRO_FORMAT_CI8, "time:station:pol", 3, 2, 0, 1000),
  };
  g_autoptr(AstroVoltages) ramp = open_voltages(&config);
  astro_voltages_fill(ramp, 300, STEPS, data);
  for (guint i = 0; i < STEPS; i++)
    for (guint input = 0; input < 6; input++) {
      g_assert_cmpint(data[i][input / 2][input % 2][0], ==, (gint8)(300 + i));
      g_assert_cmpint(data[i][input / 2][input % 2][1], ==, (gint)input);
    }
  config.pattern = ASTRO_PATTERN_IMPULSE;
  g_autoptr(AstroVoltages) impulse = open_voltages(&config);
  astro_voltages_fill(impulse, 5, STEPS, data);
  for (guint i = 0; i < STEPS; i++)
    for (guint input = 0; input < 6; input++) {
      g_assert_cmpint(data[i][input / 2][input % 2][0], ==, (i + 5) % 4096 ? 0 : 64);
      g_assert_cmpint(data[i][input / 2][input % 2][1], ==, 0);
    }
  /* Steps a turn that are a power of two and that are not, after 31 years; and no turn at all. */
  static const double tones[] = { -125, 100, -1e-30 };
  config.pattern = ASTRO_PATTERN_TONE;
  config.stream = stream_of(ASTRO_FORMAT_CF32LE, "time:station:pol", 1, 1, 0, 1000);
  for (guint t = 0; t < G_N_ELEMENTS(tones); t++) {
    config.tone = tones[t];
    g_autoptr(AstroVoltages) wave = open_voltages(&config);
    astro_voltages_fill(wave, 1000000000000, STEPS, tone);
    for (guint i = 0; i < STEPS; i++) {
      assert_near(tone[i][0], cos(2 * G_PI * i * tones[t] / 1000), 1e-4);
      assert_near(tone[i][1], sin(2 * G_PI * i * tones[t] / 1000), 1e-4);
    }
  }
}

/* Every instruction set gives the same, but for rounding. */
static void test_variants(void)
{
  static const char *const levels[] = { "c", "avx2", "avx512", "amx" };
  enum { STATIONS = 3, STEPS = 3000 };
  static float first[STEPS][STATIONS][2], other[STEPS][STATIONS][2];
  g_autofree char *before = g_strdup(g_getenv("ASTRO_CPU"));
  g_autoptr(AstroObservation) observation = observe("0 0 0\n1000 3 0\n-4 120 0\n");
  g_autoptr(AstroSky) sky = sky_of("0.3,0.1,3;-0.2,0.4,1.5", observation);
  AstroVoltagesConfig config = {
    .observation = observation,
    .sky = sky,
    .stream = stream_of(ASTRO_FORMAT_CF32LE, "time:station:pol", STATIONS, 1, 1e9, 20000000),
    .noise = 1,
  };
  for (guint v = 0; v < G_N_ELEMENTS(levels); v++) {
    g_setenv("ASTRO_CPU", levels[v], TRUE);
    g_autoptr(AstroVoltages) voltages = open_voltages(&config);
    astro_voltages_fill(voltages, 20000000, STEPS, v ? other : first);
    for (guint i = 0; v && i < STEPS * STATIONS * 2; i++)
      assert_near(((float *)other)[i], ((float *)first)[i], 2e-5);
  }
  if (before)
    g_setenv("ASTRO_CPU", before, TRUE);
  else
    g_unsetenv("ASTRO_CPU");
}

static void test_errors(void)
{
  g_autoptr(AstroObservation) observation = observe("0 0 0\n1000 3 0\n");
  g_autoptr(AstroObservation) wide = observe("-500000 0 0\n500000 0 0\n");
  g_autoptr(AstroSky) sky = sky_of("0,0,1", observation);
  AstroVoltagesConfig good = {
    .observation = observation,
    .sky = sky,
    .stream = stream_of(ASTRO_FORMAT_CI8, "time:station:pol", 2, 1, 1e9, 20000000),
  };
  struct {
    AstroVoltagesConfig config;
    const char *says;
  } cases[] = { { good, "formats are" },
                { good, "above 0 Hz" },
                { good, "start" },
                { good, "number of stations" },
                { good, "needs a bandwidth above" } };
  cases[0].config.stream.format = ASTRO_FORMAT_CF16LE;
  cases[1].config.stream.frequency = 5e6;
  cases[2].config.sky = NULL;
  cases[3].config.stream.layout.extents[1] = 3;
  cases[4].config.observation = wide;
  cases[4].config.stream.rate_n = 10;
  cases[4].config.stream.bandwidth = 10;
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(astro_voltages_new(&cases[i].config, &error));
    g_assert_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE);
    test_says(error->message, cases[i].says);
  }
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  gst_init(&argc, &argv);
  g_test_add_func("/voltages/phase", test_phase);
  g_test_add_func("/voltages/sign", test_sign);
  g_test_add_func("/voltages/measurement-equation", test_measurement_equation);
  g_test_add_func("/voltages/independence", test_independence);
  g_test_add_func("/voltages/slope", test_slope);
  g_test_add_func("/voltages/blocks", test_blocks);
  g_test_add_func("/voltages/formats", test_formats);
  g_test_add_func("/voltages/patterns", test_patterns);
  g_test_add_func("/voltages/variants", test_variants);
  g_test_add_func("/voltages/errors", test_errors);
  return g_test_run();
}
