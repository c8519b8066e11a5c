#include "core/fold/fold.h"
#include "tests/tests.h"

#include <math.h>

static AstroFoldConfig make_config(const char *layout, guint stations, guint pols, guint channels,
                                   guint bins)
{
  AstroFoldConfig config = {
    .stations = stations, .pols = pols, .channels = channels, .bins = bins
  };
  g_autoptr(GError) error = NULL;
  astro_layout_parse(&config.layout, layout, ASTRO_QUANTITY_POWER, &error);
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

static gsize step_values(const AstroFoldConfig *config)
{
  return (gsize)config->stations * config->pols * config->channels;
}

/* Profiles of a stream that is cut into blocks; room is checked, and is garbage at first. */
typedef struct {
  float *values;
  guint32 *counts;
  gsize n, n_counts;
} Output;

static void free_output(Output *output)
{
  test_free(output->values);
  test_free(output->counts);
}

/* Blocks end at `cuts`, which end with 0; sub-integrations every `length` steps and at the end. */
static Output run(const AstroBackend *backend, const char *cpu, guint threads,
                  const AstroFoldConfig *config, const float *in, guint64 steps, guint64 length,
                  const AstroFoldArguments *arguments, const guint64 *cuts)
{
  const AstroPlace place = { .threads = threads };
  const gsize bytes = astro_fold_output_bytes(config), counts = astro_fold_counts(config),
              n = (steps + length - 1) / length;
  const char *variant = NULL;
  g_autoptr(GError) error = NULL;
  Output output = { test_alloc(n * bytes), test_alloc(n * counts * sizeof(guint32)),
                    n * bytes / sizeof(float), n * counts };
  if (cpu)
    g_setenv("ASTRO_CPU", cpu, TRUE);
  gpointer instance = backend->create(config, &place, &variant, &error);
  g_assert_no_error(error);
  guint64 number = 0;
  for (guint64 at = 0; at < steps; cuts++) {
    const guint64 end = *cuts ? *cuts : steps;
    for (guint64 from = at, to; from < end; from = to) {
      to = MIN(end, (number + 1) * length);
      AstroFoldArguments part = *arguments;
      part.steps = end - at;
      part.from = from - at;
      part.to = to - at;
      part.phases += at;
      part.begin = from == 0;
      part.valid = part.valid ? part.valid + at * part.valid_time : NULL;
      part.end = to == steps || to % length == 0;
      const AstroBlock block = { (gpointer)(in + at * step_values(config)),
                                 part.steps * step_values(config) * sizeof(float) },
                       out = { (guint8 *)output.values + number * bytes, bytes };
      AstroResult result = { .counts = output.counts + number * counts };
      backend->submit(instance, &block, 1, &out, part.end, &part, &result, &error);
      g_assert_no_error(error);
      number += part.end;
    }
    at = end;
  }
  backend->destroy(instance);
  g_unsetenv("ASTRO_CPU");
  return output;
}

/* Three channels that lag by none, one and two of four bins; by hand. */
static void test_by_hand(void)
{
  const AstroFoldConfig config = make_config("time:channel", 1, 1, 3, 4);
  const guint32 quarter = 1u << 30, phases[] = { 0, quarter, quarter + 5, 2 * quarter - 1, 0 - 1u },
                lags[] = { 0, quarter, 2 * quarter };
  const float in[] = { 1, 10, 100, 2, 20, 200, 3, 30, 300, 4, 40, 400, 5, 50, 500 };
  static const float expected[] = { 1, 3, 0, 5, 30, 0, 50, 10, 0, 500, 100, 300 };
  static const guint32 counts[] = { 1, 3, 0, 1, 3, 0, 1, 1, 0, 1, 1, 3 };
  const AstroFoldArguments arguments = { .phases = phases, .lags = lags };
  static const guint64 whole[] = { 0 };
  for (guint b = 0; astro_fold_backends[b]; b++) {
    Output output = run(astro_fold_backends[b], NULL, 1, &config, in, 5, 100, &arguments, whole);
    for (guint i = 0; i < 12; i++) {
      g_assert_cmpfloat(output.values[i], ==, expected[i]);
      g_assert_cmpuint(output.counts[i], ==, counts[i]);
    }
    free_output(&output);
  }
}

/* ---- variants ---- */

typedef struct {
  AstroFoldConfig config;
  guint64 steps, length;
  float *in;
  guint32 *phases, *lags;
  guint8 *valid;
  AstroFoldArguments arguments;
} Case;

enum { VALID_NONE, VALID_ALL_AXES, VALID_TIME };

/* advance: turns a step. */
static Case make_case(AstroFoldConfig config, guint64 steps, guint64 length, double advance,
                      guint valid)
{
  Case c = { .config = config, .steps = steps, .length = length };
  const gsize n = steps * step_values(&config);
  c.in = g_new(float, n);
  c.phases = g_new(guint32, steps);
  c.lags = g_new(guint32, config.channels);
  for (gsize i = 0; i < n; i++)
    c.in[i] = (float)g_random_double_range(-1e3, 1e6);
  for (guint64 t = 0; t < steps; t++)
    c.phases[t] = astro_fold_phase(0.3 + (double)t * advance);
  for (guint i = 0; i < config.channels; i++)
    c.lags[i] = i % 5 ? g_random_int() : 0;
  c.arguments = (AstroFoldArguments){ .phases = c.phases, .lags = c.lags };
  if (valid == VALID_NONE)
    return c;
  const gsize per_step = valid == VALID_TIME ? 1 : (gsize)config.stations * config.channels;
  c.valid = g_new(guint8, steps * per_step);
  for (gsize i = 0; i < steps * per_step; i++)
    c.valid[i] = g_random_int_range(0, 4) > 0;
  c.arguments.valid = c.valid;
  c.arguments.valid_time = per_step;
  c.arguments.valid_channel = valid == VALID_TIME ? 0 : config.stations;
  c.arguments.valid_station = valid == VALID_TIME ? 0 : 1;
  return c;
}

static void clear_case(Case *c)
{
  g_free(c->in);
  g_free(c->phases);
  g_free(c->lags);
  g_free(c->valid);
}

/* Means of the same numbers, added in another order: a rounding error of the double sum. */
static void check_same(const Output *found, const Output *expected)
{
  g_assert_cmpuint(found->n, ==, expected->n);
  g_assert_cmpmem(found->counts, found->n_counts * sizeof(guint32), expected->counts,
                  expected->n_counts * sizeof(guint32));
  for (gsize i = 0; i < found->n; i++)
    if (!(isnan(found->values[i]) && isnan(expected->values[i])) &&
        found->values[i] != expected->values[i])
      g_assert_cmpfloat(fabsf(found->values[i] - expected->values[i]), <,
                        1e-6 * fabs((double)expected->values[i]) + 1e-6);
}

static void check_case(const Case *c)
{
  static const guint64 whole[] = { 0 };
  const guint64 cuts[] = { 1, c->steps / 3 + 1, c->steps / 2 + 1, 0 };
  static const char *const cpus[] = { "c", "avx2", "avx512" };
  Output expected = run(&astro_fold_reference, NULL, 1, &c->config, c->in, c->steps, c->length,
                        &c->arguments, whole);
  for (guint i = 0; i < G_N_ELEMENTS(cpus); i++) {
    for (guint threads = 1; threads <= 2; threads++) {
      Output found = run(&astro_fold_cpu, cpus[i], threads, &c->config, c->in, c->steps, c->length,
                         &c->arguments, threads == 1 ? whole : cuts);
      check_same(&found, &expected);
      free_output(&found);
    }
  }
  free_output(&expected);
}

static const struct {
  const char *layout;
  guint stations, pols, channels, bins;
  guint64 steps, length;
  double advance;
  guint valid;
} cases[] = {
  { "time:station:pol:channel", 1, 1, 64, 16, 100, 40, 0.013, VALID_NONE },
  { "time:station:pol:channel", 1, 2, 67, 64, 200, 300, 0.0021, VALID_NONE },
  { "time:beam:pol:channel", 3, 4, 33, 128, 97, 33, 0.37, VALID_ALL_AXES },
  { "time:pol:channel", 1, 1, 700, 7, 130, 64, 1.0 / 3, VALID_TIME },
  { "channel:station:time:pol", 2, 2, 5, 2, 60, 60, 0.49, VALID_ALL_AXES },
  { "time:channel", 1, 1, 1, 1000, 500, 500, 0.00011, VALID_NONE },
  { "station:pol:channel:time", 17, 1, 257, 3, 20, 20, 0.05, VALID_NONE },
};

static void test_variants(void)
{
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    AstroFoldConfig config = make_config(cases[i].layout, cases[i].stations, cases[i].pols,
                                         cases[i].channels, cases[i].bins);
    const gboolean one_block = config.layout.axes[0] != ASTRO_AXIS_TIME;
    Case c = make_case(config, cases[i].steps, cases[i].length, cases[i].advance, cases[i].valid);
    if (!one_block)
      check_case(&c);
    else {
      static const guint64 whole[] = { 0 };
      Output expected = run(&astro_fold_reference, NULL, 1, &c.config, c.in, c.steps, c.length,
                            &c.arguments, whole);
      Output found =
          run(&astro_fold_cpu, NULL, 2, &c.config, c.in, c.steps, c.length, &c.arguments, whole);
      check_same(&found, &expected);
      free_output(&found);
      free_output(&expected);
    }
    clear_case(&c);
  }
}

