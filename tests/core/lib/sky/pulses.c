/* Pulsars and bursts in the voltages: profile, flux, delay in each channel, the width of a burst
 * whose dispersion is taken out again; phases between stations; how they are written. */
#include "tests/core/lib/sky/spectra.h"

static AstroSky *pulses_of(const char *text, AstroSourceKind kind,
                           const AstroObservation *observation)
{
  g_autoptr(GError) error = NULL;
  AstroSky *sky = astro_sky_new_pulses(text, kind, &error);
  g_assert_no_error(error);
  g_assert_true(astro_sky_resolve(sky, observation, &error));
  return sky;
}

static AstroVoltagesConfig config_of(AstroObservation *observation, const AstroSky *sky, guint pols,
                                     double frequency, gint bandwidth)
{
  return (AstroVoltagesConfig){
    .observation = observation,
    .sky = sky,
    .stream = stream_of(ASTRO_FORMAT_CF32LE, "station:pol:time", observation->n_stations, pols,
                        frequency, bandwidth),
    .seed = 3,
  };
}

/* The power in 50 bins of the period is the profile, and its mean the flux. */
static void test_profile(void)
{
  enum { BINS = 50, PERIOD = 2000, PERIODS = 500, STEPS = PERIOD * PERIODS };
  g_autoptr(AstroObservation) observation = observe("0 0 0\n");
  g_autoptr(AstroSky) sky =
      pulses_of("0,0,3,period=0.002,duty=0.1,phase=0.25", ASTRO_SOURCE_PULSAR, observation);
  const AstroVoltagesConfig config = config_of(observation, sky, 1, 1.4e9, 1000000);
  g_autoptr(AstroVoltages) voltages = open_voltages(&config);
  g_autofree float complex *data = g_new(float complex, STEPS);
  double bins[BINS] = { 0 }, mean = 0;
  astro_voltages_fill(voltages, 0, STEPS, data);
  for (guint i = 0; i < STEPS; i++) {
    const double power = pow(cabsf(data[i]), 2);
    bins[i % PERIOD * BINS / PERIOD] += power * BINS / STEPS;
    mean += power / STEPS;
  }
  test_near(mean, 3, 3 * 5 / sqrt(STEPS * 0.15));
  for (guint b = 0; b < BINS; b++) {
    const double x = (b + 0.5) / BINS - 0.25;
    double expected = 0;
    for (guint k = 0; k < 20; k++) /* the mean over the bin */
      expected += exp(-4 * G_LN2 * pow((x + ((k + 0.5) / 20 - 0.5) / BINS) / 0.1, 2)) / 20;
    expected *= 3 / (0.1 * sqrt(G_PI / (4 * G_LN2)));
    test_near(bins[b], expected, 5 * expected * sqrt(50.0 / STEPS) + 0.01);
  }
}

/* Pulses come later at lower frequencies by the law of dispersion. */
static void test_delays(void)
{
  enum { CHANNELS = 64, PERIOD = 256, PERIODS = 60 };
  const double f0 = 1.5e8, bandwidth = 4e6, dm = 1.5;
  g_autoptr(AstroObservation) observation = observe("0 0 0\n");
  g_autofree char *text =
      g_strdup_printf("0,0,3,period=%.17g,duty=0.03,dm=%g", PERIOD * CHANNELS / bandwidth, dm);
  g_autoptr(AstroSky) sky = pulses_of(text, ASTRO_SOURCE_PULSAR, observation);
  const AstroVoltagesConfig config = config_of(observation, sky, 1, f0, (gint)bandwidth);
  Spectra spectra = { .stations = 1, .channels = CHANNELS, .segments = PERIOD * PERIODS };
  g_autoptr(AstroVoltages) voltages = open_voltages(&config);
  make_spectra(voltages, &spectra);
  for (gint k = -28; k <= 28; k++) {
    complex double phase = 0;
    for (guint s = 0; s < spectra.segments; s++) {
      const double power =
          pow(cabs(spectra.spectra[(gsize)s * CHANNELS + (guint)(k + CHANNELS) % CHANNELS]), 2);
      phase += power * cexp(2 * I * G_PI * (s + 0.5) / PERIOD);
    }
    const double f = f0 + k * bandwidth / CHANNELS;
    const double delay = 4.148808e15 * dm * (1 / (f * f) - 1 / (f0 * f0));
    const double turns = delay / (PERIOD * CHANNELS / bandwidth);
    test_near(carg(phase * cexp(-2 * I * G_PI * turns)) / (2 * G_PI), 0, 0.004);
  }
  g_free(spectra.spectra);
}

