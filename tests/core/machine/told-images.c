/* The operations that the stages of images tell of, and flags, compared with those that their
 * references count while they work: this program has references of its own, which are compiled to
 * count. */
#include "core/backend/count.h"
#include "core/flag/flag.h"
#include "core/gridder/backend.h"
#include "core/gridder/degrid/degridder.h"
#include "core/gridder/direct.h"
#include "core/gridder/work.h"
#include "core/image/image.h"
#include "core/primarybeam/primarybeam.h"
#include "core/terms/terms.h"
#include "tests/core/gridder/gridder.h"

double astro_counted_operations, astro_counted_bytes;

enum { CHANNELS = 3, STATIONS = 6, PAIRS = STATIONS * (STATIONS - 1) / 2 };

static void assert_told(AstroTellWork tell, gconstpointer config, AstroWorkSteps steps,
                        AstroArithmetic arithmetic)
{
  AstroWork work;
  g_assert_true(tell(config, &steps, &work));
  g_test_message("%g operations", astro_counted_operations);
  g_assert_cmpfloat(astro_counted_operations, >, 0);
  for (guint i = 0; i < ASTRO_N_ARITHMETICS; i++)
    g_assert_cmpfloat(work.operations[i], ==, i == arithmetic ? astro_counted_operations : 0);
}

/* A dump of all baselines, gridded by the formula. */
static AstroGridderConfig config_of(const TestSetting *s, const AstroGridAlgorithm *algorithm)
{
  return (AstroGridderConfig){ .algorithm = algorithm,
                               .gridder = s->config,
                               .grid = s->grid,
                               .prepare = { .channels = CHANNELS,
                                            .baselines = STATIONS * (STATIONS + 1) / 2 } };
}

static void test_gridder(void)
{
  for (guint is_double = 0; is_double < 2; is_double++) {
    g_autoptr(GRand) random = g_rand_new_with_seed(3);
    TestSetting s;
    guint planes = 0;
    test_setting_make(&s, random, 32, 1e-2, 40, PAIRS, CHANNELS, is_double);
    astro_counted_operations = 0;
    g_autoptr(GByteArray) grid = test_all_planes(&s, NULL, 1, &planes);
    g_assert_cmpuint(planes, >, s.grid.spread.support);
    AstroGridderConfig config = config_of(&s, &astro_wstacking);
    assert_told(astro_gridder_work, &config, (AstroWorkSteps){ .in = 1 },
                is_double ? ASTRO_ARITHMETIC_DOUBLE : ASTRO_ARITHMETIC_FLOAT);
    /* Degridding is the same, backwards. */
    const AstroDegridderConfig back = { .visibilities = config.prepare,
                                        .gridder = s.config,
                                        .grid = s.grid };
    assert_told(astro_degridder_work, &back, (AstroWorkSteps){ .in = 1 },
                is_double ? ASTRO_ARITHMETIC_DOUBLE : ASTRO_ARITHMETIC_FLOAT);
    config.prepare.smearing = 0.01;
    AstroWork work;
    g_assert_false(astro_gridder_work(&config, &(AstroWorkSteps){ .in = 1 }, &work));
    g_assert_nonnull(work.besides);
    test_setting_clear(&s);
  }
}

/* Pixels that are below the horizon cost nothing: there are none in this field. */
static void test_direct(void)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(4);
  TestSetting s;
  test_setting_make(&s, random, 16, 1e-2, 40, PAIRS, CHANNELS, TRUE);
  g_autofree double *image = g_new0(double, 2 * test_cells(&s) + 2 * 16 * 16 * 2);
  astro_counted_operations = 0;
  astro_direct_image(&s.grid, &s.rows, 0, CHANNELS, 1, image);
  const AstroGridderConfig config = config_of(&s, &astro_direct);
  assert_told(astro_gridder_work, &config, (AstroWorkSteps){ .in = 1 }, ASTRO_ARITHMETIC_DOUBLE);
  test_setting_clear(&s);
}

static void submit(const AstroBackend *backend, gconstpointer config, gconstpointer arguments,
                   gsize in_bytes, gsize out_bytes)
{
  const AstroPlace place = { .threads = 1 };
  const char *variant;
  g_autoptr(GError) error = NULL;
  AstroResult result = { 0 };
  const AstroBlock in = { g_malloc0(in_bytes), in_bytes };
  const AstroBlock out = { g_malloc0(MAX(out_bytes, 1)), out_bytes };
  gpointer instance = backend->create(config, &place, &variant, &error);
  g_assert_no_error(error);
  astro_counted_operations = 0;
  backend->submit(instance, &in, 1, &out, out_bytes > 0, arguments, &result, &error);
  g_assert_no_error(error);
  backend->destroy(instance);
  g_free(in.data);
  g_free(out.data);
}

