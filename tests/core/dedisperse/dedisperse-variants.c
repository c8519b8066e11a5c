/* Dedispersion: every variant of the cpu backend against the reference, with any layout, trials and
 * cuts, on random, missing and extreme power. */
#include "tests/core/dedisperse/dedisperse.h"

static const char *const levels[] = { "c", "avx2", "avx512" };

/* A layout with the axes in any order, where one of length 1 may be missing. */
static char *random_layout(GRand *rand, guint stations, guint pols, guint channels)
{
  const char *axes[4] = { "time", NULL, NULL, NULL };
  guint n = 1;
  if (stations > 1 || g_rand_boolean(rand))
    axes[n++] = g_rand_int_range(rand, 0, 4) ? "station" : "beam";
  if (pols > 1 || g_rand_boolean(rand))
    axes[n++] = "pol";
  if (channels > 1 || g_rand_boolean(rand))
    axes[n++] = "channel";
  GString *text = g_string_new(NULL);
  for (; n > 0; n--) {
    const guint pick = (guint)g_rand_int_range(rand, 0, (gint)n);
    g_string_append_printf(text, "%s%s", text->len ? ":" : "", axes[pick]);
    axes[pick] = axes[n - 1];
  }
  return g_string_free(text, FALSE);
}

/* Trials as they come in a search, few or many, near or far apart. */
static double *random_dms(GRand *rand, guint n)
{
  double *dms = g_new(double, n);
  const double step = exp(g_rand_double_range(rand, -4, 4)) / n;
  const gboolean even = g_rand_boolean(rand);
  double dm = g_rand_boolean(rand) ? 0 : g_rand_double_range(rand, 0, 50);
  for (guint i = 0; i < n; i++) {
    dms[i] = dm;
    dm += 20 * step * (even ? 1 : g_rand_double_range(rand, 0.01, 2));
  }
  return dms;
}

/* Whole numbers are added without rounding, and divided once; other sums are rounded in another
 * order. */
static void check_equal(const TestDedisperseOutput *a, const TestDedisperseOutput *b,
                        gboolean is_exact)
{
  g_assert_cmpmem(a->counts, a->n_counts * sizeof *a->counts, b->counts,
                  b->n_counts * sizeof *b->counts);
  if (is_exact) {
    g_assert_cmpmem(a->values, a->n * sizeof *a->values, b->values, b->n * sizeof *b->values);
    return;
  }
  for (gsize i = 0; i < a->n; i++)
    if (isnan(a->values[i]))
      g_assert_true(isnan(b->values[i]));
    else
      g_assert_cmpfloat_with_epsilon(a->values[i], b->values[i], 2e-6f);
}

#define BLOCKS 5

static void add_weights(GRand *rand, const AstroDedisperseConfig *config,
                        AstroDedisperseArguments *arguments, guint cut)
{
  const gboolean by_channel = g_rand_boolean(rand), by_station = g_rand_boolean(rand);
  arguments->weight_station = by_station;
  arguments->weight_channel = by_channel ? (by_station ? config->stations : 1) : 0;
  arguments->weight_time =
      (by_station ? config->stations : 1) * (by_channel ? config->channels : 1);
  const gsize n = arguments->steps * arguments->weight_time;
  guint32 *weights = g_new(guint32, n);
  for (gsize k = 0; k < n; k++)
    weights[k] = g_rand_int_range(rand, 0, 4) ? arguments->full
                 : cut                        ? (guint32)g_rand_int_range(rand, 0, 8)
                                              : 0;
  arguments->weights = weights;
}

