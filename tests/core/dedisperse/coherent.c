/* Coherent dedispersion: an impulse that the law of dispersion has spread becomes one again; the
 * cpu backend against the reference; what counts, and what is refused. */
#include "core/dedisperse/coherent.h"
#include "core/lib/sky/dispersion.h"
#include "tests/half.h"
#include "tests/tests.h"

#include <math.h>

static AstroDedisperseConfig config_of(const char *layout, AstroFormat from, guint stations,
                                       guint pols, guint channels, const double *dm)
{
  AstroDedisperseConfig config = { .coherent = TRUE,
                                   .from = from,
                                   .stations = stations,
                                   .pols = pols,
                                   .channels = channels,
                                   .frequency = 150e6,
                                   .bandwidth = 1e5,
                                   .rate = 1e5 / channels,
                                   .n_dms = 1,
                                   .dms = dm };
  g_autoptr(GError) error = NULL;
  astro_layout_parse(&config.layout, layout, ASTRO_QUANTITY_SPECTRA, &error);
  g_assert_no_error(error);
  for (guint i = 0; i < config.layout.n_axes; i++) {
    const AstroAxis axis = config.layout.axes[i];
    config.layout.extents[i] = axis == ASTRO_AXIS_TIME      ? 0
                               : axis == ASTRO_AXIS_CHANNEL ? channels
                               : axis == ASTRO_AXIS_POL     ? pols
                                                            : stations;
  }
  return config;
}

typedef struct {
  gpointer in; /* NULL: lost steps */
  AstroDedisperseArguments arguments;
} Block;

typedef struct {
  float complex *values; /* [value][station][pol][channel], whatever the layout */
  guint32 *counts;       /* [value][station][channel] */
  gsize n;               /* values */
} Output;

static void free_output(Output *output)
{
  g_free(output->values);
  g_free(output->counts);
}

/* Puts values of a call, which are in the order of the layout, in that of the output. */
static void keep(const AstroDedisperseConfig *config, const float complex *from, guint64 ready,
                 float complex *to)
{
  AstroLayout shape = config->layout;
  guint64 strides[ASTRO_MAX_AXES];
  for (guint i = 0; i < shape.n_axes; i++)
    shape.extents[i] = shape.axes[i] == ASTRO_AXIS_TIME ? ready : shape.extents[i];
  astro_layout_strides(&shape, strides);
  for (guint64 t = 0; t < ready; t++)
    for (guint s = 0; s < config->stations; s++)
      for (guint p = 0; p < config->pols; p++)
        for (guint c = 0; c < config->channels; c++)
          *to++ = from[t * astro_layout_stride_of(&shape, strides, ASTRO_AXIS_TIME) +
                       s * astro_layout_stride_of(&shape, strides, ASTRO_AXIS_STATION) +
                       p * astro_layout_stride_of(&shape, strides, ASTRO_AXIS_POL) +
                       c * astro_layout_stride_of(&shape, strides, ASTRO_AXIS_CHANNEL)];
}

static Output run(const AstroBackend *backend, guint threads, const AstroDedisperseConfig *config,
                  const Block *blocks, guint n)
{
  const AstroPlace place = { .threads = threads };
  const gsize samples = (gsize)config->stations * config->pols * config->channels,
              counted = (gsize)config->stations * config->channels;
  g_autoptr(GError) error = NULL;
  AstroDedisperseFilter filter;
  Output output = { 0 };
  guint64 all = 0;
  g_assert_true(astro_dedisperse_filter_init(&filter, config, &error));
  for (guint i = 0; i < n; i++)
    all += astro_dedisperse_filter_ready(&filter, &blocks[i].arguments);
  output.values = g_new(float complex, all *samples + 1);
  output.counts = g_new(guint32, all * counted + 1);
  gpointer instance = backend->create(config, &place, NULL, &error);
  g_assert_no_error(error);
  for (guint i = 0; i < n; i++) {
    const AstroDedisperseArguments *arguments = &blocks[i].arguments;
    const guint64 ready = astro_dedisperse_filter_ready(&filter, arguments);
    const gsize bytes = ready * samples * sizeof(float complex);
    AstroResult result = { .counts = output.counts + output.n * counted };
    float complex *made = test_alloc(bytes);
    test_fill(made, bytes, 5);
    const AstroBlock in = { blocks[i].in,
                            arguments->steps * samples * astro_format_info(config->from)->bytes },
                     out = { made, bytes };
    backend->submit(instance, &in, blocks[i].in ? 1 : 0, &out, ready ? 1 : 0, arguments, &result,
                    &error);
    g_assert_no_error(error);
    test_check_guard(made, bytes);
    keep(config, made, ready, output.values + output.n * samples);
    test_free(made);
    for (gsize k = 0; result.complete && k < ready * counted; k++)
      g_assert_cmpuint(result.counts[k], ==, filter.taps);
    output.n += ready;
  }
  backend->destroy(instance);
  astro_dedisperse_filter_clear(&filter);
  return output;
}

