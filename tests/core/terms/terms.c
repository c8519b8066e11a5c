/* Polynomials of pixels: the fit by hand, power laws, missing channels, and cpu compared with the
 * reference. */
#include <math.h>

#include "core/kit/polynomial.h"
#include "core/terms/terms.h"
#include "tests/tests.h"

enum { WIDTH = 70, HEIGHT = 61, PIXELS = WIDTH * HEIGHT, CHANNELS = 5, PRODUCTS = 3 };

#define FREQUENCY 1e9
#define BANDWIDTH 0.5e9

static const AstroBackend *const backends[] = { &astro_terms_reference, &astro_terms_cpu };

/* I, I-MODEL and the point-spread function. */
static AstroTermsConfig config_of(guint terms)
{
  return (AstroTermsConfig){ .format = ASTRO_FORMAT_F64LE,
                             .width = WIDTH,
                             .height = HEIGHT,
                             .channels = CHANNELS,
                             .products = PRODUCTS,
                             .plain = 1,
                             .means = 4,
                             .terms = terms,
                             .frequency = FREQUENCY,
                             .bandwidth = BANDWIDTH,
                             .cut = 5 };
}

static double place_of(guint channel)
{
  return ((channel + 0.5) / CHANNELS - 0.5) * BANDWIDTH / FREQUENCY;
}

static double *cube_of(double noise)
{
  double *values = g_new(double, CHANNELS *PRODUCTS *PIXELS);
  g_autoptr(GRand) rand = g_rand_new_with_seed(5);
  for (guint i = 0; i < CHANNELS * PRODUCTS * PIXELS; i++)
    values[i] = noise * g_rand_double_range(rand, -1, 1);
  return values;
}

static double *run(const AstroBackend *backend, const AstroTermsConfig *config,
                   const double *values, const double *weights, GError **error)
{
  const gboolean wide = config->format == ASTRO_FORMAT_F64LE;
  const gsize n_in = (gsize)CHANNELS * PRODUCTS * PIXELS, bytes = wide ? 8 : 4,
              n = (gsize)astro_terms_products_out(config) * PIXELS;
  const AstroTermsArguments arguments = { weights };
  const AstroPlace place = { .threads = 2 };
  const char *variant = NULL;
  AstroBlock in = { test_alloc(n_in * bytes), n_in * bytes };
  AstroBlock out = { test_alloc(n * bytes), n * bytes };
  gpointer instance = backend->create(config, &place, &variant, error);
  g_assert_nonnull(instance);
  for (gsize i = 0; i < n_in; i++)
    if (wide)
      ((double *)in.data)[i] = values[i];
    else
      ((float *)in.data)[i] = (float)values[i];
  const gboolean ok = backend->submit(instance, &in, 1, &out, 1, &arguments, NULL, error);
  backend->destroy(instance);
  test_check_guard(out.data, out.bytes);
  double *got = ok ? g_new(double, n) : NULL;
  for (gsize i = 0; ok && i < n; i++)
    got[i] = wide ? ((double *)out.data)[i] : (double)((float *)out.data)[i];
  test_free(in.data);
  test_free(out.data);
  return got;
}

static void test_products(void)
{
  static const guint numbers[] = { 3, 5, 6 };
  for (guint terms = 1; terms <= 3; terms++) {
    const AstroTermsConfig config = config_of(terms);
    g_assert_cmpuint(astro_terms_products_out(&config), ==, numbers[terms - 1]);
    for (guint i = 0; i < 3; i++) {
      const AstroTermsProduct product = astro_terms_product(&config, i);
      g_assert_true(product.kind == ASTRO_TERMS_VALUE && product.product == i);
    }
  }
  const AstroTermsConfig config = config_of(3);
  g_assert_cmpint(astro_terms_product(&config, 3).kind, ==, ASTRO_TERMS_SLOPE);
  g_assert_cmpint(astro_terms_product(&config, 4).kind, ==, ASTRO_TERMS_CURVATURE);
  g_assert_cmpint(astro_terms_product(&config, 5).kind, ==, ASTRO_TERMS_INDEX);
}

/* One term is the weighted mean of each pixel, for every product. */
static void test_mean(void)
{
  static const double weights[CHANNELS * PRODUCTS] = {
    1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 3, 5, 2, 4, 6
  };
  g_autofree double *values = cube_of(1);
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    const AstroTermsConfig config = config_of(1);
    g_autofree double *got = run(backends[b], &config, values, weights, NULL);
    for (guint p = 0; p < PRODUCTS; p++)
      for (guint i = 0; i < PIXELS; i += 7) {
        double sum = 0, of_weights = 0;
        for (guint c = 0; c < CHANNELS; c++) {
          sum += weights[c * PRODUCTS + p] * values[(c * PRODUCTS + p) * PIXELS + i];
          of_weights += weights[c * PRODUCTS + p];
        }
        g_assert_cmpfloat_with_epsilon(got[p * PIXELS + i], sum / of_weights, 1e-13);
      }
  }
}