static void run_case(guint number)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed(number);
  const guint pols = (guint)g_rand_int_range(rand, 1, 4),
              stations = (guint)g_rand_int_range(rand, 1, 4);
  const guint channels = number % 5 == 0 ? 100 : (guint)g_rand_int_range(rand, 1, 20);
  const guint n_dms =
      number % 3 == 0 ? (guint)g_rand_int_range(rand, 30, 90) : (guint)g_rand_int_range(rand, 1, 6);
  const gboolean has_nan = number % 4 == 1, is_whole = number % 4 == 2, cut = g_rand_boolean(rand);
  g_autofree double *dms = random_dms(rand, n_dms);
  g_autofree char *layout = random_layout(rand, stations, pols, channels);
  const AstroDedisperseConfig config =
      test_dedisperse_config(layout, stations, pols, channels, dms, n_dms);
  const gsize values = (gsize)stations * pols * channels;
  const gboolean lossy = g_rand_boolean(rand);
  TestDedisperseBlock blocks[BLOCKS];
  guint64 at = 0;
  for (guint i = 0; i < BLOCKS; i++) {
    /* A second stretch begins in the middle now and then. */
    const gboolean ends = i == BLOCKS - 1 || (i == 2 && number % 7 == 0);
    const guint64 steps = (guint64)g_rand_int_range(rand, 1, number % 6 == 0 ? 400 : 60);
    blocks[i].arguments =
        (AstroDedisperseArguments){ .before = at, .steps = steps, .end = ends, .full = 8 };
    at = ends ? 0 : at + steps;
    blocks[i].in = NULL;
    if (lossy && g_rand_int_range(rand, 0, 5) == 0) {
      blocks[i].arguments.trail = ends ? MIN(steps, astro_dedisperse_reach(&config)) : 0;
      continue;
    }
    blocks[i].in = test_alloc(steps * values * sizeof(float));
    for (gsize k = 0; k < steps * values; k++)
      blocks[i].in[k] = has_nan && g_rand_int_range(rand, 0, 500) == 0 ? NAN
                        : is_whole ? (float)g_rand_int_range(rand, 0, 1000)
                                   : (float)g_rand_double(rand);
    if (lossy && g_rand_boolean(rand))
      add_weights(rand, &config, &blocks[i].arguments, cut && !is_whole);
  }
  g_test_message("%u: %s, %u stations, %u pols, %u channels, %u trials to %g", number, layout,
                 stations, pols, channels, n_dms, dms[n_dms - 1]);
  TestDedisperseOutput expected =
      test_dedisperse_run(&astro_dedisperse_reference, NULL, 1, &config, blocks, BLOCKS);
  for (guint l = 0; l < G_N_ELEMENTS(levels); l++)
    for (guint threads = 1; threads <= 3; threads += 2) {
      TestDedisperseOutput found =
          test_dedisperse_run(&astro_dedisperse_cpu, levels[l], threads, &config, blocks, BLOCKS);
      check_equal(&expected, &found, is_whole);
      test_dedisperse_free(&found);
    }
  test_dedisperse_free(&expected);
  for (guint i = 0; i < BLOCKS; i++) {
    g_free((gpointer)blocks[i].arguments.weights);
    if (blocks[i].in)
      test_free(blocks[i].in);
  }
}

static void test_variants(void)
{
  for (guint number = 0; number < 100; number += TEST_STEP)
    run_case(number);
}

/* Many blocks, longer than what is taken in at once and what is kept, give what one does. */
static void test_long(void)
{
  enum { CHANNELS = 8, STEPS = 40000 };
  const double dms[] = { 0, 2000, 2003 };
  const AstroDedisperseConfig config =
      test_dedisperse_config("time:channel", 1, 1, CHANNELS, dms, 3);
  g_autoptr(GRand) rand = g_rand_new_with_seed(3);
  float *in = test_alloc((gsize)STEPS * CHANNELS * sizeof *in);
  for (gsize i = 0; i < (gsize)STEPS * CHANNELS; i++)
    in[i] = (float)g_rand_double(rand);
  const TestDedisperseBlock whole = { in, { .steps = STEPS, .end = TRUE, .full = 1 } };
  TestDedisperseOutput expected =
      test_dedisperse_run(&astro_dedisperse_cpu, NULL, 2, &config, &whole, 1);
  g_autoptr(GArray) blocks = g_array_new(FALSE, FALSE, sizeof(TestDedisperseBlock));
  for (guint64 at = 0; at < STEPS;) {
    const guint64 steps = MIN((guint64)g_rand_int_range(rand, 1, 5000), STEPS - at);
    const TestDedisperseBlock block = {
      in + at * CHANNELS, { .before = at, .steps = steps, .end = at + steps == STEPS, .full = 1 }
    };
    g_array_append_val(blocks, block);
    at += steps;
  }
  TestDedisperseOutput found =
      test_dedisperse_run(&astro_dedisperse_cpu, NULL, 1, &config,
                          (const TestDedisperseBlock *)(gconstpointer)blocks->data, blocks->len);
  check_equal(&expected, &found, TRUE);
  g_assert_cmpuint(found.n, ==, 3 * STEPS);
  test_dedisperse_free(&expected);
  test_dedisperse_free(&found);
  test_free(in);
}

static void add_tests(void)
{
  g_test_add_func("/dedisperse/variants", test_variants);
  g_test_add_func("/dedisperse/long", test_long);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