/* ---- an impulse ---- */

#define N 2048

/* An impulse in sample N / 2 of every channel, dispersed: its frequencies with the phases of the
 * law. */
static void disperse(const AstroDedisperseConfig *config, float complex *in)
{
  for (guint c = 0; c < config->channels; c++) {
    const double f =
        astro_channel_frequency(config->frequency, config->bandwidth, config->channels, c);
    for (guint t = 0; t < N; t++) {
      double complex sum = 0;
      for (gint i = -N / 2; i < N / 2; i++) {
        const double turn = (double)i / N;
        const double phase =
            astro_dispersion_turns(config->dms[0], config->frequency, f + turn * config->rate) +
            turn * ((double)t - N / 2);
        sum += cexp(2 * G_PI * I * (phase - rint(phase)));
      }
      in[t * config->channels + c] = (float complex)(sum / N);
    }
  }
}

/* Nearly all energy of it is in one sample again, in every channel at once, with its phase. */
static void test_impulse(void)
{
  static const AstroBackend *const backends[] = { &astro_dedisperse_cpu,
                                                  &astro_dedisperse_reference };
  const double dm = 10;
  for (guint channels = 1; channels <= 4; channels += 3) {
    const AstroDedisperseConfig config =
        config_of("time:channel", ASTRO_FORMAT_CF32LE, 1, 1, channels, &dm);
    AstroDedisperseFilter filter;
    g_assert_true(astro_dedisperse_filter_init(&filter, &config, NULL));
    float complex *in = test_alloc(N * channels * sizeof *in);
    disperse(&config, in);
    for (guint c = 0; c < channels; c++)
      g_assert_cmpfloat(cabsf(in[N / 2 * channels + c]), <, channels> 1 ? 0.5 : 0.2);
    const Block block = { in, { .steps = N, .end = TRUE, .full = 1 } };
    for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
      Output out = run(backends[b], 1, &config, &block, 1);
      const guint64 first = astro_dedisperse_filter_first(&filter);
      g_assert_cmpuint(out.n, ==, N - filter.reach);
      for (guint c = 0; c < channels; c++) {
        const float complex peak = out.values[(N / 2 - first) * channels + c];
        double energy = 0;
        for (gsize i = 0; i < out.n; i++)
          energy += pow((double)cabsf(out.values[i * channels + c]), 2);
        g_test_message("%u channels, %u taps: %g%+gi of %g", channels, filter.taps,
                       (double)crealf(peak), (double)cimagf(peak), energy);
        g_assert_cmpfloat_with_epsilon(cabsf(peak - 1), 0, 0.02);
        g_assert_cmpfloat_with_epsilon(energy, 1, 0.02);
      }
      free_output(&out);
    }
    astro_dedisperse_filter_clear(&filter);
    test_free(in);
  }
}

/* ---- variants ---- */

static gpointer random_samples(GRand *rand, AstroFormat from, gsize n, gboolean has_nan)
{
  const gsize bytes = n * astro_format_info(from)->bytes;
  guint8 *in = test_alloc(bytes);
  test_fill(in, bytes, g_rand_int(rand));
  for (gsize i = 0; i < 2 * n; i++) {
    const gboolean is_nan = has_nan && g_rand_int_range(rand, 0, 2000) == 0;
    if (from == ASTRO_FORMAT_CF32LE)
      ((float *)(gpointer)in)[i] = is_nan ? NAN : (float)g_rand_double_range(rand, -1, 1);
    else if (from == ASTRO_FORMAT_CF16LE)
      ((guint16 *)(gpointer)in)[i] =
          is_nan ? 0x7e00 : test_half_bits(g_rand_double_range(rand, -1, 1));
  }
  return in;
}

static double scale_of(AstroFormat from)
{
  return from == ASTRO_FORMAT_CI4      ? 8
         : from == ASTRO_FORMAT_CI8    ? 128
         : from == ASTRO_FORMAT_CI16LE ? 32768
                                       : 1;
}

