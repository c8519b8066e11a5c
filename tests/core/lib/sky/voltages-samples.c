/* The samples themselves: independent of blocks and instruction sets; formats; patterns; and
 * refusals. */
#include "tests/core/lib/sky/voltages.h"

/* Blocks cut anywhere give what one block gives, in every format and layout. */
static void test_blocks(void)
{
  static const AstroFormat formats[] = { ASTRO_FORMAT_CI4,    ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI16LE,
                                         ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_I8,  ASTRO_FORMAT_I16LE,
                                         ASTRO_FORMAT_F32LE };
  static const char *const layouts[] = { "time:station:pol", "station:time:pol",
                                         "station:pol:time" };
  enum { STATIONS = 19, POLS = 2, STEPS = 3000 };
  g_autoptr(AstroObservation) observation =
      observe("0 0 0\n10 3 0\n-4 120 0\n7 -9 1\n-11 -6 0\n2 5 2\n5000 0 0\n7 8 9\n1 1 1\n2 2 2\n"
              "3 4 5\n1 0 0\n2 0 0\n3 0 0\n4 0 0\n5 0 0\n6 0 0\n7 0 0\n8 0 0\n");
  g_autoptr(AstroSky) sky = sky_of("0.3,0.1,3;-0.2,0.4,1.5", observation);
  sky->sources[1].spectral_index = -0.7;
  for (guint c = 0; c < 9; c++) {
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

/* Integers are the floating-point samples times the scale, rounded; their rms uses the range
 * well. */
static void test_formats(void)
{
  static const struct {
    AstroFormat format;
    double rms, limit;
  } formats[] = {
    { ASTRO_FORMAT_CI4, 2.95, 7 },        { ASTRO_FORMAT_CI8, 32, 127 },
    { ASTRO_FORMAT_CI16LE, 2048, 32767 }, { ASTRO_FORMAT_I8, 32, 127 },
    { ASTRO_FORMAT_I16LE, 2048, 32767 },
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
  for (guint f = 0; f < G_N_ELEMENTS(formats); f++) {
    const gboolean is_complex = astro_format_info(formats[f].format)->is_complex;
    const guint steps = is_complex ? STEPS : 2 * STEPS;
    config.stream.format = is_complex ? ASTRO_FORMAT_CF32LE : ASTRO_FORMAT_F32LE;
    g_autoptr(AstroVoltages) floats = open_voltages(&config);
    test_near(astro_voltages_scale(floats), 1, 0);
    astro_voltages_fill(floats, 0, steps, exact);
    config.stream.format = formats[f].format;
    g_autoptr(AstroVoltages) voltages = open_voltages(&config);
    double scale = astro_voltages_scale(voltages), square = 0;
    /* The power of a real sample equals that of both components. */
    test_near(scale, formats[f].rms / sqrt(is_complex ? 25 : 50), 1e-9 * formats[f].rms);
    astro_voltages_fill(voltages, 0, steps, raw);
    for (guint i = 0; i < STEPS; i++)
      for (guint k = 0; k < 2; k++) {
        gint found = f == 0 ? (gint8)(k ? ((guint8 *)raw)[i] << 4 : ((guint8 *)raw)[i]) >> 4
                     : formats[f].limit == 127 ? ((gint8 *)raw)[2 * i + k]
                                               : raw[i][k];
        double expected = rint(CLAMP(exact[i][k] * scale, -formats[f].limit - 1, formats[f].limit));
        test_near(found, expected,
                  fabs(exact[i][k] * scale - trunc(exact[i][k] * scale)) > 0.499 &&
                          fabs(exact[i][k] * scale - trunc(exact[i][k] * scale)) < 0.501
                      ? 1
                      : 0);
        square += found * found / (2.0 * STEPS);
      }
    test_near(sqrt(square) / formats[f].rms, 1, 0.03);
  }
  config.scale = 3;
  g_autoptr(AstroVoltages) fixed = open_voltages(&config);
  test_near(astro_voltages_scale(fixed), 3, 0);
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
  config.pattern = ASTRO_PATTERN_RAMP;
  config.stream.format = ASTRO_FORMAT_I8;
  g_autoptr(AstroVoltages) real_ramp = open_voltages(&config);
  astro_voltages_fill(real_ramp, 300, STEPS, data);
  for (guint i = 0; i < STEPS * 6; i++)
    g_assert_cmpint(((gint8 *)data)[i], ==, (gint8)(300 + i / 6));
  config.pattern = ASTRO_PATTERN_IMPULSE;
  g_autoptr(AstroVoltages) real_impulse = open_voltages(&config);
  astro_voltages_fill(real_impulse, 5, STEPS, data);
  for (guint i = 0; i < STEPS * 6; i++)
    g_assert_cmpint(((gint8 *)data)[i], ==, (i / 6 + 5) % 4096 ? 0 : 64);
  /* Steps a cycle that are a power of two and that are not, after 31 years; and frequency 0. */
  static const double tones[] = { -125, 100, -1e-30 };
  config.pattern = ASTRO_PATTERN_TONE;
  config.stream = stream_of(ASTRO_FORMAT_CF32LE, "time:station:pol", 1, 1, 0, 1000);
  for (guint t = 0; t < G_N_ELEMENTS(tones); t++) {
    config.tone = tones[t];
    g_autoptr(AstroVoltages) wave = open_voltages(&config);
    astro_voltages_fill(wave, 1000000000000, STEPS, tone);
    for (guint i = 0; i < STEPS; i++) {
      test_near(tone[i][0], cos(2 * G_PI * i * tones[t] / 1000), 1e-4);
      test_near(tone[i][1], sin(2 * G_PI * i * tones[t] / 1000), 1e-4);
    }
    /* The band's centre is at a quarter of the rate. */
    AstroVoltagesConfig real = config;
    real.stream.format = ASTRO_FORMAT_F32LE;
    g_autoptr(AstroVoltages) real_wave = open_voltages(&real);
    astro_voltages_fill(real_wave, 1000000000000, STEPS, tone);
    for (guint i = 0; i < STEPS; i++)
      test_near(((float *)tone)[i], cos(2 * G_PI * i * (tones[t] / 1000 + 0.25)), 1e-4);
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
      test_near(((float *)other)[i], ((float *)first)[i], 2e-5);
  }
  if (before)
    g_setenv("ASTRO_CPU", before, TRUE);
  else
    g_unsetenv("ASTRO_CPU");
}

/* The samples of earlier versions: recordings that were simulated with a seed can be made
 * again. */
static void test_same_as_ever(void)
{
  static const struct {
    AstroFormat format;
    guint pols;
    double index;
    const char *sum;
  } cases[] = {
    { ASTRO_FORMAT_CI8, 2, 0, "3cbacf38a103d41f0c8473420d7591de" },
    { ASTRO_FORMAT_CI8, 1, -0.7, "5a2688917a9b05a5faf8fe145901daec" },
    { ASTRO_FORMAT_I8, 2, 0, "09311dfcc69adfc1a76f2f0ddf180e9d" },
    { ASTRO_FORMAT_CI4, 2, 1.5, "af35b317728c6231a73698d7fff0ab92" },
  };
  enum { STATIONS = 3, STEPS = 5000 };
  g_autofree char *before = g_strdup(g_getenv("ASTRO_CPU"));
  g_autoptr(AstroObservation) observation = observe("0 0 0\n1000 3 0\n-4 120 0\n");
  g_autoptr(AstroSky) sky = sky_of("0.3,0.1,3;-0.2,0.4,1.5", observation);
  g_setenv("ASTRO_CPU", "c", TRUE); /* other instruction sets round a few samples differently */
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    sky->sources[1].spectral_index = cases[i].index;
    AstroVoltagesConfig config = {
      .observation = observation,
      .sky = sky,
      .stream =
          stream_of(cases[i].format, "time:station:pol", STATIONS, cases[i].pols, 1e9, 20000000),
      .noise = 1,
      .seed = 17,
    };
    g_autoptr(AstroVoltages) voltages = open_voltages(&config);
    const gsize bytes =
        STEPS * STATIONS * cases[i].pols * astro_format_info(cases[i].format)->bytes;
    g_autofree guint8 *data = g_malloc(bytes);
    astro_voltages_fill(voltages, 123456, STEPS, data);
    g_autofree char *sum = g_compute_checksum_for_data(G_CHECKSUM_MD5, data, bytes);
    g_assert_cmpstr(sum, ==, cases[i].sum);
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
  g_autoptr(AstroObservation) small = observe("-250 0 0\n250 0 0\n");
  g_autoptr(AstroSky) sky = sky_of("0,0,1", observation);
  AstroVoltagesConfig good = {
    .observation = observation,
    .sky = sky,
    .stream = stream_of(ASTRO_FORMAT_CI8, "time:station:pol", 2, 1, 1e9, 20000000),
  };
  struct {
    AstroVoltagesConfig config;
    const char *says;
  } cases[] = { { good, "expected the format" },
                { good, "below 0 Hz" },
                { good, "start" },
                { good, "number of stations" },
                { good, "needs a bandwidth above" },
                { good, "reaches 0.25 km" } };
  cases[0].config.stream.format = ASTRO_FORMAT_CF16LE;
  cases[1].config.stream.frequency = 5e6;
  cases[2].config.sky = NULL;
  cases[3].config.stream.layout.extents[1] = 3;
  cases[4].config.observation = wide;
  cases[4].config.stream.rate_n = 10;
  cases[4].config.stream.bandwidth = 10;
  cases[5].config.observation = small;
  cases[5].config.stream.rate_d = 1000000000;
  cases[5].config.stream.bandwidth = 0.02;
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(astro_voltages_new(&cases[i].config, &error));
    g_assert_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE);
    test_says(error->message, cases[i].says);
  }
}

static void add_tests(void)
{
  g_test_add_func("/voltages/blocks", test_blocks);
  g_test_add_func("/voltages/formats", test_formats);
  g_test_add_func("/voltages/patterns", test_patterns);
  g_test_add_func("/voltages/variants", test_variants);
  g_test_add_func("/voltages/same-as-ever", test_same_as_ever);
  g_test_add_func("/voltages/errors", test_errors);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
