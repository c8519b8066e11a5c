/* Interference: how it is read and told, and where it is in the voltages: in just those stations,
 * times and channels, with the power that was asked for. */
#include "core/lib/sky/interference.h"
#include "tests/core/lib/sky/spectra.h"

#define FREQUENCY 1.5e8
#define BANDWIDTH 1000000
#define STATIONS 4

static AstroObservation *observe_four(void)
{
  return observe("0 0 0 A\n100 0 0 B\n0 100 0 C\n-50 -50 0 3-D\n");
}

static AstroInterference *read_list(const char *text, const AstroObservation *observation,
                                    guint64 seed, GError **error)
{
  const AstroInterferencePlace place = { observation, FREQUENCY, BANDWIDTH, seed };
  return astro_interference_new(text, &place, error);
}

static AstroVoltages *open_with(const AstroInterference *interference,
                                AstroObservation *observation, AstroFormat format, guint pols,
                                double noise)
{
  const AstroVoltagesConfig config = {
    .pattern = ASTRO_PATTERN_NOISE,
    .observation = observation,
    .interference = interference,
    .noise = noise,
    .seed = 11,
    .stream = stream_of(format, "station:pol:time", STATIONS, pols, FREQUENCY, BANDWIDTH),
  };
  return open_voltages(&config);
}

/* ---- the list ---- */

static void test_list(void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroObservation) observation = observe_four();
  g_autoptr(AstroInterference) list =
      read_list("1.501e8,50; 1.499e8 , 3,width=1e5,period=0.1, on=0.02,start=1.5,stations=0-1+3-D;",
                observation, 1, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(list->n, ==, 2);
  test_near(list->emitters[0].frequency, 1.501e8, 0);
  test_near(list->emitters[0].power, 50, 0);
  g_assert_null(list->emitters[0].stations);
  const AstroEmitter *band = &list->emitters[1];
  test_near(band->width, 1e5, 0);
  test_near(band->period, 0.1, 0);
  test_near(band->on, 0.02, 0);
  test_near(band->start, 1.5, 0);
  static const guint8 stations[] = { 1, 1, 0, 1 };
  g_assert_cmpmem(band->stations, STATIONS, stations, STATIONS);
  g_autofree char *told = astro_interference_tell(list, STATIONS);
  g_assert_cmpstr(
      told, ==,
      "150100000,50;149900000,3,width=100000,period=0.1,on=0.02,start=1.5,stations=0-1+3");
  g_autoptr(AstroInterference) none = read_list("", observation, 1, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(none->n, ==, 0);
}

static AstroInterference *read_file(const char *text, const AstroObservation *observation,
                                    GError **error)
{
  const AstroInterferencePlace place = { observation, FREQUENCY, BANDWIDTH, 1 };
  AstroLines lines;
  astro_lines_init(&lines, "r.txt", g_strdup(text));
  AstroInterference *list = astro_interference_from_lines(&lines, &place, error);
  astro_lines_clear(&lines);
  return list;
}

static void test_file(void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroObservation) observation = observe_four();
  g_autoptr(AstroInterference) list =
      read_file("# Hz Jy\n1.501e8 50\nrandom 3 count=4 stations=C\n", observation, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(list->n, ==, 5);
  g_assert_null(read_file("1.5e8 1\n1.5e8 1 on=x\n", observation, &error));
  test_says(error->message, "r.txt:2: found \"1.5e8 1 on=x\", \"on=x\": expected a number");
}

/* The seed draws frequencies and times within the band and the period, and what it drew can be told
 * and read again. */
static void test_random(void)
{
  static const char *const text = "random,3,count=50,width=1e5,period=0.5,on=0.1;random,1";
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroObservation) observation = observe_four();
  g_autoptr(AstroInterference) list = read_list(text, observation, 1, &error);
  g_autoptr(AstroInterference) again = read_list(text, observation, 1, &error);
  g_autoptr(AstroInterference) other = read_list(text, observation, 2, &error);
  g_autofree char *told = astro_interference_tell(list, STATIONS);
  g_autoptr(AstroInterference) read = read_list(told, observation, 9, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(list->n, ==, 51);
  g_assert_cmpuint(read->n, ==, 51);
  double lowest = INFINITY, highest = 0;
  for (guint i = 0; i < 50; i++) {
    const AstroEmitter *emitter = &list->emitters[i];
    lowest = MIN(lowest, emitter->frequency);
    highest = MAX(highest, emitter->frequency);
    g_assert_cmpfloat(fabs(emitter->frequency - FREQUENCY), <=, 4.5e5);
    g_assert_cmpfloat(emitter->start, >, -0.5);
    g_assert_cmpfloat(emitter->start, <, 0);
    g_assert_cmpmem(emitter, sizeof *emitter, &again->emitters[i], sizeof *emitter);
    g_assert_cmpmem(emitter, sizeof *emitter, &read->emitters[i], sizeof *emitter);
    g_assert_cmpfloat(emitter->frequency, !=, other->emitters[i].frequency);
  }
  g_assert_cmpfloat(highest - lowest, >, 7e5);
}

static void test_errors(void)
{
  static const char *const bad[][2] = {
    { "somewhere", "rfi \"somewhere\" is neither a file nor a list" },
    { "1.5e8", "neither a file nor a list" },
    { "1.5e8,1;1.5e8,x", "rfi: item 2 is \"1.5e8,x\": expected numbers: frequency" },
    { "1.5e8,width=3", "expected frequency (Hz or random) and power (Jy), then only width=" },
    { "1.5e8,1,3", "\"3\" is not known, expected width= (Hz)" },
    { "1.5e8,1,duty=3", "\"duty=3\" is not known" },
    { "1.5e8,1,on=", "\"on=\": expected a number" },
    { "-1,1", "expected a frequency above 0 Hz" },
    { "1.5e8,-1", "expected a power of at least 0 Jy" },
    { "1.5e8,1,width=-1", "expected a width of at least 0 Hz" },
    { "1.5e8,1,width=2e6", "at most that of the observed band" },
    { "1.5e8,1,on=-1", "must not be below 0 s" },
    { "1.5e8,1,period=1", "expected on=" },
    { "1.5e8,1,period=1,on=2", "longer than its period" },
    { "1.5e8,1,count=3", "a count needs the frequency random" },
    { "random,1,count=0", "a whole number from 1 to 10000" },
    { "random,1,count=2.5", "a whole number from 1 to 10000" },
    { "random,1,count=9000;random,1,count=2000", "expected at most 10000 tones and bands" },
    { "1.5e8,1,stations=", "stations=: expected numbers, ranges or names" },
    { "1.5e8,1,stations=4", "there is no station \"4\", expected numbers from 0 to 3" },
    { "1.5e8,1,stations=2-4", "there is no station \"2-4\"" },
    { "1.5e8,1,stations=2-1", "there is no station \"2-1\"" },
    { "1.5e8,1,stations=A+E", "there is no station \"E\"" },
    { "1.5e8,1,stations=A,stations=B", "comes a second time" },
  };
  g_autoptr(AstroObservation) observation = observe_four();
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(read_list(bad[i][0], observation, 1, &error));
    g_assert_nonnull(error);
    test_says(error->message, bad[i][1]);
  }
}

