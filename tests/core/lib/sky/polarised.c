/* Voltages of polarised sources and of sources with lines: their coherency in each channel, in both
 * bases and for complex and real samples; the measurement equation between stations; angles that
 * turn with wavelength; the flux of a line; and that the samples do not depend on how they are
 * asked for. */
#include "tests/core/lib/sky/coherency.h"
#include "tests/core/lib/sky/spectra.h"

static void set_basis(AstroObservation *observation, const char *basis)
{
  g_free(observation->basis);
  observation->basis = g_strdup(basis);
}

static gboolean is_real(AstroFormat format)
{
  return !astro_format_info(format)->is_complex;
}

/* Spectra of all inputs; those of real samples have 2 n bins, of which the first n are the band. */
static void make(AstroVoltages *voltages, AstroFormat format, Spectra *out)
{
  const gsize samples = (gsize)out->stations * out->segments * out->channels;
  if (!is_real(format)) {
    make_spectra(voltages, out);
    return;
  }
  g_autofree float *data = g_new(float, samples);
  const guint n = out->channels, steps = out->segments * n;
  astro_voltages_fill(voltages, 0, steps, data);
  out->spectra = g_new(double complex, samples);
  for (guint s = 0; s < out->segments; s++)
    for (guint i = 0; i < out->stations; i++) {
      double complex *x = &out->spectra[((gsize)s * out->stations + i) * n];
      for (guint k = 0; k < n; k++)
        x[k] = data[(gsize)i * steps + s * n + k] / sqrt(n);
      transform(x, n);
    }
}

/* Bins of the band without its edges, and their frequencies. */
typedef struct {
  gint first, last;
  guint n; /* in the spectrum */
  double zero, step;
} Bins;

static Bins bins_of(AstroFormat format, guint channels, double frequency, double bandwidth)
{
  const gint n = (gint)channels;
  if (is_real(format))
    return (Bins){ n / 20, n - n / 20, 2 * channels, frequency - bandwidth / 2, bandwidth / n };
  return (Bins){ -n * 45 / 100, n * 45 / 100, channels, frequency, bandwidth / n };
}

static guint bin_at(const Bins *bins, gint k)
{
  return (guint)(k + (gint)bins->n) % bins->n;
}

typedef struct {
  const char *sky, *basis;
  AstroFormat format;
  double frequency;
  gint bandwidth;
  double index;
} Case;

static AstroVoltagesConfig config_of(const Case *c, AstroObservation *observation,
                                     const AstroSky *sky, guint pols)
{
  return (AstroVoltagesConfig){
    .observation = observation,
    .sky = sky,
    .stream = stream_of(c->format, "station:pol:time", observation->n_stations, pols, c->frequency,
                        c->bandwidth),
    .seed = 5,
  };
}

#define SEGMENTS 400
#define CHANNELS 1024 /* so many that the polarisation hardly turns within one */

/* The products of one station differ from the coherency by as much as counting explains. */
static void check_coherency(const Case *c)
{
  const gboolean is_circular = g_str_equal(c->basis, "circular");
  g_autoptr(AstroObservation) observation = observe("0 0 0\n");
  g_autoptr(AstroSky) sky = sky_of(c->sky, observation);
  set_basis(observation, c->basis);
  sky->sources[0].spectral_index = c->index;
  for (guint pols = 1; pols <= 2; pols++) {
    const AstroVoltagesConfig config = config_of(c, observation, sky, pols);
    const Bins bins = bins_of(c->format, CHANNELS, c->frequency, c->bandwidth);
    Spectra spectra = { .stations = pols, .channels = bins.n, .segments = SEGMENTS };
    g_autoptr(AstroVoltages) voltages = open_voltages(&config);
    make(voltages, c->format, &spectra);
    double square[4] = { 0 };
    for (gint k = bins.first; k < bins.last; k++) {
      complex double expected[4];
      coherency_of(&sky->sources[0], is_circular, c->frequency, bins.zero + k * bins.step,
                   bins.step, expected);
      for (guint p = 0; p < pols * pols; p++) {
        const guint i = p / pols, j = p % pols;
        const double power = creal(expected[3 * i]) * creal(expected[3 * j]);
        const complex double error =
            visibility(&spectra, i, j, bin_at(&bins, k)) - expected[pols == 2 ? p : 0];
        square[p] += pow(cabs(error), 2) / (power / SEGMENTS + 1e-9);
      }
    }
    const double n = bins.last - bins.first;
    for (guint p = 0; p < pols * pols; p++)
      test_near(square[p] / n, 1, 5 * sqrt(2 / n));
    g_free(spectra.spectra);
  }
}

