/* Power: every variant of the cpu, CUDA and OpenCL backends against the reference, with any layout,
 * format, product and cut, on random, extreme and missing samples. */
#include "tests/core/on-device.h"
#include "tests/core/power/power.h"
#include "tests/half.h"

static const char *const levels[] = { "c", "avx2", "avx512" };

static const AstroFormat formats[] = { ASTRO_FORMAT_CI4, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI16LE,
                                       ASTRO_FORMAT_CF16LE, ASTRO_FORMAT_CF32LE };

static const char *const products[2][8] = {
  { "I", "XX", "RR", "I:I-SQUARE", "I", "XX:XX-SQUARE", "I", "I" },
  { "I", "XX:YY", "I:Q:U:V", "XX:YY:XY-RE:XY-IM", "I:I-SQUARE", "XX:YY:XX-SQUARE:YY-SQUARE",
    "I:Q:U:V:I-SQUARE:Q-SQUARE:U-SQUARE:V-SQUARE", "V:YY:RL-IM:V-SQUARE" },
};

/* OpenCL has a program for each number of polarisations and kind of products of a format, which
 * takes long to compile: it gets one for each format. */
static const struct {
  guint pols;
  const char *products;
} few[] = {
  { 2, "I:Q:U:V" }, { 1, "I" }, { 2, "V:YY:RL-IM:V-SQUARE" }, { 2, "XX:YY" }, { 1, "XX:XX-SQUARE" }
};
G_STATIC_ASSERT(G_N_ELEMENTS(few) == G_N_ELEMENTS(formats));
#define FEW_STEP 9 /* and a part of the cases */

static gboolean has_few(const AstroBackend *on_device)
{
  return on_device && on_device->kind == ASTRO_BACKEND_OPENCL;
}

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

/* Now and then a sample is extreme: the most negative integer, or a NaN. */
static gpointer random_samples(const AstroPowerConfig *config, gsize bytes, GRand *rand,
                               gboolean has_nan)
{
  guint8 *in = test_alloc(bytes);
  test_fill(in, bytes, g_rand_int(rand));
  for (gsize i = 0; i + 4 <= bytes; i += 4) {
    const gboolean is_nan = has_nan && g_rand_int_range(rand, 0, 200) == 0;
    if (config->from == ASTRO_FORMAT_CF32LE) {
      *(float *)(gpointer)(in + i) = is_nan ? NAN : (float)g_rand_double_range(rand, -10, 10);
    } else if (config->from == ASTRO_FORMAT_CF16LE) {
      for (guint k = 0; k < 2; k++)
        ((guint16 *)(gpointer)(in + i))[k] =
            is_nan ? 0x7e00 : test_half_bits(g_rand_double_range(rand, -10, 10));
    } else if (g_rand_int_range(rand, 0, 50) == 0) {
      static const guint8 lowest[4] = { 0, 0x80, 0, 0x80 };
      memcpy(in + i,
             config->from == ASTRO_FORMAT_CI16LE ? (gconstpointer)lowest : "\x80\x80\x80\x80", 4);
    }
  }
  return in;
}

/* Integers are equal to the bit, as their sums are exact. Others are rounded once, from sums in
 * double precision in another order; numbers with a sign may cancel, so that the error is a part of
 * what went in. */
static void check_equal(const AstroPowerConfig *config, const TestPowerOutput *a,
                        const TestPowerOutput *b)
{
  g_assert_cmpuint(a->n, ==, b->n);
  g_assert_cmpmem(a->counts, a->n_counts * sizeof *a->counts, b->counts,
                  b->n_counts * sizeof *b->counts);
  if (!astro_format_info(config->from)->is_float) {
    g_assert_cmpmem(a->values, a->n * sizeof *a->values, b->values, b->n * sizeof *b->values);
    return;
  }
  for (gsize i = 0; i < a->n; i++)
    if (isnan(a->values[i]))
      g_assert_true(isnan(b->values[i]));
    else
      g_assert_cmpfloat_with_epsilon(a->values[i], b->values[i],
                                     1.2e-7f * fabsf(a->values[i]) + 1e-11f);
}

#define BLOCKS 5

