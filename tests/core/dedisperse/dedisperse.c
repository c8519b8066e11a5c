/* Dedispersion: delays, what counts, and what is refused. */
#include "tests/core/dedisperse/dedisperse.h"

static const AstroBackend *const backends[] = { &astro_dedisperse_cpu,
                                                &astro_dedisperse_reference };

/* The delays that the law gives, K = 4.148808e3 s MHz^2, against the highest channel; none is off
 * by more than half a step. */
static void test_delays(void)
{
  const double dms[] = { 0, 1, 56.7, 500 };
  const AstroDedisperseConfig config =
      test_dedisperse_config("time:channel", 1, 1, 64, dms, G_N_ELEMENTS(dms));
  g_autofree guint32 *delays = astro_dedisperse_delays(&config);
  const double top = 1600 - 400.0 / 128;
  g_assert_cmpfloat(astro_dedisperse_top(&config), ==, top * 1e6);
  for (guint d = 0; d < G_N_ELEMENTS(dms); d++)
    for (guint c = 0; c < 64; c++) {
      const double f = 1200 + 400 * (c + 0.5) / 64;
      const double exact = 1000 * 4.148808e3 * dms[d] * (1 / (f * f) - 1 / (top * top));
      g_assert_cmpfloat_with_epsilon(delays[d * 64 + c], exact, 0.5 + 1e-9);
    }
  g_assert_cmpuint(astro_dedisperse_reach(&config), ==, delays[3 * 64]);
  g_assert_cmpuint(delays[3 * 64 + 63], ==, 0);
}

/* How many steps come out, with a reach of 10. */
static void test_ready(void)
{
  static const struct {
    guint64 before, steps;
    gboolean end;
    guint64 ready;
  } cases[] = { { 0, 10, FALSE, 0 },  { 0, 11, FALSE, 1 }, { 0, 10, TRUE, 10 },
                { 10, 5, FALSE, 5 },  { 8, 5, FALSE, 3 },  { 100, 0, FALSE, 0 },
                { 100, 0, TRUE, 10 }, { 5, 0, TRUE, 5 },   { 100, 7, TRUE, 17 } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const AstroDedisperseArguments arguments = { cases[i].before, cases[i].steps, cases[i].end };
    g_assert_cmpuint(astro_dedisperse_ready(10, &arguments), ==, cases[i].ready);
  }
}

/* A pulse that comes to each channel when the law says is in one step of its trial, with all of
 * its power, and spread in the others; what is beside the band's samples is lost, and no zero. */
static void test_pulse(void)
{
  enum { CHANNELS = 32, STEPS = 900, AT = 100 };
  const double dms[] = { 100, 300, 301 };
  const AstroDedisperseConfig config =
      test_dedisperse_config("time:channel", 1, 1, CHANNELS, dms, G_N_ELEMENTS(dms));
  g_autofree guint32 *delays = astro_dedisperse_delays(&config);
  float *in = test_alloc(STEPS * CHANNELS * sizeof *in);
  for (guint i = 0; i < STEPS * CHANNELS; i++)
    in[i] = 1;
  for (guint c = 0; c < CHANNELS; c++)
    in[(AT + delays[CHANNELS + c]) * CHANNELS + c] = 9;
  const TestDedisperseBlock block = { in, { .steps = STEPS, .end = TRUE, .full = 4 } };
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    TestDedisperseOutput out = test_dedisperse_run(backends[b], NULL, 1, &config, &block, 1);
    g_assert_cmpuint(out.n, ==, STEPS * G_N_ELEMENTS(dms));
    g_assert_cmpfloat(out.values[AT * 3 + 1], ==, 9);
    for (guint t = 0; t < STEPS; t++)
      for (guint d = 0; d < 3; d++) {
        guint there = 0;
        for (guint c = 0; c < CHANNELS; c++)
          there += t + delays[d * CHANNELS + c] < STEPS;
        g_assert_cmpuint(out.counts[t * 3 + d], ==, 4 * there);
        if (t != AT || d != 1)
          g_assert_cmpfloat(out.values[t * 3 + d], <, 9);
        g_assert_cmpfloat(out.values[t * 3 + d], >=, 1 - 1e-6);
      }
    test_dedisperse_free(&out);
  }
  test_free(in);
}

/* The mean weighs with the good samples; a value without one counts in nothing, NaN or not. */
static void test_weights(void)
{
  const double dms[] = { 0 };
  const AstroDedisperseConfig config = test_dedisperse_config("time:channel", 1, 1, 3, dms, 1);
  float in[] = { 10, 20, NAN, 1, NAN, 2, NAN, NAN, NAN };
  const guint32 weights[] = { 3, 1, 0, 8, 8, 8, 0, 0, 0 };
  const TestDedisperseBlock block = { in,
                                      { .steps = 3,
                                        .end = TRUE,
                                        .full = 8,
                                        .weights = weights,
                                        .weight_time = 3,
                                        .weight_channel = 1 } };
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    TestDedisperseOutput out = test_dedisperse_run(backends[b], NULL, 1, &config, &block, 1);
    g_assert_cmpfloat_with_epsilon(out.values[0], 12.5, 1e-5);
    g_assert_cmpuint(out.counts[0], ==, 4);
    g_assert_true(isnan(out.values[1]));
    g_assert_cmpuint(out.counts[1], ==, 24);
    g_assert_cmpfloat(out.values[2], ==, 0);
    g_assert_cmpuint(out.counts[2], ==, 0);
    test_dedisperse_free(&out);
  }
}

static void test_refused(void)
{
  static const double dms[] = { 10, 20 }, falling[] = { 20, 10 }, large[] = { 1e5 };
  const AstroDedisperseConfig good = test_dedisperse_config("time:channel", 1, 1, 64, dms, 2);
  AstroDedisperseConfig bad[9];
  static const char *const says[] = {
    "rate",    "frequency and the width",
    "above 0", "dispersion measures, expected 1",
    "rising",  "steps",
    "dm",      "axis channel",
    "needs",
  };
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++)
    bad[i] = good;
  bad[0].rate = 0;
  bad[1].bandwidth = 0;
  bad[2].frequency = 1e8;
  bad[3].n_dms = 0;
  bad[4].dms = falling;
  bad[5].dms = large;
  bad[5].n_dms = 1;
  bad[5].rate = 1e9;
  astro_layout_parse(&bad[6].layout, "time:dm:channel", ASTRO_QUANTITY_POWER, NULL);
  bad[6].layout.extents[1] = 2;
  bad[6].layout.extents[2] = 64;
  bad[7].channels = 65;
  bad[8] = test_dedisperse_config("time:channel", 1, 1, 1000000, large, 1);
  bad[8].rate = 1e6;
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++)
    for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
      g_autoptr(GError) error = NULL;
      g_assert_false(backends[b]->shape(&bad[i], &error));
      g_assert_nonnull(error);
      g_test_message("%s", error->message);
      g_assert_nonnull(strstr(error->message, says[i]));
    }
}

static void add_tests(void)
{
  g_test_add_func("/dedisperse/delays", test_delays);
  g_test_add_func("/dedisperse/ready", test_ready);
  g_test_add_func("/dedisperse/pulse", test_pulse);
  g_test_add_func("/dedisperse/weights", test_weights);
  g_test_add_func("/dedisperse/refused", test_refused);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
