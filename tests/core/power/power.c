/* Power by hand: products of a few samples, integrations, losses, and long sums. */
#include "tests/core/power/power.h"

static const AstroBackend *const backends[] = { &astro_power_reference, &astro_power_cpu };

/* x = 3 + 4i and y = 1 - 2i: |x|^2 = 25, |y|^2 = 5, x conj(y) = (3 + 4i)(1 + 2i) = -5 + 10i. */
static void test_products(void)
{
  static const struct {
    const char *products;
    gboolean is_circular;
    float expected[8];
  } cases[] = {
    { "I", FALSE, { 15 } },
    { "I", TRUE, { 15 } },
    { "XX:YY", FALSE, { 25, 5 } },
    { "XX:YY:XY-RE:XY-IM", FALSE, { 25, 5, -5, 10 } },
    { "RR:LL:RL-RE:RL-IM", TRUE, { 25, 5, -5, 10 } },
    /* XY = U + iV */
    { "I:Q:U:V", FALSE, { 15, 10, -5, 10 } },
    /* RL = Q + iU */
    { "I:Q:U:V", TRUE, { 15, -5, 10, 10 } },
    { "V:I", TRUE, { 10, 15 } },
    { "YY", FALSE, { 5 } },
    { "I:I-SQUARE", FALSE, { 15, 225 } },
    { "XX:YY:XX-SQUARE:YY-SQUARE", FALSE, { 25, 5, 625, 25 } },
    { "I:Q:U:V:I-SQUARE:Q-SQUARE:U-SQUARE:V-SQUARE", FALSE, { 15, 10, -5, 10, 225, 100, 25, 100 } },
    { "I:Q:U:V:I-SQUARE:Q-SQUARE:U-SQUARE:V-SQUARE", TRUE, { 15, -5, 10, 10, 225, 25, 100, 100 } },
  };
  gint8 in[4] = { 3, 4, 1, -2 };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
      const AstroPowerConfig config =
          test_power_config("time:pol", ASTRO_FORMAT_CI8, 1, 2, 1, cases[i].products);
      const TestPowerBlock block = {
        in, { .steps = 1, .integration = 1, .is_circular = cases[i].is_circular }
      };
      TestPowerOutput output = test_power_run(backends[b], NULL, 1, &config, &block, 1);
      g_assert_cmpuint(output.n, ==, config.products.n);
      for (guint p = 0; p < config.products.n; p++)
        g_assert_cmpfloat(output.values[p], ==, cases[i].expected[p]);
      g_assert_cmpuint(output.counts[0], ==, 1);
      test_power_free(&output);
    }
}

/* With one polarisation, I is its power. */
static void test_one_polarisation(void)
{
  gint8 in[2] = { 3, 4 };
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    const AstroPowerConfig config =
        test_power_config("time:channel", ASTRO_FORMAT_CI8, 1, 1, 1, "I:I-SQUARE");
    const TestPowerBlock block = { in, { .steps = 1, .integration = 1 } };
    TestPowerOutput output = test_power_run(backends[b], NULL, 1, &config, &block, 1);
    g_assert_cmpfloat(output.values[0], ==, 25);
    g_assert_cmpfloat(output.values[1], ==, 625);
    test_power_free(&output);
  }
}

/* Five samples in integrations of two, of which the first begins before the block and the last is
 * cut off: 1 | 4 9 | 16 25, where the second is lost. */
static void test_integrations(void)
{
  gint8 in[10] = { 1, 0, 2, 0, 3, 0, 4, 0, 5, 0 };
  const guint8 valid[5] = { 1, 0, 1, 1, 1 };
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    const AstroPowerConfig config =
        test_power_config("time:channel", ASTRO_FORMAT_CI8, 1, 1, 1, "I");
    const TestPowerBlock blocks[] = {
      { in, { .steps = 5, .integration = 2, .phase = 1, .valid = valid, .valid_time = 1 } },
      { in, { .steps = 1, .integration = 2, .phase = 0 } },
      { NULL, { .steps = 0, .integration = 2, .phase = 1, .end = TRUE } },
      /* Lost steps: what is left of one integration, a whole one, and part of another. */
      { in, { .steps = 1, .integration = 2, .phase = 0 } },
      { NULL, { .steps = 4, .integration = 2, .phase = 1, .end = TRUE } },
    };
    TestPowerOutput output =
        test_power_run(backends[b], NULL, 1, &config, blocks, G_N_ELEMENTS(blocks));
    const float values[] = { 1, 9, 20.5, 1, 1, 0, 0 };
    const guint32 counts[] = { 1, 1, 2, 1, 1, 0, 0 };
    g_assert_cmpuint(output.n, ==, G_N_ELEMENTS(values));
    for (guint i = 0; i < output.n; i++) {
      g_assert_cmpfloat(output.values[i], ==, values[i]);
      g_assert_cmpuint(output.counts[i], ==, counts[i]);
    }
    test_power_free(&output);
  }
}