/* on_device: the backend to compare; NULL: the CPU's, at all levels. */
static void run_case(guint number, const AstroBackend *on_device)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed(number);
  const guint format = number / TEST_STEP % G_N_ELEMENTS(formats);
  const guint drawn = (guint)g_rand_int_range(rand, 1, 3),
              pols = has_few(on_device) ? few[format].pols : drawn;
  const guint step = (guint)g_rand_int_range(rand, 1, 4);
  const guint stations = number % 11 == 0 ? 270 : (guint)g_rand_int_range(rand, 1, 7);
  const guint channels = step * (number % 97 == 0  ? 2100
                                 : number % 7 == 0 ? 180
                                                   : (guint)g_rand_int_range(rand, 1, 20));
  const guint most = stations * channels > 600 ? 8 : number % 5 == 0 ? 700 : 40;
  g_autofree char *layout = random_layout(rand, stations, pols, channels);
  const char *drawn_products = products[pols - 1][g_rand_int_range(rand, 0, 8)];
  AstroPowerConfig config =
      test_power_config(layout, formats[format], stations, pols, channels,
                        has_few(on_device) ? few[format].products : drawn_products);
  config.channel_step = step;
  config.sum_stations = g_rand_boolean(rand);
  const guint64 integration = (guint64)g_rand_int_range(rand, 1, 60);
  const gboolean is_circular = g_rand_boolean(rand), has_nan = g_rand_boolean(rand);
  TestPowerBlock blocks[BLOCKS];
  guint64 at = (guint64)g_rand_int_range(rand, 0, 100);

  for (guint i = 0; i < BLOCKS; i++) {
    const guint64 steps = (guint64)g_rand_int_range(rand, 1, (gint)most);
    blocks[i].arguments =
        (AstroPowerArguments){ .steps = steps,
                               .integration = integration,
                               .phase = at % integration,
                               .begin = i > 0 && g_rand_int_range(rand, 0, 9) == 0,
                               .is_circular = is_circular,
                               .end = i == BLOCKS - 1 };
    at += steps;
    blocks[i].in =
        g_rand_int_range(rand, 0, 6) == 0
            ? NULL
            : random_samples(&config, steps * test_power_step_bytes(&config), rand, has_nan);
    if (g_rand_boolean(rand))
      continue;
    AstroPowerArguments *arguments = &blocks[i].arguments;
    const gboolean by_channel = g_rand_boolean(rand), by_station = g_rand_boolean(rand);
    arguments->valid_station = by_station;
    arguments->valid_channel = by_channel ? (by_station ? stations : 1) : 0;
    arguments->valid_time = (by_station ? stations : 1) * (by_channel ? channels : 1);
    guint8 *valid = g_malloc(steps * arguments->valid_time);
    for (gsize k = 0; k < steps * arguments->valid_time; k++)
      valid[k] = g_rand_int_range(rand, 0, 4) != 0;
    arguments->valid = valid;
  }
  g_test_message("%u: %s %s, %u stations, %u channels by %u, integration %u", number, layout,
                 astro_format_name(config.from), stations, channels, step, (guint)integration);
  TestPowerOutput expected =
      test_power_run(&astro_power_reference, NULL, 1, &config, blocks, BLOCKS);
  if (on_device) {
    TestPowerOutput found = test_power_run(on_device, NULL, 1, &config, blocks, BLOCKS);
    check_equal(&config, &expected, &found);
    test_power_free(&found);
  }
  for (guint l = 0; l < G_N_ELEMENTS(levels) && !on_device; l++)
    for (guint threads = 1; threads <= 3; threads += 2) {
      TestPowerOutput found =
          test_power_run(&astro_power_cpu, levels[l], threads, &config, blocks, BLOCKS);
      check_equal(&config, &expected, &found);
      test_power_free(&found);
    }
  test_power_free(&expected);
  for (guint i = 0; i < BLOCKS; i++) {
    g_free((gpointer)blocks[i].arguments.valid);
    if (blocks[i].in)
      test_free(blocks[i].in);
  }
}

static void test_variants(gconstpointer on_device)
{
  const guint step = TEST_STEP * (has_few(on_device) ? FEW_STEP : 1);
  for (guint number = 0; number < 400; number += step)
    run_case(number, on_device);
}

/* Integrations of more steps than one split, and more pieces than one launch. */
static void test_long(gconstpointer on_device)
{
  static const struct {
    const char *layout;
    guint64 steps, integration;
  } cases[] = { { "time:channel", 200000, 150000 },
                { "channel:time", 200000, 150000 },
                { "time:channel", 140000, 1 } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const AstroPowerConfig config =
        test_power_config(cases[i].layout, ASTRO_FORMAT_CI8, 1, 1, 2, "I");
    const gsize bytes = cases[i].steps * test_power_step_bytes(&config);
    gint8 *in = test_alloc(bytes);
    memset(in, -128, bytes);
    const TestPowerBlock block = {
      in, { .steps = cases[i].steps, .integration = cases[i].integration, .end = TRUE }
    };
    TestPowerOutput found =
        test_power_run(on_device ? on_device : &astro_power_cpu, NULL, 1, &config, &block, 1);
    for (gsize k = 0; k < found.n; k++)
      g_assert_cmpfloat(found.values[k], ==, 32768);
    test_power_free(&found);
    test_free(in);
  }
}

static void add_tests(void)
{
  const AstroBackend *on_device = test_on_device("power"), *opencl = test_on_opencl("power");
  g_test_add_data_func("/power-variants/all", NULL, test_variants);
  test_add_on_device("/power-variants/all/cuda", on_device, test_variants);
  test_add_on_device("/power-variants/all/opencl", opencl, test_variants);
  g_test_add_data_func("/power-variants/long", NULL, test_long);
  test_add_on_device("/power-variants/long/cuda", on_device, test_long);
  test_add_on_device("/power-variants/long/opencl", opencl, test_long);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