/* A quadratic comes back as it is. Faint pixels have no index, bright ones slope / value. */
static void test_quadratic(void)
{
  g_autofree double *values = cube_of(1e-3);
  for (guint c = 0; c < CHANNELS; c++) {
    const double x = place_of(c);
    for (guint i = 0; i < PIXELS; i += 11)
      values[c * PRODUCTS * PIXELS + i] = 2 - 1.4 * x + 0.9 * x * x;
    for (guint i = 0; i < 2 * PIXELS; i++) /* no spectrum of these is asked for */
      values[(c * PRODUCTS + 1) * PIXELS + i] = c;
  }
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    const AstroTermsConfig config = config_of(3);
    g_autofree double *got = run(backends[b], &config, values, NULL, NULL);
    for (guint i = 0; i < PIXELS; i++) {
      const gboolean bright = i % 11 == 0;
      g_assert_cmpint(isnan(got[5 * PIXELS + i]), ==, !bright);
      g_assert_cmpfloat_with_epsilon(got[2 * PIXELS + i], 2, 1e-12);
      if (!bright)
        continue;
      g_assert_cmpfloat_with_epsilon(got[i], 2, 1e-11);
      g_assert_cmpfloat_with_epsilon(got[3 * PIXELS + i], -1.4, 1e-11);
      g_assert_cmpfloat_with_epsilon(got[4 * PIXELS + i], 0.9, 1e-10);
      g_assert_cmpfloat_with_epsilon(got[5 * PIXELS + i], -0.7, 1e-11);
    }
  }
}

/* Channels of weight 0 or of NaN alone are left out; a NaN elsewhere makes its pixel NaN. */
static void test_missing(void)
{
  static const double weights[CHANNELS * PRODUCTS] = {
    1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1
  };
  g_autofree double *values = cube_of(0);
  for (guint c = 0; c < CHANNELS; c++)
    for (guint i = 0; i < PIXELS; i++)
      values[c * PRODUCTS * PIXELS + i] = c == 1 ? 77 : c == 3 ? NAN : 1 + place_of(c);
  values[4 * PRODUCTS * PIXELS + 30] = NAN;
  for (guint i = 0; i < CHANNELS; i++) /* a product without any channel */
    for (guint k = 0; k < PIXELS; k++)
      values[(i * PRODUCTS + 1) * PIXELS + k] = NAN;
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    const AstroTermsConfig config = config_of(2);
    g_autofree double *got = run(backends[b], &config, values, weights, NULL);
    for (guint i = 0; i < PIXELS; i++)
      for (guint k = 0; k < 2; k++)
        if (i == 30)
          g_assert_true(isnan(got[3 * k * PIXELS + i]));
        else
          g_assert_cmpfloat_with_epsilon(got[3 * k * PIXELS + i], 1, 1e-12);
    g_assert_true(isnan(got[PIXELS]) && isnan(got[2 * PIXELS - 1]));
  }
}

static void test_cpu(void)
{
  g_autofree double *values = cube_of(1);
  for (guint i = 0; i < 6; i++) {
    AstroTermsConfig config = config_of(1 + i % 3);
    config.format = i < 3 ? ASTRO_FORMAT_F64LE : ASTRO_FORMAT_F32LE;
    config.cut = 0.5;
    config.plain = 3;
    g_autofree double *expected = run(backends[0], &config, values, NULL, NULL);
    g_autofree double *got = run(backends[1], &config, values, NULL, NULL);
    for (guint k = 0; k < astro_terms_products_out(&config) * PIXELS; k++)
      if (isnan(expected[k]))
        g_assert_true(isnan(got[k]));
      else
        g_assert_cmpfloat_with_epsilon(got[k], expected[k], 1e-12 * MAX(fabs(expected[k]), 1));
  }
}

static void test_errors(void)
{
  static const char *const says[] = { "4 terms for 5 channels", "0 terms", "2 terms for 1 channels",
                                      "expected both above 0",  "cut -1",  "format CI8" };
  AstroTermsConfig cases[6];
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    cases[i] = config_of(2);
  cases[0].terms = 4;
  cases[1].terms = 0;
  cases[2].channels = 1;
  cases[3].bandwidth = 0;
  cases[4].cut = -1;
  cases[5].format = ASTRO_FORMAT_CI8;
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
      const AstroPlace place = { 0 };
      const char *variant;
      g_autoptr(GError) error = NULL;
      g_assert_null(backends[b]->create(&cases[i], &place, &variant, &error));
      test_says(error->message, says[i]);
    }
    static const double one[CHANNELS * PRODUCTS] = { 1, 1, 1 };
    const AstroTermsConfig config = config_of(2);
    g_autofree double *values = cube_of(1);
    g_autoptr(GError) error = NULL;
    g_assert_null(run(backends[b], &config, values, one, &error));
    test_says(error->message, "1 of 5 channels have data");
  }
}

static void add_tests(void)
{
  g_test_add_func("/terms/products", test_products);
  g_test_add_func("/terms/mean", test_mean);
  g_test_add_func("/terms/quadratic", test_quadratic);
  g_test_add_func("/terms/missing", test_missing);
  g_test_add_func("/terms/cpu", test_cpu);
  g_test_add_func("/terms/errors", test_errors);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
