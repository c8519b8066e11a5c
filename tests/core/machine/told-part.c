/* Compares the part of the work of stages that is known before there are data, where the rest
 * depends on them, with the part that their references count: this program has references of its
 * own, which are compiled to count. */
#include "core/backend/count.h"
#include "core/clean/clean.h"
#include "core/flag/flag.h"
#include "core/gridder/backend.h"
#include "core/gridder/work.h"
#include "core/gridder/wprojection/wprojection.h"
#include "core/search/search.h"
#include "tests/core/gridder/gridder.h"
#include "tests/core/search/search.h"

double astro_counted_operations, astro_counted_bytes;

/* besides: whether the stage says what it computes besides. */
static void assert_told(AstroTellWork tell, gconstpointer config, AstroWorkSteps steps,
                        AstroArithmetic arithmetic, gboolean besides)
{
  AstroWork work = { 0 };
  g_assert_true(tell(config, &steps, &work));
  g_test_message("%g operations", astro_counted_operations);
  g_assert_cmpfloat(astro_counted_operations, >, 0);
  for (guint i = 0; i < ASTRO_N_ARITHMETICS; i++)
    g_assert_cmpfloat(work.operations[i], ==, i == arithmetic ? astro_counted_operations : 0);
  g_assert_cmpfloat(work.moved, ==, astro_counted_bytes);
  g_assert_cmpint(work.besides != NULL, ==, besides);
}

static gpointer open_reference(const AstroBackend *backend, gconstpointer config)
{
  const AstroPlace place = { .threads = 1 };
  const char *variant;
  g_autoptr(GError) error = NULL;
  gpointer instance = backend->create(config, &place, &variant, &error);
  g_assert_no_error(error);
  astro_counted_operations = astro_counted_bytes = 0;
  return instance;
}

/* Once the widest boxcar is full: the first block has shorter ones, and all searched since the
 * middle of its last window. */
static void test_searching(void)
{
  enum { STEPS = 320, STATIONS = 2, DMS = 3 };
  const AstroSearchConfig config = {
    .stations = STATIONS,
    .dms = DMS,
    .pols = 1,
    .layout = { 3, { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION, ASTRO_AXIS_DM }, { 0, STATIONS, DMS } },
    .n_widths = 3,
    .widths = { 1, 3, 5 },
    .window = 160,
    .threshold = 5
  };
  g_auto(TestSeries) series = test_series_new(STATIONS, DMS, 2 * STEPS, 10, 1, 1);
  AstroSearchFound found = { .hits = g_array_new(FALSE, FALSE, sizeof(AstroSearchHit)) };
  g_autoptr(GError) error = NULL;
  gpointer instance = open_reference(&astro_search_reference, &config);
  for (guint block = 0; block < 2; block++) {
    const AstroSearchArguments arguments = {
      .first = block * STEPS, .steps = STEPS, .begin = !block, .found = &found
    };
    const AstroBlock in = { test_series_at(&series, block * STEPS, 0, 0),
                            STEPS * STATIONS * DMS * sizeof(float) };
    astro_counted_operations = 0;
    astro_search_reference.submit(instance, &in, 1, NULL, 0, &arguments, NULL, &error);
    g_assert_no_error(error);
  }
  astro_search_reference.destroy(instance);
  assert_told(astro_search_work, &config, (AstroWorkSteps){ STEPS, STEPS, STATIONS * DMS },
              ASTRO_ARITHMETIC_DOUBLE, TRUE);
  g_array_unref(found.hits);
}

/* Footprints that are as wide as was asked for, and those of visibilities with w of 0, which are as
 * wide as the accuracy takes: what is wider at larger w is not told. */
enum { CHANNELS = 3, STATIONS = 6, PAIRS = STATIONS * (STATIONS - 1) / 2 };

static void project(gboolean interpolated, guint support)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(5);
  g_autoptr(GError) error = NULL;
  TestSetting s;
  test_setting_make(&s, random, 32, 1e-2, 0, PAIRS, CHANNELS, TRUE);
  for (guint i = 0; i < 3 * PAIRS; i++)
    s.uvw[i] *= i % 3 < 2 ? 0.25 : 0; /* far from the grid's border */
  s.config.interpolated = interpolated;
  s.config.support = support;
  s.config.longest = 50;
  s.config.accuracy = 1e-2;
  g_assert_true(astro_wprojection.choose(&s.config, &s.grid, &error));
  g_assert_no_error(error);
  const AstroTapsConfig build = astro_wprojection_taps(&s.config, &s.grid);
  g_autoptr(AstroTaps) taps = astro_taps_build(&build, &error);
  g_assert_no_error(error);
  const AstroWProjectionConfig own = { taps, s.grid.size, s.grid.cell, s.rows.products, 0, 1 };
  g_autofree double *grid = g_new0(double, 2 * test_cells(&s));
  astro_counted_operations = astro_counted_bytes = 0;
  g_assert_cmpuint(astro_wprojection_reference(&own, &s.rows, 0, CHANNELS, grid), ==, 0);
  const AstroGridderConfig config = { .algorithm = &astro_wprojection,
                                      .gridder = s.config,
                                      .grid = s.grid,
                                      .prepare = { .channels = CHANNELS,
                                                   .baselines = STATIONS * (STATIONS + 1) / 2 } };
  assert_told(astro_gridder_work, &config, (AstroWorkSteps){ .in = 1 }, ASTRO_ARITHMETIC_DOUBLE,
              support == 0);
  test_setting_clear(&s);
}