static void test_outside(void)
{
  g_autoptr(AstroObservation) observation = observe_four();
  g_autoptr(AstroInterference) list =
      read_list("1.4e8,1;1.5e8,1;1.494e8,1;1.494e8,1,width=3e5", observation, 1, NULL);
  g_autofree char *outside = astro_interference_tell_outside(list, FREQUENCY, BANDWIDTH);
  test_says(outside,
            "rfi: the interference at 140000000 Hz (and 1 more) is outside of the band from "
            "149500000 to 150500000 Hz and is left out");
  g_assert_null(astro_interference_tell_outside(list, 1.45e8, 12e6));
}

/* ---- in the voltages ---- */

/* A tone is a wave of its frequency and power in just those samples and stations; nothing is in the
 * others. */
static void test_tone(void)
{
  enum { STEPS = 70000 };
  static float data[STATIONS][2][STEPS][2];
  g_autoptr(AstroObservation) observation = observe_four();
  g_autoptr(AstroInterference) list = read_list(
      "1.502e8,9,stations=1+3-D,period=0.01,on=0.0025,start=0.0071", observation, 1, NULL);
  g_autoptr(AstroVoltages) voltages = open_with(list, observation, ASTRO_FORMAT_CF32LE, 2, 0);
  astro_voltages_fill(voltages, 0, STEPS, data);
  for (guint station = 0; station < STATIONS; station++)
    for (guint pol = 0; pol < 2; pol++) {
      complex double phase = 0;
      for (guint i = 0; i < STEPS; i++) {
        const complex double found = data[station][pol][i][0] + I * data[station][pol][i][1];
        const gboolean is_on = station % 2 == 1 && i >= 7100 && (i - 7100) % 10000 < 2500;
        const complex double wave = 3 * cexp(2 * I * G_PI * 0.2 * i);
        if (is_on && phase == 0)
          phase = found / wave;
        test_near_complex(found, is_on ? wave * phase : 0, 2e-5);
      }
      test_near(cabs(phase), station % 2, 1e-5);
    }
}