/* Width at half maximum and area of the power after the dispersion was taken out again. */
static void test_burst(void)
{
  enum { STEPS = 1 << 17, SEEDS = 20 };
  const double f0 = 1.4e9, bandwidth = 1e7, dm = 100, width = 4e-5, time = 0.007, fluence = 2;
  g_autoptr(AstroObservation) observation = observe("0 0 0\n");
  g_autofree char *text =
      g_strdup_printf("0,0,%g,time=%g,width=%g,dm=%g", fluence, time, width, dm);
  g_autoptr(AstroSky) sky = pulses_of(text, ASTRO_SOURCE_BURST, observation);
  double smeared = 0, sharp = 0, area = 0, first = 0, second = 0;
  for (guint64 seed = 0; seed < SEEDS; seed++) {
    AstroVoltagesConfig config = config_of(observation, sky, 1, f0, (gint)bandwidth);
    config.seed = seed;
    g_autoptr(AstroVoltages) voltages = open_voltages(&config);
    g_autofree float complex *data = g_new(float complex, STEPS);
    g_autofree double complex *x = g_new(double complex, STEPS);
    astro_voltages_fill(voltages, 0, STEPS, data);
    for (guint i = 0; i < STEPS; i++) {
      smeared = MAX(smeared, pow(cabsf(data[i]), 2));
      x[i] = data[i];
    }
    transform(x, STEPS);
    for (guint i = 0; i < STEPS; i++) {
      const double offset = ((double)i - (i < STEPS / 2 ? 0 : STEPS)) * bandwidth / STEPS;
      const double turns = 4.148808e15 * dm * offset * offset / (f0 * f0 * (f0 + offset));
      x[i] = conj(x[i] * cexp(-2 * I * G_PI * (turns - floor(turns)))) / STEPS;
    }
    transform(x, STEPS);
    for (guint i = 0; i < STEPS; i++) {
      const double power = pow(cabs(x[i]), 2), at = i / bandwidth - time;
      sharp = MAX(sharp, power);
      if (fabs(at) > 4 * width)
        continue;
      area += power / bandwidth / SEEDS;
      first += power * at;
      second += power * at * at;
    }
  }
  const double samples = area * bandwidth * SEEDS, middle = first / samples;
  /* As many independent values as samples in a pulse. */
  const double counting = 1 / sqrt(SEEDS * width * bandwidth);
  test_near(area, fluence, 5 * fluence * counting);
  test_near(middle, 0, 5 * 0.42 * width * counting);
  test_near(sqrt(second / samples - middle * middle) * sqrt(8 * G_LN2) / width, 1, 0.05);
  g_assert_cmpfloat(sharp, >, 20 * smeared);
}

/* A pulse reaches two stations with the phase and the delay of a steady source. */
static void test_coherent(void)
{
  g_autoptr(AstroObservation) observation = observe("0 0 0\n20 -30 0\n");
  g_autoptr(AstroSky) sky =
      pulses_of("0.3,-0.2,2,q=1,period=0.003,duty=0.2,dm=0.3", ASTRO_SOURCE_PULSAR, observation);
  const AstroVoltagesConfig config = config_of(observation, sky, 2, 1.5e8, 1000000);
  Spectra spectra = { .stations = 4, .channels = 64, .segments = 3000 };
  g_autoptr(AstroVoltages) voltages = open_voltages(&config);
  make_spectra(voltages, &spectra);
  for (gint k = -28; k <= 28; k++) {
    const guint at = (guint)(k + 64) % 64;
    const double turns =
        (1.5e8 + k * 1e6 / 64) * delay_between(observation, &sky->sources[0], 0, 1, 96000000);
    const complex double x = visibility(&spectra, 0, 2, at) * cexp(-2 * I * G_PI * turns),
                         y = visibility(&spectra, 1, 3, at) * cexp(-2 * I * G_PI * turns);
    /* Noise of which a fifth of the time counts. */
    test_near_complex(x, 3, 6 * 3 / sqrt(3000 * 0.2));
    test_near_complex(y, 1, 6 * 1 / sqrt(3000 * 0.2));
    test_near(carg(x), 0, 0.02);
  }
  g_free(spectra.spectra);
}

/* The same in pieces, after jumps, and by other numbers of threads; silent before a burst. */
static void test_same(void)
{
  enum { STEPS = 60000 };
  g_autoptr(AstroObservation) observation = observe("0 0 0\n1000 30 0\n");
  g_autoptr(AstroSky) sky =
      pulses_of("0,0,3,period=0.001,duty=0.1,dm=0.2", ASTRO_SOURCE_PULSAR, observation);
  astro_sky_append(
      sky, pulses_of("0.1,0,1,q=0.5,time=0.06,width=1e-3,dm=0.4", ASTRO_SOURCE_BURST, observation));
  AstroVoltagesConfig config = config_of(observation, sky, 2, 1.5e8, 1000000);
  config.stream = stream_of(ASTRO_FORMAT_CF32LE, "time:station:pol", 2, 2, 1.5e8, 1000000);
  config.threads = 1;
  g_autoptr(AstroVoltages) one = open_voltages(&config);
  config.threads = 0;
  g_autoptr(AstroVoltages) several = open_voltages(&config);
  g_autofree float *whole = g_new(float, STEPS * 8), *parts = g_new(float, STEPS * 8);
  astro_voltages_fill(one, 5000, STEPS, whole);
  for (guint64 at = 0, steps; at < STEPS; at += steps) {
    const guint64 cut = (guint64)g_test_rand_int_range(1, 20000);
    steps = MIN(cut, STEPS - at);
    if (g_test_rand_bit())
      astro_voltages_fill(several, 1000000 + at, MIN(steps, 10), parts + at * 8);
    astro_voltages_fill(several, 5000 + at, steps, parts + at * 8);
  }
  g_assert_cmpmem(whole, STEPS * 32, parts, STEPS * 32);
}