static void test_projection(void)
{
  project(FALSE, 0);
  project(FALSE, 8);
  project(TRUE, 6);
}

/* Counts the operations and bytes of a deconvolution of a point in the middle of each image. */
static void deconvolve(AstroCleanConfig config, guint iterations, double *operations, double *bytes)
{
  const gsize image = (gsize)config.size * config.size, planes = config.channels;
  const AstroCleanArguments arguments = { .major = 2, .minor = 2 };
  g_autofree double *values = g_new0(double, 2 * planes * image),
                    *cleaned = g_new0(double, planes *image);
  const AstroBlock in = { values, 2 * planes * image * sizeof *values },
                   out = { cleaned, planes * image * sizeof *cleaned };
  AstroResult result = { 0 };
  g_autoptr(GError) error = NULL;
  for (gsize i = 0; i < 2 * planes; i++)
    values[i * image + config.size / 2 * config.size + config.size / 2] = 1;
  config.iterations = iterations;
  gpointer instance = open_reference(&astro_clean_reference, &config);
  astro_clean_reference.submit(instance, &in, 1, &out, 1, &arguments, &result, &error);
  g_assert_no_error(error);
  astro_clean_reference.destroy(instance);
  *operations = astro_counted_operations;
  *bytes = astro_counted_bytes;
}

/* Three cycles take one more than two: all that comes before and behind them is the same. */
static void test_clean(void)
{
  for (guint joined = 0; joined < 2; joined++) {
    const AstroCleanConfig config = { .format = ASTRO_FORMAT_F64LE,
                                      .size = 16,
                                      .in_size = 16,
                                      .channels = 3,
                                      .products = 1,
                                      .gain = 0.1,
                                      .border = 3,
                                      .output = ASTRO_CLEAN_RESIDUAL,
                                      .joined = joined };
    double two[2], three[2];
    AstroWork work;
    deconvolve(config, 2, &two[0], &two[1]);
    deconvolve(config, 3, &three[0], &three[1]);
    astro_counted_operations = three[0] - two[0];
    astro_counted_bytes = three[1] - two[1];
    assert_told(astro_clean_work, &config, (AstroWorkSteps){ .in = 1, .out = 1 },
                ASTRO_ARITHMETIC_DOUBLE, TRUE);
    AstroCleanConfig scales = config;
    scales.n_scales = 2;
    g_assert_false(astro_clean_work(&scales, &(AstroWorkSteps){ .in = 1, .out = 1 }, &work));
    g_assert_nonnull(work.besides);
  }
}

/* Amplitudes, baselines and deviations of a block of noise; windows are not told. */
static void flag_noise(const char *caps_text, gsize bytes)
{
  enum { STEPS = 48, UNITS = 3, BANDS = 40 };
  g_autoptr(GstCaps) caps = gst_caps_from_string(caps_text);
  g_autoptr(GError) error = NULL;
  g_autoptr(GRand) random = g_rand_new_with_seed(6);
  AstroFlagConfig config = {
    .method = ASTRO_FLAG_THRESHOLD, .block = STEPS, .threshold = 5, .longest = 8
  };
  const AstroFlagArguments arguments = {
    .block_steps = STEPS, .steps = STEPS, .begin = TRUE, .end = TRUE
  };
  g_autofree guint8 *flags = g_malloc(STEPS * UNITS * BANDS), *samples = g_malloc(bytes);
  AstroFlagVerdict verdict = { flags };
  AstroResult result = { .own = &verdict };
  const AstroBlock in = { samples, bytes };
  astro_stream_from_caps(&config.in, caps, &error);
  g_assert_no_error(error);
  const gboolean is_power = config.in.quantity == ASTRO_QUANTITY_POWER;
  if (is_power)
    g_assert_true(astro_power_products_parse(&config.products, "XX:YY", &error));
  for (gsize i = 0; i < bytes / (is_power ? sizeof(float) : 1); i++)
    if (is_power)
      ((float *)(gpointer)samples)[i] = (float)g_rand_double_range(random, 90, 110);
    else
      samples[i] = (guint8)g_rand_int_range(random, 10, 50);
  gpointer instance = open_reference(&astro_flag_reference, &config);
  astro_flag_reference.submit(instance, &in, 1, NULL, 0, &arguments, &result, &error);
  g_assert_no_error(error);
  astro_flag_reference.destroy(instance);
  assert_told(astro_flag_work, &config, (AstroWorkSteps){ STEPS, STEPS, UNITS * 2 * BANDS },
              ASTRO_ARITHMETIC_FLOAT, TRUE);
}

static void test_threshold(void)
{
  flag_noise("application/x-astro-spectra,format=CI8,layout=time:station:pol:channel,channels=40,"
             "stations=3,pols=2,rate=1000/1,frequency=1.5e8,bandwidth=1e6",
             48 * 3 * 2 * 40 * 2);
  flag_noise("application/x-astro-power,format=F32LE,layout=time:station:pol:channel,channels=40,"
             "stations=3,pols=2,products=XX:YY,rate=1000/1,frequency=1.5e8,bandwidth=1e6",
             48 * 3 * 2 * 40 * sizeof(float));
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  gst_init(&argc, &argv);
  g_test_add_func("/told-part/search", test_searching);
  g_test_add_func("/told-part/projection", test_projection);
  g_test_add_func("/told-part/clean", test_clean);
  g_test_add_func("/told-part/threshold", test_threshold);
  return g_test_run();
}