/* Real samples have it at its place in the band, whose lower edge is at zero. */
static void test_real_tone(void)
{
  enum { STEPS = 8192 };
  static float data[STATIONS][STEPS];
  g_autoptr(AstroObservation) observation = observe_four();
  g_autoptr(AstroInterference) list = read_list("1.498e8,2,stations=0", observation, 1, NULL);
  g_autoptr(AstroVoltages) voltages = open_with(list, observation, ASTRO_FORMAT_F32LE, 1, 0);
  astro_voltages_fill(voltages, 0, STEPS, data);
  complex double sum = 0;
  double power = 0;
  for (guint i = 0; i < STEPS; i++) {
    sum += data[0][i] * cexp(-2 * I * G_PI * 0.15 * i) / STEPS; /* 0.3 of 0.5 MHz a sample */
    power += data[0][i] * data[0][i] / STEPS;
  }
  test_near(power, 2, 1e-2);
  test_near(cabs(sum), 1, 1e-2);
}

/* A band of noise fills its channels and no others, with its power. */
static void test_band(void)
{
  static const AstroFormat formats[] = { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_F32LE };
  for (guint f = 0; f < G_N_ELEMENTS(formats); f++) {
    const gboolean is_real = f == 1;
    const guint channels = is_real ? 512 : 256, segments = 400, steps = channels * segments;
    g_autoptr(AstroObservation) observation = observe_four();
    g_autoptr(AstroInterference) list = read_list("1.5025e8,4,width=1e5", observation, 1, NULL);
    g_autoptr(AstroVoltages) voltages = open_with(list, observation, formats[f], 1, 0);
    g_autofree float *data = g_new(float, (gsize)STATIONS *steps * 2);
    astro_voltages_fill(voltages, 0, steps, data);
    double inside = 0, outside = 0, total = 0;
    for (guint s = 0; s < segments; s++) {
      double complex x[512];
      for (guint k = 0; k < channels; k++) {
        const gsize at = (gsize)s * channels + k;
        const double window = sin(G_PI * (k + 0.5) / channels) * G_SQRT2;
        x[k] = window * (is_real ? data[at] : data[2 * at] + I * data[2 * at + 1]) / channels;
      }
      transform(x, channels);
      for (guint k = 0; k < channels; k++) {
        const double power = pow(cabs(x[k]), 2) / segments * (is_real && k < 256 ? 2 : 1);
        const double offset =
            is_real ? k * 1e6 / 256 - 5e5 : ((gint)k - (k < 128 ? 0 : 256)) * 1e6 / 256;
        if (is_real && k >= 256)
          continue;
        total += power;
        if (fabs(offset - 2.5e5) < 5e4)
          inside += power;
        else if (fabs(offset - 2.5e5) > 7e4)
          outside += power;
      }
    }
    /* As many independent values as its part of all samples. */
    test_near(total / 4, 1, 5 / sqrt(0.1 * 256 * segments) + 0.01);
    g_assert_cmpfloat(inside / total, >, 0.95);
    g_assert_cmpfloat(outside / total, <, 1e-3);
  }
}

/* All inputs have the same signal, with a phase of their own. */
static void test_coherent(void)
{
  enum { STEPS = 20000 };
  static float complex data[STATIONS][2][STEPS];
  g_autoptr(AstroObservation) observation = observe_four();
  g_autoptr(AstroInterference) list = read_list("1.5e8,4,width=3e5", observation, 1, NULL);
  g_autoptr(AstroVoltages) voltages = open_with(list, observation, ASTRO_FORMAT_CF32LE, 2, 0);
  astro_voltages_fill(voltages, 5000, STEPS, data);
  complex double turns[STATIONS * 2] = { 0 };
  for (guint i = 0; i < STATIONS * 2; i++) {
    double power = 0;
    for (guint k = 0; k < STEPS; k++) {
      turns[i] += data[i / 2][i % 2][k] * conjf(data[0][0][k]);
      power += pow(cabsf(data[0][0][k]), 2);
    }
    turns[i] /= power;
    test_near(cabs(turns[i]), 1, 1e-4);
    for (guint j = 0; j < i; j++)
      g_assert_cmpfloat(cabs(turns[i] - turns[j]), >, 1e-3);
  }
}