static void test_silent(void)
{
  enum { STEPS = 40000 };
  static float data[STEPS][2];
  g_autoptr(AstroObservation) observation = observe("0 0 0\n");
  g_autoptr(AstroSky) sky =
      pulses_of("0,0,1,time=0.03,width=1e-3", ASTRO_SOURCE_BURST, observation);
  const AstroVoltagesConfig config = config_of(observation, sky, 1, 1.5e8, 1000000);
  g_autoptr(AstroVoltages) voltages = open_voltages(&config);
  astro_voltages_fill(voltages, 0, STEPS, data);
  double power[4] = { 0 };
  for (guint i = 0; i < STEPS; i++)
    power[i / 10000] += (pow(data[i][0], 2) + pow(data[i][1], 2)) / 1e6;
  test_near(power[0], 0, 1e-20);
  test_near(power[2] + power[3], 1, 5 / sqrt(1000));
  test_near(power[2], power[3], 0.2);
}

static void test_written(void)
{
  static const struct {
    AstroSourceKind kind;
    const char *text, *says;
  } bad[] = {
    { ASTRO_SOURCE_PULSAR, "0,0,1",
      "pulsar: source 1 is \"0,0,1\": expected period= (s) and duty=" },
    { ASTRO_SOURCE_PULSAR, "0,0,1,period=1", "expected period= (s) and duty=" },
    { ASTRO_SOURCE_PULSAR, "0,0,1,period=0,duty=0.1", "the period must be above 0 s" },
    { ASTRO_SOURCE_PULSAR, "0,0,1,period=1,duty=0.6", "must be above 0 and at most 0.5" },
    { ASTRO_SOURCE_PULSAR, "0,0,1,period=1,duty=0.1,dm=-1", "must be from 0 to 100000" },
    { ASTRO_SOURCE_PULSAR, "0,0,1,period=1,duty=0.1,period=2", "\"period=2\" comes a second time" },
    { ASTRO_SOURCE_PULSAR, "0,0,1,period=x,duty=0.1", "\"period=x\": expected a number" },
    { ASTRO_SOURCE_PULSAR, "0,0,1,period=1,duty=0.1,width=2",
      "\"width=2\" is not known, expected period= (s), duty=, phase= or dm= (pc/cm^3), q=" },
    { ASTRO_SOURCE_PULSAR, "0,0,1,period=1,duty=0.1,q=2", "more than the flux" },
    { ASTRO_SOURCE_PULSAR, "nowhere", "pulsar \"nowhere\" is neither a file nor a list" },
    { ASTRO_SOURCE_BURST, "0,0,1,time=1",
      "burst: source 1 is \"0,0,1,time=1\": expected time= and" },
    { ASTRO_SOURCE_BURST, "0,0,1,time=1,width=0", "the width must be above 0 s" },
    { ASTRO_SOURCE_BURST, "0,0,1,time=1,width=1,period=3", "\"period=3\" is not known" },
    { ASTRO_SOURCE_BURST, "moon", "burst \"moon\": the Moon moves" },
    { ASTRO_SOURCE_STEADY, "0,0,1,dm=3", "sky: source 1 is \"0,0,1,dm=3\": \"dm=3\" is not known" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(astro_sky_new_pulses(bad[i].text, bad[i].kind, &error));
    g_assert_nonnull(error);
    test_says(error->message, bad[i].says);
  }
}

static void test_refused(void)
{
  static const struct {
    AstroSourceKind kind;
    const char *text, *says;
  } cases[] = {
    { ASTRO_SOURCE_PULSAR, "0,0,1,period=1e-6,duty=0.1",
      "pulsar: the pulses of source 1 are 1e-07 s wide, expected at least 2e-06 s, 2 samples" },
    { ASTRO_SOURCE_BURST, "0,0,1,time=0,width=1,dm=3000",
      "burst: the dispersion of source 1 delays the lower edge of the band by 3.70" },
  };
  g_autoptr(AstroObservation) observation = observe("0 0 0\n");
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(AstroSky) sky = pulses_of(cases[i].text, cases[i].kind, observation);
    const AstroVoltagesConfig config = config_of(observation, sky, 1, 1.5e8, 1000000);
    g_assert_null(astro_voltages_new(&config, &error));
    test_says(error->message, cases[i].says);
  }
}

static void add_tests(void)
{
  g_test_add_func("/pulses/profile", test_profile);
  g_test_add_func("/pulses/delays", test_delays);
  g_test_add_func("/pulses/burst", test_burst);
  g_test_add_func("/pulses/coherent", test_coherent);
  g_test_add_func("/pulses/same", test_same);
  g_test_add_func("/pulses/silent", test_silent);
  g_test_add_func("/pulses/written", test_written);
  g_test_add_func("/pulses/refused", test_refused);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