/* A NaN makes the mean of its bin NaN, and no other; one that is not valid does nothing. */
static void test_nan(void)
{
  Case c = make_case(make_config("time:channel", 1, 1, 20, 4), 64, 64, 0.03, VALID_ALL_AXES);
  guint first = 0;
  while (!c.valid[first * 20 + 3])
    first++;
  c.in[first * 20 + 3] = NAN;
  c.valid[40 * 20 + 7] = 0;
  c.in[40 * 20 + 7] = NAN;
  check_case(&c);
  static const guint64 whole[] = { 0 };
  Output output =
      run(&astro_fold_cpu, NULL, 1, &c.config, c.in, c.steps, c.length, &c.arguments, whole);
  guint nans = 0;
  for (gsize i = 0; i < output.n; i++)
    nans += isnan(output.values[i]) != 0;
  g_assert_cmpuint(nans, ==, 1);
  free_output(&output);
  clear_case(&c);
}

static void check_shape(const AstroFoldConfig *config, const char *word)
{
  g_autoptr(GError) error = NULL;
  g_assert_false(astro_fold_cpu.shape(config, &error));
  g_assert_nonnull(strstr(error->message, word));
}

static void test_refused(void)
{
  AstroFoldConfig config = make_config("time:channel", 1, 1, 20, 4);
  config.bins = 1;
  check_shape(&config, "1 bins");
  config.bins = ASTRO_FOLD_MOST_BINS + 1;
  check_shape(&config, "65537 bins");
  config.bins = 4;
  config.pols = 2;
  check_shape(&config, "no axis pol");
  config = make_config("time:channel", 1, 1, 20, 4);
  config.channels = 19;
  check_shape(&config, "axis channel");
  config = make_config("time:channel", 1, 1, 20, 4);
  config.layout.axes[1] = ASTRO_AXIS_BIN;
  config.channels = 1;
  check_shape(&config, "layout time:bin");
}

static void test_phases(void)
{
  g_assert_cmpuint(astro_fold_phase(0.25), ==, 1u << 30);
  g_assert_cmpuint(astro_fold_phase(-0.25), ==, 3u << 30);
  g_assert_cmpuint(astro_fold_phase(1e9 + 0.5), ==, 1u << 31);
  g_assert_cmpuint(astro_fold_phase(-1e-300), ==, 0);
}

static void add_tests(void)
{
  g_test_add_func("/fold/by-hand", test_by_hand);
  g_test_add_func("/fold/variants", test_variants);
  g_test_add_func("/fold/nan", test_nan);
  g_test_add_func("/fold/refused", test_refused);
  g_test_add_func("/fold/phases", test_phases);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