static void test_coherency(void)
{
  static const Case cases[] = {
    { "0,0,2,q=0.6,u=-0.8,v=1.2", "linear", ASTRO_FORMAT_CF32LE, 1.5e8, 20000000, 0 },
    { "0,0,2,q=0.6,u=-0.8,v=1.2", "circular", ASTRO_FORMAT_CF32LE, 1.5e8, 20000000, 0 },
    { "0,0,2,q=0.6,u=-0.8,v=-1.2", "linear", ASTRO_FORMAT_F32LE, 1.5e8, 20000000, 0 },
    { "0,0,2,v=1.9", "circular", ASTRO_FORMAT_F32LE, 1.5e8, 20000000, -2 },
    { "0,0,2,q=1.2,u=0.9,rm=30", "linear", ASTRO_FORMAT_CF32LE, 1.5e8, 20000000, 0 },
    { "0,0,2,q=1.2,u=0.9,rm=-30", "circular", ASTRO_FORMAT_CF32LE, 1.5e8, 20000000, 0 },
    { "0,0,2,q=1.2,u=0.9,v=-0.2,rm=30", "circular", ASTRO_FORMAT_F32LE, 1.5e8, 20000000, 1 },
    { "0,0,2,q=1.2,u=0.9,rm=300", "linear", ASTRO_FORMAT_CF32LE, 1.4e9, 300000000, 0 },
    { "0,0,1,line=1.49e8:3e6:5", "linear", ASTRO_FORMAT_CF32LE, 1.5e8, 20000000, 0 },
    { "0,0,3,q=2,line=1.52e8:2e6:-2,line=1.47e8:4e6:-1", "linear", ASTRO_FORMAT_CF32LE, 1.5e8,
      20000000, 0 },
    { "0,0,3,q=1,u=1,rm=20,line=1.5e8:3e6:4,line=1.46e8:2e6:-2.5", "circular", ASTRO_FORMAT_F32LE,
      1.5e8, 20000000, -0.7 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    if (!test_passes_over(i))
      check_coherency(&cases[i]);
}

/* All the flux is in one state: the other polarisation has nothing. */
static void test_fully_polarised(void)
{
  static const Case cases[] = {
    { "0,0,2,q=2", "linear", ASTRO_FORMAT_CF32LE, 1.5e8, 1000000, 0 },
    { "0,0,2,v=2", "circular", ASTRO_FORMAT_CF32LE, 1.5e8, 1000000, 0 },
  };
  enum { STEPS = 20000 };
  static float data[2][STEPS][2];
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(AstroObservation) observation = observe("0 0 0\n");
    g_autoptr(AstroSky) sky = sky_of(cases[i].sky, observation);
    set_basis(observation, cases[i].basis);
    const AstroVoltagesConfig config = config_of(&cases[i], observation, sky, 2);
    g_autoptr(AstroVoltages) voltages = open_voltages(&config);
    astro_voltages_fill(voltages, 0, STEPS, data);
    double power[2] = { 0 };
    for (guint k = 0; k < 2 * STEPS; k++)
      for (guint pol = 0; pol < 2; pol++)
        power[pol] += pow(((float *)data[pol])[k], 2) / STEPS;
    test_near(power[0], 4, 5 * 4 / sqrt(STEPS));
    test_near(power[1], 0, 1e-6);
  }
}

/* The angle of linear polarisation, from north through east: in the linear basis half of that of XX
 * - YY + i (XY + YX), in the circular basis half of that of RL. It grows by the rotation measure
 * times the square of the wavelength. */
static void test_rotation(void)
{
  static const char *const bases[] = { "linear", "circular" };
  for (guint b = 0; b < 2; b++) {
    const Case c = { "0,0,1,q=0.9,rm=12.5", bases[b], ASTRO_FORMAT_CF32LE, 2e8, 40000000, 0 };
    g_autoptr(AstroObservation) observation = observe("0 0 0\n");
    g_autoptr(AstroSky) sky = sky_of(c.sky, observation);
    set_basis(observation, c.basis);
    const AstroVoltagesConfig config = config_of(&c, observation, sky, 2);
    Spectra spectra = { .stations = 2, .channels = 128, .segments = 200 };
    g_autoptr(AstroVoltages) voltages = open_voltages(&config);
    make_spectra(voltages, &spectra);
    for (gint k = -57; k < 57; k++) {
      const guint at = (guint)(k + 128) % 128;
      const complex double xx = visibility(&spectra, 0, 0, at), yy = visibility(&spectra, 1, 1, at),
                           xy = visibility(&spectra, 0, 1, at), yx = visibility(&spectra, 1, 0, at);
      const complex double linear = b ? xy : (creal(xx - yy) + I * creal(xy + yx)) / 2;
      const double wavelength = ASTRO_LIGHT_SPEED / (2e8 + k * 40e6 / 128);
      test_near(carg(linear * cexp(-2 * I * 12.5 * wavelength * wavelength)), 0, 0.35);
    }
    g_free(spectra.spectra);
  }
}

/* Visibilities of three sources in noise differ from the measurement equation by noise alone, in
 * all products. */
static void test_measurement_equation(void)
{
  static const char *const bases[] = { "linear", "circular" };
  for (guint b = 0; b < 2; b++) {
    const Case c = { "0.3,0.1,3,q=1,u=-2,v=0.5,rm=5;-0.2,0.4,1.5;0.05,-0.6,2,v=-2",
                     bases[b],
                     ASTRO_FORMAT_CF32LE,
                     1.5e8,
                     1000000,
                     0 };
    g_autoptr(AstroObservation) observation = observe("0 0 0\n10 3 0\n-4 12 0\n7 -9 1\n-11 -6 0\n");
    g_autoptr(AstroSky) sky = sky_of(c.sky, observation);
    set_basis(observation, c.basis);
    AstroVoltagesConfig config = config_of(&c, observation, sky, 2);
    config.noise = 10;
    Spectra spectra = { .stations = 10, .channels = 32, .segments = 1500 };
    g_autoptr(AstroVoltages) voltages = open_voltages(&config);
    make_spectra(voltages, &spectra);
    double square[4] = { 0 }, along = 0, model_square = 0, power[2] = { 10, 10 };
    guint count = 0;
    const gint64 middle = (gint64)(0.5 * 1500 * 32 / 1e6 * 1e9);
    complex double coherencies[3][4];
    for (guint s = 0; s < 3; s++) {
      coherency_of(&sky->sources[s], b == 1, 1.5e8, 1.5e8, 1, coherencies[s]);
      power[0] += creal(coherencies[s][0]);
      power[1] += creal(coherencies[s][3]);
    }
    for (guint i = 0; i < 5; i++)
      for (guint j = 0; j < i; j++)
        for (gint k = -14; k <= 14; k++, count++) {
          complex double model[4] = { 0 };
          for (guint s = 0; s < 3; s++) {
            const double turns =
                (1.5e8 + k * 1e6 / 32) * delay_between(observation, &sky->sources[s], i, j, middle);
            coherency_of(&sky->sources[s], b == 1, 1.5e8, 1.5e8 + k * 1e6 / 32, 1, coherencies[s]);
            for (guint p = 0; p < 4; p++)
              model[p] += coherencies[s][p] * cexp(2 * I * G_PI * turns);
          }
          for (guint p = 0; p < 4; p++) {
            const complex double found =
                visibility(&spectra, 2 * i + p / 2, 2 * j + p % 2, (guint)(k + 32) % 32);
            square[p] += pow(cabs(found - model[p]), 2) / (power[p / 2] * power[p % 2] / 1500);
            along += creal(found * conj(model[p]));
            model_square += pow(cabs(model[p]), 2);
          }
        }
    for (guint p = 0; p < 4; p++)
      test_near(square[p] / count, 1, 5 * sqrt(2.0 / count));
    test_near(along / model_square, 1, 5 * 18 / sqrt(1500 * 2 * model_square));
    g_free(spectra.spectra);
  }
}

/* A line of a few channels, and the source that has nothing else: its flux over the band. */
static void test_line(void)
{
  const Case c = {
    "0,0,0,line=1.4204e9:20e3:50", "linear", ASTRO_FORMAT_CF32LE, 1.4204e9, 1000000, 0
  };
  g_autoptr(AstroObservation) observation = observe("0 0 0\n");
  g_autoptr(AstroSky) sky = sky_of(c.sky, observation);
  const AstroVoltagesConfig config = config_of(&c, observation, sky, 1);
  Spectra spectra = { .stations = 1, .channels = 1024, .segments = 400 };
  g_autoptr(AstroVoltages) voltages = open_voltages(&config);
  make_spectra(voltages, &spectra);
  double sum = 0, beside = 0, peak = 0;
  for (gint k = -512; k < 512; k++) {
    const double power = creal(visibility(&spectra, 0, 0, (guint)(k + 1024) % 1024));
    sum += power * 1e6 / 1024;
    if (ABS(k) <= 2)
      peak += power / 5;
    else if (ABS(k) > 60 && ABS(k) < 450)
      beside = MAX(beside, power);
  }
  const double whole = 50 * 20e3 * sqrt(G_PI / (4 * G_LN2));
  /* As many independent values as samples in the line. */
  test_near(sum / whole, 1, 5 / sqrt(400 * 1024 * 0.03));
  test_near(peak / 50, 1, 5 / sqrt(400 * 5) + 0.02);
  g_assert_cmpfloat(beside, <, 0.05); /* a thousandth of the peak: of its own leakage */
  g_free(spectra.spectra);
}

/* The same samples in one piece, in pieces, after a jump, by one thread or by several. */
static void test_same(void)
{
  const Case c = { "0.3,0.1,3,q=1,u=-2,v=0.5,rm=-50,line=1.52e8:1e5:2;-0.2,0.4,1.5;0.1,0.1,1,v=1",
                   "circular",
                   ASTRO_FORMAT_CI16LE,
                   1.5e8,
                   20000000,
                   0 };
  enum { INPUTS = 4, STEPS = 60000 };
  const gsize bytes = INPUTS * STEPS * 4;
  g_autofree guint8 *whole = g_malloc(bytes), *parts = g_malloc(bytes);
  g_autoptr(AstroObservation) observation = observe("0 0 0\n1000 30 0\n");
  g_autoptr(AstroSky) sky = sky_of(c.sky, observation);
  set_basis(observation, c.basis);
  AstroVoltagesConfig config = config_of(&c, observation, sky, 2);
  config.noise = 3;
  config.stream = stream_of(c.format, "time:station:pol", 2, 2, c.frequency, c.bandwidth);
  config.threads = 1;
  g_autoptr(AstroVoltages) one = open_voltages(&config);
  config.threads = 0;
  g_autoptr(AstroVoltages) several = open_voltages(&config);
  for (guint64 first = 0; first < 5000000000000; first += 4999999990000) {
    astro_voltages_fill(one, first, STEPS, whole);
    for (guint64 at = 0, steps; at < STEPS; at += steps) {
      const guint64 cut = (guint64)g_test_rand_int_range(1, 20000);
      steps = MIN(cut, STEPS - at);
      if (g_test_rand_bit())
        astro_voltages_fill(several, 100000 * at, MIN(steps, 10), parts + at * INPUTS * 4);
      astro_voltages_fill(several, first + at, steps, parts + at * INPUTS * 4);
    }
    g_assert_cmpint(memcmp(whole, parts, bytes), ==, 0);
  }
}

static void test_refused(void)
{
  static const struct {
    Case c;
    const char *says;
  } cases[] = {
    { { "0,0,1;0,0,1,line=1.5e8:100:2", "linear", ASTRO_FORMAT_CI8, 1.5e8, 20000000, 0 },
      "source 2 has a line of 100 Hz width at 150000000 Hz, expected at least 1221 Hz" },
    { { "0,0,1,q=1,rm=1e6", "linear", ASTRO_FORMAT_CI8, 1.5e8, 20000000, 0 },
      "the rotation measure of source 1, 1e+06 rad/m^2, turns its polarisation too fast" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(AstroObservation) observation = observe("0 0 0\n");
    g_autoptr(AstroSky) sky = sky_of(cases[i].c.sky, observation);
    const AstroVoltagesConfig config = config_of(&cases[i].c, observation, sky, 2);
    g_assert_null(astro_voltages_new(&config, &error));
    g_assert_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE);
    test_says(error->message, cases[i].says);
  }
}

static void add_tests(void)
{
  g_test_add_func("/voltages/polarised/coherency", test_coherency);
  g_test_add_func("/voltages/polarised/fully", test_fully_polarised);
  g_test_add_func("/voltages/polarised/rotation", test_rotation);
  g_test_add_func("/voltages/polarised/measurement-equation", test_measurement_equation);
  g_test_add_func("/voltages/polarised/line", test_line);
  g_test_add_func("/voltages/polarised/same", test_same);
  g_test_add_func("/voltages/polarised/refused", test_refused);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