static void test_image(void)
{
  const AstroImageConfig config = {
    .from = ASTRO_FORMAT_CF32LE,
    .to = ASTRO_FORMAT_F32LE,
    .grid = { .size = 16, .image_size = 10, .pixel = 1e-3, .cell = 1 / (1e-3 * 16) },
    .channels = 3,
    .n_in = 2,
    .n_out = 2,
    .products = { { "I", 2, { { 0, FALSE, 0.5 }, { 1, FALSE, 0.5 } } },
                  { "V", 1, { { 1, TRUE, 1 } } } }
  };
  static const double weights[] = { 1, 1, 1, 1, 1, 1 };
  const AstroImageArguments arguments = { .weights = weights, .first = TRUE };
  submit(&astro_image_reference, &config, &arguments, 3 * 2 * 16 * 16 * 8, 3 * 2 * 10 * 10 * 4);
  assert_told(astro_image_work, &config, (AstroWorkSteps){ .in = 1, .out = 1 },
              ASTRO_ARITHMETIC_FLOAT);
}

static void test_primary_beam(void)
{
  const AstroPrimaryBeamConfig config = { .format = ASTRO_FORMAT_F64LE,
                                          .width = 12,
                                          .height = 7,
                                          .channels = 2,
                                          .products = 3,
                                          .pixel = 1e-3,
                                          .frequency = 1.5e8,
                                          .bandwidth = 1e6,
                                          .cut = 0.1,
                                          .diameter = 25 };
  const AstroPrimaryBeamArguments arguments = { .pointing = { 0, 0, 1 } };
  const gsize bytes = 12 * 7 * 2 * 3 * 8;
  submit(&astro_primary_beam_reference, &config, &arguments, bytes, bytes);
  assert_told(astro_primary_beam_work, &config, (AstroWorkSteps){ .in = 1, .out = 1 },
              ASTRO_ARITHMETIC_DOUBLE);
}

/* Three channels and a plane of each of three products, of which one is a mean whatever the number
 * of terms; the quotients of spectral indexes are not counted. */
static void test_terms(void)
{
  for (guint terms = 1; terms <= 3; terms++) {
    const AstroTermsConfig config = { .format = ASTRO_FORMAT_F32LE,
                                      .width = 11,
                                      .height = 6,
                                      .channels = 3,
                                      .products = 3,
                                      .plain = 1,
                                      .means = 2,
                                      .terms = terms,
                                      .frequency = 1.5e8,
                                      .bandwidth = 3e7,
                                      .cut = 5 };
    const AstroTermsArguments arguments = { NULL };
    const gsize image = 11 * 6 * 4;
    submit(&astro_terms_reference, &config, &arguments, 3 * 3 * image,
           astro_terms_products_out(&config) * image);
    assert_told(astro_terms_work, &config, (AstroWorkSteps){ .in = 1, .out = 1 },
                ASTRO_ARITHMETIC_DOUBLE);
  }
}

/* Samples are added up; the verdict is not counted. */
static void test_flag(void)
{
  enum { STEPS = 12 };
  g_autoptr(GstCaps) caps = gst_caps_from_string(
      "application/x-astro-spectra,format=CI8,layout=time:station:pol:channel,channels=8,"
      "stations=3,pols=2,rate=1000/1,frequency=1.5e8,bandwidth=1e6");
  g_autoptr(GError) error = NULL;
  AstroFlagConfig config = {
    .method = ASTRO_FLAG_KURTOSIS, .block = 64, .false_alarm = 1e-3, .threshold = 5, .longest = 8
  };
  const AstroFlagArguments arguments = { .block_steps = STEPS, .steps = STEPS, .begin = TRUE };
  AstroWork work;
  astro_stream_from_caps(&config.in, caps, &error);
  g_assert_no_error(error);
  submit(&astro_flag_reference, &config, &arguments, STEPS * 3 * 2 * 8 * 2, 0);
  assert_told(astro_flag_work, &config, (AstroWorkSteps){ STEPS, STEPS, 3 * 2 * 8 },
              ASTRO_ARITHMETIC_FLOAT);
  config.method = ASTRO_FLAG_LIST;
  g_assert_false(astro_flag_work(&config, &(AstroWorkSteps){ 1, 1, 1 }, &work));
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  gst_init(&argc, &argv);
  g_test_add_func("/told-images/gridder", test_gridder);
  g_test_add_func("/told-images/direct", test_direct);
  g_test_add_func("/told-images/image", test_image);
  g_test_add_func("/told-images/primary-beam", test_primary_beam);
  g_test_add_func("/told-images/terms", test_terms);
  g_test_add_func("/told-images/flag", test_flag);
  return g_test_run();
}