/* Stations and channels are averaged by their good samples, and a sample that is lost does not
 * count, even if it is NaN. */
static void test_sums(void)
{
  float in[2][4][2] = { { { 1, 0 }, { 2, 0 }, { 3, 0 }, { 4, 0 } },
                        { { 5, 0 }, { 6, 0 }, { 7, 0 }, { NAN, NAN } } };
  const guint8 valid[2][4] = { { 1, 1, 1, 1 }, { 1, 1, 1, 0 } };
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    AstroPowerConfig config =
        test_power_config("time:station:channel", ASTRO_FORMAT_CF32LE, 2, 1, 4, "I");
    const TestPowerBlock block = {
      in,
      { .steps = 1, .integration = 1, .valid = valid[0], .valid_station = 4, .valid_channel = 1 }
    };
    config.channel_step = 2;
    config.sum_stations = TRUE;
    TestPowerOutput output = test_power_run(backends[b], NULL, 1, &config, &block, 1);
    g_assert_cmpuint(output.n, ==, 2);
    g_assert_cmpfloat(output.values[0], ==, (1 + 4 + 25 + 36) / 4.0f);
    g_assert_cmpfloat(output.values[1], ==, (float)((9 + 16 + 49) / 3.0));
    g_assert_cmpuint(output.counts[0], ==, 4);
    g_assert_cmpuint(output.counts[1], ==, 3);
    test_power_free(&output);
  }
}

/* A long integration keeps what is small: after one sample of power 2^46, a quarter of a million of
 * power 1 would each be lost in single precision. */
static void test_long(void)
{
  const guint n = 1 << 18;
  float *in = test_alloc(2 * n * sizeof *in);
  for (guint i = 0; i < n; i++) {
    in[2 * i] = i ? 1 : 0x1p23f;
    in[2 * i + 1] = 0;
  }
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    const AstroPowerConfig config =
        test_power_config("time:channel", ASTRO_FORMAT_CF32LE, 1, 1, 1, "I");
    const TestPowerBlock block = { in, { .steps = n, .integration = n } };
    TestPowerOutput output = test_power_run(backends[b], NULL, 1, &config, &block, 1);
    g_assert_cmpfloat(output.values[0], ==, (float)((0x1p46 + n - 1) / n));
    test_power_free(&output);
  }
  test_free(in);
}

static void test_refused(void)
{
  AstroPowerConfig configs[7];
  static const char *const says[] = { "needs two polarisations",    "3 polarisations",
                                      "does not divide 4",          "format CI32LE",
                                      "has no axis station",        "extent 4, expected 5",
                                      "expected axes time, channel" };
  for (guint i = 0; i < G_N_ELEMENTS(configs); i++)
    configs[i] = test_power_config("time:channel", ASTRO_FORMAT_CI8, 1, 1, 4, "I");
  astro_power_products_parse(&configs[0].products, "I:Q", NULL);
  configs[1].pols = 3;
  configs[2].channel_step = 3;
  configs[3].from = ASTRO_FORMAT_CI32LE;
  configs[4].stations = 2;
  configs[5].channels = 5;
  configs[6] = test_power_config("time:channel:baseline", ASTRO_FORMAT_CI8, 1, 1, 4, "I");
  for (guint i = 0; i < G_N_ELEMENTS(configs); i++)
    for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
      const AstroPlace place = { 0 };
      g_autoptr(GError) error = NULL;
      g_assert_null(backends[b]->create(&configs[i], &place, NULL, &error));
      g_assert_nonnull(error);
      test_says(error->message, says[i]);
    }
}

static void add_tests(void)
{
  g_test_add_func("/power/products", test_products);
  g_test_add_func("/power/one-polarisation", test_one_polarisation);
  g_test_add_func("/power/integrations", test_integrations);
  g_test_add_func("/power/sums", test_sums);
  g_test_add_func("/power/long", test_long);
  g_test_add_func("/power/refused", test_refused);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
