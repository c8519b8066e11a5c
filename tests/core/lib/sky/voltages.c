/* The voltage simulator compared with its formula: phase and amplitude over the band between two
 * stations, now and an hour later, with either sign; power; the measurement equation. */
#include "tests/core/lib/sky/spectra.h"

#define LENGTH 1024 /* of the spectra */

/* Two stations and one source. Segments of one station are taken later by the delay in whole
 * samples, so that a fraction of a sample is left, and its phase at each frequency is compared with
 * the formula: 1e-3 cycles over 90% of the band. */
static void check_phases(AstroFormat format, const char *positions, const char *source,
                         double frequency, gint bandwidth, double seconds)
{
  const gboolean is_complex = astro_format_info(format)->is_complex;
  const double rate = is_complex ? bandwidth : 2.0 * bandwidth;
  g_autoptr(AstroObservation) observation = observe(positions);
  g_autoptr(AstroSky) sky = sky_of(source, observation);
  AstroVoltagesConfig config = {
    .observation = observation,
    .sky = sky,
    .stream = stream_of(format, "station:pol:time", 2, 1, frequency, bandwidth),
    .seed = 7,
  };
  guint segments = 40, steps = (segments + 2) * LENGTH;
  guint64 first = (guint64)(seconds * rate) + 12345;
  g_autoptr(AstroVoltages) voltages = open_voltages(&config);
  g_autofree float complex *data = g_new(float complex, 2 * steps);
  astro_voltages_fill(voltages, first, steps, data);
  if (!is_complex) /* from the end, since what is wide lies where what is narrow was */
    for (guint i = 2 * steps; i-- > 0;)
      data[i] = ((float *)data)[i];

  double middle = first + LENGTH + segments * LENGTH / 2.0;
  double tau = delay_between(observation, &sky->sources[0], 0, 1, (gint64)(middle / rate * 1e9));
  double before = delay_between(observation, &sky->sources[0], 0, 1,
                                (gint64)((middle - segments * LENGTH / 2.0) / rate * 1e9));
  gint whole = (gint)round(tau * rate);
  g_assert_cmpint(ABS(whole), <, LENGTH);
  /* The comparison at the middle of the data holds while the phase changes little within them. */
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
  const gint bins = is_complex ? LENGTH : LENGTH / 2; /* of the band */
  for (gint k = -bins * 45 / 100; k <= bins * 45 / 100; k++) {
    /* Real samples have the band's lower edge at zero, complex ones its centre. */
    guint at = is_complex ? (guint)(k + LENGTH) % LENGTH : (guint)(k + LENGTH / 4);
    double offset = k * rate / LENGTH, mixed = is_complex ? offset : offset + bandwidth / 2.0;
    double turns = (frequency + offset) * tau - mixed * whole / rate;
    double complex ratio = cross[at] / power[at] * cexp(-2 * I * G_PI * (turns - floor(turns)));
    test_near(carg(ratio) / (2 * G_PI), 0, 1e-3);
    test_near(cabs(ratio), 1, 0.012);
  }
}

static void test_phase(void)
{
  static const AstroFormat formats[] = { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_F32LE };
  for (guint f = 0; f < G_N_ELEMENTS(formats); f++) {
    check_phases(formats[f], "0 0 0\n300 100 5\n", "0.01,0.02,1", 150e6, 20000000, 0);
    check_phases(formats[f], "0 0 0\n300 100 5\n", "-0.3,0.2,1", 1.4e9, 100000000, 0);
    check_phases(formats[f], "0 0 0\n-2000 1500 0\n", "0,0,1", 1.4e9, 50000000, 3600);
    check_phases(formats[f], "10000 0 0\n0 9000 0\n", "0.001,-0.002,1", 1.4e9, 20000000, -0.0);
    check_phases(formats[f], "0 0 0\n3 1 0\n", "0.5,0.5,1", 50e6, 10000, 600);
  }
}

/* The sign, made visible: a source in the east reaches the eastern station first. */
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

/* Visibilities of three sources in noise: their differences from the measurement equation are as
 * large as noise alone, in both halves of the band, and the fluxes are right. */
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
    test_near(autos, power, 5 * power / sqrt(1500 * 32));
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
    test_near(square[half] / count[half], 1, 5 * sqrt(2.0 / count[half]));
  test_near(along / model_square, 1, 5 * power / sqrt(1500 * 2 * model_square));
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
        test_near(creal(sum) / STEPS, expected, 5 * 3 / sqrt(STEPS));
        test_near(cimag(sum) / STEPS, 0, 5 * 3 / sqrt(STEPS));
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
    test_near(found / expected, 1, 0.1);
  }
  g_free(spectra.spectra);
}

static void add_tests(void)
{
  g_test_add_func("/voltages/phase", test_phase);
  g_test_add_func("/voltages/sign", test_sign);
  g_test_add_func("/voltages/measurement-equation", test_measurement_equation);
  g_test_add_func("/voltages/independence", test_independence);
  g_test_add_func("/voltages/slope", test_slope);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