/* The same in pieces and by other numbers of threads, and the noise beside it is what it is without
 * it. */
static void test_same(void)
{
  enum { STEPS = 50000 };
  static float whole[STATIONS][STEPS][2], alone[STATIONS][STEPS][2], part[STATIONS][STEPS][2];
  g_autoptr(AstroObservation) observation = observe_four();
  g_autoptr(AstroInterference) list =
      read_list("random,4,count=5,width=1e4,period=0.003,on=0.0004;random,2,count=3,stations=1",
                observation, 4, NULL);
  g_autoptr(AstroInterference) late = read_list("1.5e8,1,on=1,start=0.02", observation, 4, NULL);
  AstroVoltagesConfig config = {
    .pattern = ASTRO_PATTERN_NOISE,
    .observation = observation,
    .interference = list,
    .noise = 2,
    .seed = 11,
    .threads = 1,
    .stream = stream_of(ASTRO_FORMAT_CF32LE, "station:pol:time", STATIONS, 1, FREQUENCY, BANDWIDTH),
  };
  g_autoptr(AstroVoltages) one = open_voltages(&config);
  config.threads = 0;
  g_autoptr(AstroVoltages) several = open_voltages(&config);
  config.interference = late;
  g_autoptr(AstroVoltages) later = open_voltages(&config);
  config.interference = NULL;
  g_autoptr(AstroVoltages) none = open_voltages(&config);
  astro_voltages_fill(one, 777, STEPS, whole);
  for (guint64 at = 0, steps; at < STEPS; at += steps) {
    const guint64 cut = (guint64)g_test_rand_int_range(1, 20000);
    steps = MIN(cut, STEPS - at);
    astro_voltages_fill(several, 777 + at, steps, part);
    for (guint s = 0; s < STATIONS; s++)
      g_assert_cmpmem(whole[s][at], steps * 8, (float *)part + s * steps * 2, steps * 8);
  }
  astro_voltages_fill(none, 777, STEPS, alone);
  astro_voltages_fill(later, 777, STEPS, part);
  const guint on = 20000 - 777;
  for (guint s = 0; s < STATIONS; s++) {
    g_assert_cmpmem(alone[s], on * 8, part[s], on * 8);
    g_assert_cmpint(memcmp(alone[s][on], part[s][on], 8), !=, 0);
  }
}

static void test_refused(void)
{
  g_autoptr(AstroObservation) observation = observe_four();
  static const struct {
    const char *text;
    AstroPattern pattern;
    const char *says;
  } cases[] = {
    { "1.5e8,1", ASTRO_PATTERN_RAMP, "a test pattern has no interference" },
    { "1.5e8,1,on=1e-7", ASTRO_PATTERN_NOISE,
      "is on for 1e-07 s, expected at least a sample, 1e-06" },
    { "1.5e8,1,width=10", ASTRO_PATTERN_NOISE, "is 10 Hz wide, expected at least 244.1 Hz" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(AstroInterference) list = read_list(cases[i].text, observation, 1, NULL);
    const AstroVoltagesConfig config = {
      .pattern = cases[i].pattern,
      .observation = observation,
      .interference = list,
      .stream = stream_of(ASTRO_FORMAT_CI8, "station:pol:time", STATIONS, 1, FREQUENCY, BANDWIDTH),
    };
    g_assert_null(astro_voltages_new(&config, &error));
    test_says(error->message, cases[i].says);
  }
}

static void add_tests(void)
{
  g_test_add_func("/interference/list", test_list);
  g_test_add_func("/interference/file", test_file);
  g_test_add_func("/interference/random", test_random);
  g_test_add_func("/interference/errors", test_errors);
  g_test_add_func("/interference/outside", test_outside);
  g_test_add_func("/interference/tone", test_tone);
  g_test_add_func("/interference/real-tone", test_real_tone);
  g_test_add_func("/interference/band", test_band);
  g_test_add_func("/interference/coherent", test_coherent);
  g_test_add_func("/interference/same", test_same);
  g_test_add_func("/interference/refused", test_refused);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