static void run_case(guint number)
{
  static const char *const layouts[] = { "time:station:pol:channel", "station:pol:time:channel",
                                         "channel:time:pol:station", "pol:channel:station:time" };
  static const AstroFormat formats[] = { ASTRO_FORMAT_CI4, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI16LE,
                                         ASTRO_FORMAT_CF16LE, ASTRO_FORMAT_CF32LE };
  g_autoptr(GRand) rand = g_rand_new_with_seed(number);
  const AstroFormat from = formats[number % G_N_ELEMENTS(formats)];
  const guint stations = (guint)g_rand_int_range(rand, 1, 3),
              pols = (guint)g_rand_int_range(rand, 1, 3),
              channels = (guint)g_rand_int_range(rand, 1, 5);
  const double dm = number % 6 == 0 ? 0 : g_rand_double_range(rand, 0, 3);
  const AstroDedisperseConfig config =
      config_of(layouts[number % G_N_ELEMENTS(layouts)], from, stations, pols, channels, &dm);
  const gboolean lossy = number % 2;
  Block blocks[6];
  guint64 at = 0;
  for (guint i = 0; i < G_N_ELEMENTS(blocks); i++) {
    const gboolean ends = i == G_N_ELEMENTS(blocks) - 1 || (i == 2 && number % 5 == 0);
    const guint64 steps = (guint64)g_rand_int_range(rand, 1, i % 3 ? 300 : 1500);
    blocks[i].arguments =
        (AstroDedisperseArguments){ .before = at, .steps = steps, .end = ends, .full = 1 };
    at = ends ? 0 : at + steps;
    blocks[i].in = NULL;
    if (lossy && g_rand_int_range(rand, 0, 4) == 0) {
      blocks[i].arguments.trail = ends ? steps : 0;
      continue;
    }
    blocks[i].in =
        random_samples(rand, from, steps * stations * pols * channels, lossy && number % 3);
    if (lossy && g_rand_boolean(rand)) {
      guint32 *weights = g_new(guint32, steps * channels * stations);
      for (gsize k = 0; k < steps * channels * stations; k++)
        weights[k] = g_rand_int_range(rand, 0, 50) != 0;
      blocks[i].arguments.weights = weights;
      blocks[i].arguments.weight_time = channels * stations;
      blocks[i].arguments.weight_channel = stations;
      blocks[i].arguments.weight_station = 1;
    }
  }
  Output expected = run(&astro_dedisperse_reference, 1, &config, blocks, G_N_ELEMENTS(blocks));
  for (guint threads = 1; threads <= 3; threads += 2) {
    Output found = run(&astro_dedisperse_cpu, threads, &config, blocks, G_N_ELEMENTS(blocks));
    g_assert_cmpuint(found.n, ==, expected.n);
    for (gsize i = 0; i < found.n * stations * pols * channels; i++)
      g_assert_cmpfloat_with_epsilon(cabsf(found.values[i] - expected.values[i]), 0,
                                     1e-5 * scale_of(from));
    for (gsize i = 0; lossy && i < found.n * stations * channels; i++)
      g_assert_cmpuint(found.counts[i], ==, expected.counts[i]);
    free_output(&found);
  }
  free_output(&expected);
  for (guint i = 0; i < G_N_ELEMENTS(blocks); i++) {
    g_free((gpointer)blocks[i].arguments.weights);
    if (blocks[i].in)
      test_free(blocks[i].in);
  }
}

static void test_variants(void)
{
  for (guint number = 0; number < 30; number += TEST_STEP)
    run_case(number);
}

static void test_refused(void)
{
  static const double dms[] = { 1, 2 }, large = 1e5;
  const AstroDedisperseConfig good = config_of("time:channel", ASTRO_FORMAT_CI8, 1, 1, 4, dms);
  AstroDedisperseConfig bad[6];
  static const char *const says[] = {
    "expected one for voltages", "astrochannelizer", "rate", "bandwidth", "above 0", "smears"
  };
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++)
    bad[i] = good;
  bad[0].n_dms = 2;
  bad[1].from = ASTRO_FORMAT_F32LE;
  bad[2].rate = 0;
  bad[3].bandwidth = 0;
  bad[4].frequency = 1e4;
  bad[5].dms = &large;
  bad[5].rate = 1e8;
  bad[5].bandwidth = 2e8;
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_false(astro_dedisperse_cpu.shape(&bad[i], &error));
    g_assert_nonnull(error);
    g_test_message("%s", error->message);
    g_assert_nonnull(strstr(error->message, says[i]));
  }
}

static void add_tests(void)
{
  g_test_add_func("/coherent/impulse", test_impulse);
  g_test_add_func("/coherent/variants", test_variants);
  g_test_add_func("/coherent/refused", test_refused);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
