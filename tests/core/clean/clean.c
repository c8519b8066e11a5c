/* Minor cycles: the reference by hand and on sources that it must find, and cpu compared with the
 * reference. */
#include "tests/core/clean/cleaned.h"

/* ---- work that is given up ---- */

static gboolean asked_often(gpointer left)
{
  return --*(gint *)left < 0;
}

/* An interrupted CLEAN is complete up to where it came: the same as when that many iterations were
 * asked for. */
static void test_interrupted(void)
{
  const Source sources[] = { { 20, 14, 2.5 }, { 10, 17, -1 } };
  g_autofree double *values = sky(33, sources, 2);
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++)
    for (gint cycles = 0; cycles < 40; cycles += 13) {
      AstroCleanConfig config = config_of(33);
      AstroCleanResult result, asked_for;
      AstroCleanArguments arguments = { 4, 3, 0.4 };
      gint left = cycles;
      const AstroStop stop = { asked_often, &left };
      config.border = 0;
      astro_stop_set(&stop);
      g_autofree double *got = clean(backends[b], &config, values, &arguments, &result, 1);
      astro_stop_set(NULL);
      g_assert_cmpuint(result.iterations, ==, cycles);
      g_assert_cmpint(result.end, ==, ASTRO_CLEAN_INTERRUPTED);
      config.iterations = (guint)cycles;
      g_autofree double *expected = clean(backends[b], &config, values, &arguments, &asked_for, 1);
      if (cycles == 0) /* nothing is restored there, which uses another code path */
        continue;
      g_assert_cmpmem(got, 4 * 33 * 33 * sizeof *got, expected, 4 * 33 * 33 * sizeof *got);
      g_assert_cmpfloat(result.peak, ==, asked_for.peak);
      g_assert_cmpfloat(result.flux, ==, asked_for.flux);
    }
}

/* ---- by hand ---- */

/* One cycle of gain 1 on one source: the model is the source and the residual is zero, inside and
 * outside the border, where the point-spread function is known. */
static void test_one(void)
{
  const Source source = { 20, 14, 2.5 };
  g_autofree double *values = sky(32, &source, 1);
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    AstroCleanConfig config = config_of(32);
    AstroCleanResult result;
    AstroCleanArguments arguments = { 4, 3, 0.4 };
    config.gain = 1;
    config.iterations = 1;
    g_autofree double *got = clean(backends[b], &config, values, &arguments, &result, 0);
    g_assert_cmpuint(result.iterations, ==, 1);
    g_assert_cmpfloat(result.flux, ==, 2.5);
    g_assert_cmpfloat(result.peak, <, 1e-15);
    for (gint y = 0; y < 32; y++)
      for (gint x = 0; x < 32; x++) {
        double model = got[1024 + y * 32 + x], residual = got[2048 + y * 32 + x];
        gboolean known = x >= 20 - 16 && x < 20 + 16 && y >= 14 - 16 && y < 14 + 16;
        g_assert_cmpfloat(model, ==, x == 20 && y == 14 ? 2.5 : 0);
        g_assert_cmpfloat_with_epsilon(residual, known ? 0 : values[y * 32 + x], 1e-15);
        g_assert_cmpfloat(got[3072 + y * 32 + x], ==, values[1024 + y * 32 + x]);
        /* The beam is 4 pixels long at 0.4 from north through east, and 3 wide; east is to the
         * left. */
        double east = 20 - x, north = y - 14;
        double along = east * sin(0.4) + north * cos(0.4);
        double across = east * cos(0.4) - north * sin(0.4);
        double drawn = 2.5 * exp(-4 * G_LN2 * (along * along / 16 + across * across / 9));
        g_assert_cmpfloat_with_epsilon(got[y * 32 + x], drawn + residual, 1e-7);
      }
  }
}

/* An output that is asked for alone is the same as among all. */
static void test_outputs(void)
{
  const Source sources[] = { { 20, 14, 2.5 }, { 10, 17, -1 } };
  g_autofree double *values = sky(33, sources, 2);
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    AstroCleanConfig config = config_of(33);
    AstroCleanResult result;
    AstroCleanArguments arguments = { 4, 3, 0.4 };
    config.iterations = 50;
    g_autofree double *all = clean(backends[b], &config, values, &arguments, &result, 0);
    for (config.output = ASTRO_CLEAN_RESTORED; config.output < ASTRO_CLEAN_ALL; config.output++) {
      g_autofree double *got = clean(backends[b], &config, values, &arguments, &result, 0);
      gsize bytes = 33 * 33 * sizeof *got;
      g_assert_cmpmem(got, bytes, all + (gsize)config.output * 33 * 33, bytes);
    }
  }
}

/* ---- what it is for ---- */

/* Sources of either sign are found with their fluxes, and the residual is below the threshold. */
static void test_sources(void)
{
  const Source sources[] = { { 64, 64, 1 }, { 40, 70, 0.5 }, { 67, 66, -0.3 }, { 90, 38, 0.1 } };
  g_autofree double *values = sky(128, sources, 4);
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    AstroCleanConfig config = config_of(128);
    AstroCleanResult result;
    AstroCleanArguments arguments = { 4, 3, 0 };
    config.iterations = 20000;
    config.threshold = 1e-4;
    g_autofree double *got = clean(backends[b], &config, values, &arguments, &result, 0);
    const double *model = got + 128 * 128, *residual = model + 128 * 128;
    g_assert_cmpint(result.end, ==, ASTRO_CLEAN_THRESHOLD);
    g_assert_cmpfloat(result.peak, <=, 1e-4);
    g_assert_cmpuint(result.iterations, <, 20000);
    g_assert_cmpfloat_with_epsilon(result.flux, 1.3, 2e-3);
    for (guint s = 0; s < 4; s++)
      g_assert_cmpfloat_with_epsilon(model[sources[s].y * 128 + sources[s].x], sources[s].flux,
                                     5e-3);
    for (guint y = 32; y < 96; y++)
      for (guint x = 32; x < 96; x++)
        g_assert_cmpfloat(fabs(residual[y * 128 + x]), <=, 1e-4);
  }
}

/* A point-spread function twice as wide as the image reaches everywhere: sources at the edges are
 * found too, their residual is zero from one edge to the other, and everything is as in the middle
 * of an image as wide as that. */
static void test_wide(void)
{
  enum { SIZE = 40, WIDE = 2 * SIZE, FIRST = WIDE / 2 - SIZE / 2 };
  const Source sources[] = { { FIRST, FIRST + 7, 1 }, { FIRST + 39, FIRST + 30, 0.4 } };
  g_autofree double *values = sky(WIDE, sources, 2);
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    AstroCleanConfig config = config_of(SIZE), whole = config_of(WIDE);
    AstroCleanResult result, whole_result;
    AstroCleanArguments arguments = { 4, 3, 0.4 }, whole_arguments = { 4, 3, 0.4 };
    config.in_size = WIDE;
    config.border = astro_clean_exact_border(SIZE, WIDE);
    g_assert_cmpuint(config.border, ==, 0);
    g_assert_cmpuint(whole.border, ==, FIRST);
    config.threshold = whole.threshold = 1e-5;
    g_autofree double *got = clean(backends[b], &config, values, &arguments, &result, 0);
    g_autofree double *expected =
        clean(backends[b], &whole, values, &whole_arguments, &whole_result, 0);
    g_assert_cmpint(result.end, ==, ASTRO_CLEAN_THRESHOLD);
    g_assert_cmpuint(result.iterations, ==, whole_result.iterations);
    for (guint product = 0; product < 4; product++)
      for (guint y = 0; y < SIZE; y++)
        for (guint x = 0; x < SIZE; x++) {
          double value = got[(product * SIZE + y) * SIZE + x];
          g_assert_cmpfloat_with_epsilon(
              value, expected[(product * WIDE + FIRST + y) * WIDE + FIRST + x], 1e-12);
          if (product == 2)
            g_assert_cmpfloat(fabs(value), <=, 1e-5);
        }
  }
}

static void test_exact_border(void)
{
  g_assert_cmpuint(astro_clean_exact_border(512, 512), ==, 128);
  g_assert_cmpuint(astro_clean_exact_border(512, 768), ==, 64);
  g_assert_cmpuint(astro_clean_exact_border(512, 1024), ==, 0);
  g_assert_cmpuint(astro_clean_exact_border(512, 4096), ==, 0);
}

/* ---- the noise ---- */

/* A source in noise as the array sees it: the point-spread function in random places of the middle
 * half, and that function. */
static double *noisy_sky(guint size, double *rms)
{
  const Source source = { size / 2 + 9, size / 2 - 5, 5 };
  double *values = sky(size, &source, 1), sum = 0;
  const double *psf = values + (gsize)size * size;
  g_autofree double *noise = g_new0(double, (gsize)size *size);
  g_autoptr(GRand) rand = g_rand_new_with_seed(4);
  const guint first = size / 4, end = 3 * size / 4;
  for (guint i = 0; i < size * size / 12; i++) {
    const guint x = (guint)g_rand_int_range(rand, (gint)first, (gint)end);
    const guint y = (guint)g_rand_int_range(rand, (gint)first, (gint)end);
    const double flux = g_rand_double_range(rand, -0.01, 0.01);
    for (guint v = first; v < end; v++)
      for (guint u = first; u < end; u++)
        noise[v * size + u] += flux * psf[(v + size / 2 - y) * size + u + size / 2 - x];
  }
  for (guint i = 0; i < size * size; i++) {
    values[i] += noise[i];
    sum += noise[i] * noise[i];
  }
  *rms = sqrt(4 * sum / (size * size));
  return values;
}

/* CLEAN ends in the noise and reports its level before, even if it is made to go on. */
static void test_noise(void)
{
  double rms;
  g_autofree double *values = noisy_sky(192, &rms);
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    AstroCleanConfig config = config_of(96);
    AstroCleanResult result;
    AstroCleanArguments arguments = { 4, 3, 0 };
    config.in_size = 192;
    config.border = 0;
    config.iterations = 4000;
    config.auto_threshold = 3;
    g_free(clean(backends[b], &config, values, &arguments, &result, 0));
    g_assert_cmpint(result.end, ==, ASTRO_CLEAN_NOISE);
    g_assert_cmpuint(result.iterations, >, 20);
    g_assert_cmpuint(result.iterations, <, 400);
    g_assert_cmpfloat(result.peak, <=, 3 * result.noise);
    g_assert_cmpfloat_with_epsilon(result.noise, rms, 0.15 * rms);
    const double noise = result.noise;

    config.auto_threshold = 0;
    g_autofree double *dug = clean(backends[b], &config, values, &arguments, &result, 0);
    g_assert_cmpint(result.end, ==, ASTRO_CLEAN_ITERATIONS);
    g_assert_cmpfloat(result.peak, <, 1.5 * noise);
    g_assert_cmpfloat_with_epsilon(result.noise, noise, 0.1 * noise);
    g_free(g_steal_pointer(&dug));

    /* Sidelobes of the sources that are left count: nothing was removed from the noise yet. */
    config.iterations = 0;
    g_free(clean(backends[b], &config, values, &arguments, &result, 0));
    g_assert_cmpfloat(result.noise, >, rms);
  }
}

/* ---- cpu against the reference ---- */

static const struct {
  guint size, in_size, channels, products, border, iterations;
} shapes[] = {
  { 1, 1, 1, 1, 0, 3 },      { 2, 2, 1, 1, 0, 5 },    { 31, 31, 2, 3, 7, 60 },
  { 64, 64, 1, 2, 16, 200 }, { 65, 65, 1, 1, 0, 90 }, { 50, 50, 1, 1, 5, 100 },
  { 300, 300, 1, 1, 0, 10 }, { 31, 62, 2, 3, 0, 60 }, { 40, 57, 1, 2, 3, 100 },
  { 33, 66, 1, 1, 4, 80 },
};

/* Smooth noise with no two pixels alike. */
static void compare(guint shape, AstroFormat format)
{
  AstroCleanConfig config = config_of(shapes[shape].size);
  gsize pixels = (gsize)config.size * config.size;
  gsize in_pixels = (gsize)shapes[shape].in_size * shapes[shape].in_size;
  AstroCleanResult expected_results[6], one_results[6], many_results[6];
  AstroCleanArguments arguments = { 3.3, 2.2, -0.7 };
  double tolerance = format == ASTRO_FORMAT_F64LE ? 1e-12 : 2e-5;
  config.format = format;
  config.in_size = shapes[shape].in_size;
  config.auto_threshold = 3;
  config.channels = shapes[shape].channels;
  config.products = shapes[shape].products;
  config.border = shapes[shape].border;
  config.iterations = shapes[shape].iterations;
  gsize n = in_pixels * config.channels * (config.products + 1);
  g_autofree double *values = g_new(double, n);
  for (gsize i = 0; i < n; i++) {
    gint x = (gint)(i % config.in_size), y = (gint)(i / config.in_size % config.in_size);
    gboolean psf = i / in_pixels % (config.products + 1) == config.products;
    values[i] = psf ? psf_at(x - (gint)config.in_size / 2, y - (gint)config.in_size / 2)
                    : sin(0.37 * x + 0.1 * (double)(i / in_pixels)) * cos(0.23 * y) +
                          0.2 * sin(0.011 * x * y + 1);
  }
  g_autofree double *expected =
      clean(&astro_clean_reference, &config, values, &arguments, expected_results, 1);
  g_autofree double *one = clean(&astro_clean_cpu, &config, values, &arguments, one_results, 1);
  g_autofree double *many = clean(&astro_clean_cpu, &config, values, &arguments, many_results, 0);
  gsize n_out = pixels * config.channels * astro_clean_products_out(&config);
  for (gsize i = 0; i < n_out; i++)
    g_assert_cmpfloat_with_epsilon(one[i], expected[i], tolerance);
  g_assert_cmpmem(one, n_out * sizeof *one, many, n_out * sizeof *many);
  for (guint i = 0; i < config.channels * config.products; i++) {
    g_assert_cmpuint(one_results[i].iterations, ==, expected_results[i].iterations);
    g_assert_cmpint(one_results[i].end, ==, expected_results[i].end);
    g_assert_cmpfloat_with_epsilon(one_results[i].peak, expected_results[i].peak, tolerance);
    g_assert_cmpfloat_with_epsilon(one_results[i].flux, expected_results[i].flux, tolerance);
    g_assert_cmpfloat_with_epsilon(one_results[i].noise, expected_results[i].noise, tolerance);
  }
}

static void test_cpu(gconstpointer level)
{
  g_setenv("ASTRO_CPU", level, TRUE);
  for (guint shape = 0; shape < G_N_ELEMENTS(shapes); shape++) {
    compare(shape, ASTRO_FORMAT_F64LE);
    compare(shape, ASTRO_FORMAT_F32LE);
  }
  g_unsetenv("ASTRO_CPU");
}

/* ---- ends ---- */

static void test_ends(void)
{
  const Source source = { 16, 16, 1 };
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    g_autofree double *values = sky(32, &source, 1);
    AstroCleanConfig config = config_of(32);
    AstroCleanResult result;
    AstroCleanArguments arguments = { 4, 3, 0 };
    config.threshold = 2;
    g_free(clean(backends[b], &config, values, &arguments, &result, 0));
    g_assert_cmpint(result.end, ==, ASTRO_CLEAN_THRESHOLD);
    g_assert_cmpuint(result.iterations, ==, 0);
    g_assert_cmpfloat(result.peak, ==, 1);

    config.threshold = 0;
    config.iterations = 0;
    g_free(clean(backends[b], &config, values, &arguments, &result, 0));
    g_assert_cmpint(result.end, ==, ASTRO_CLEAN_ITERATIONS);

    config.iterations = 100000;
    memset(values, 0, 1024 * sizeof *values);
    g_free(clean(backends[b], &config, values, &arguments, &result, 0));
    g_assert_cmpint(result.end, ==, ASTRO_CLEAN_THRESHOLD);

    values[16 * 32 + 16] = 1; /* and a point-spread function that adds where it should subtract */
    values[1024 + 16 * 32 + 16] = -1;
    g_free(clean(backends[b], &config, values, &arguments, &result, 0));
    g_assert_cmpint(result.end, ==, ASTRO_CLEAN_DIVERGED);
    g_assert_cmpuint(result.iterations, <, 1000);
    g_assert_cmpfloat(result.peak, >, 2 * result.lowest);

    /* Lobes of the brightest source are outside the border: peaks fall at first. A fainter source
     * and its lobe raise each other, and need not reach the first peak. */
    memset(values, 0, 2048 * sizeof *values);
    values[16 * 32 + 16] = 10;
    values[12 * 32 + 9] = 1;
    values[1024 + 16 * 32 + 16] = 1;
    values[1024 + 16 * 32 + 16 - 9] = values[1024 + 16 * 32 + 16 + 9] = -1.5;
    g_free(clean(backends[b], &config, values, &arguments, &result, 0));
    g_assert_cmpint(result.end, ==, ASTRO_CLEAN_DIVERGED);
    g_assert_cmpfloat(result.peak, <, 4);

    /* Only NaN, and values that are not finite in the point-spread function. */
    for (guint i = 0; i < 1024; i++)
      values[i] = NAN;
    g_autofree double *got = clean(backends[b], &config, values, &arguments, &result, 0);
    g_assert_cmpint(result.end, ==, ASTRO_CLEAN_EMPTY);
    g_assert_true(isnan(got[5]) && isnan(got[2048 + 5]) && got[1024 + 5] == 0);
    memset(values, 0, 1024 * sizeof *values);
    values[1024 + 5] = NAN;
    g_free(clean(backends[b], &config, values, &arguments, &result, 0));
    g_assert_cmpint(result.end, ==, ASTRO_CLEAN_EMPTY);
  }
}

/* Pixels that are not finite are left out, inside the border and outside, and the rest is cleaned
 * as usual. */
static void test_masked(void)
{
  const Source source = { 20, 18, 1 };
  for (guint b = 0; b < 2 * G_N_ELEMENTS(backends); b++) {
    const AstroBackend *backend = backends[b / 2];
    g_autofree double *values = sky(32, &source, 1);
    AstroCleanConfig config = config_of(32);
    AstroCleanResult result, expected;
    AstroCleanArguments arguments = { 4, 3, 0 }, unmasked = { 4, 3, 0 };
    config.border *= b % 2;
    config.iterations = 20;
    g_autofree double *whole = clean(backend, &config, values, &unmasked, &expected, 0);
    for (guint x = 0; x < 12; x++)
      values[x] = values[8 * 32 + x] = x % 2 ? NAN : INFINITY;
    g_autofree double *got = clean(backend, &config, values, &arguments, &result, 0);
    g_assert_cmpint(result.end, ==, expected.end);
    g_assert_cmpuint(result.iterations, ==, expected.iterations);
    for (guint i = 0; i < 1024; i++) {
      const gboolean masked = i < 12 || (i >= 8 * 32 && i < 8 * 32 + 12);
      g_assert_cmpint(isnan(got[i]), ==, masked);
      g_assert_cmpint(isnan(got[2048 + i]), ==, masked);
      g_assert_cmpfloat_with_epsilon(got[1024 + i], whole[1024 + i], 1e-6);
    }
    /* All pixels that are searched are zero. */
    for (guint i = 0; i < 1024; i++)
      values[i] = i % 3 ? NAN : 0;
    g_free(clean(backend, &config, values, &arguments, &result, 0));
    g_assert_cmpint(result.end, ==, ASTRO_CLEAN_THRESHOLD);
    g_assert_cmpuint(result.iterations, ==, 0);
  }
}

static void test_errors(void)
{
  AstroCleanConfig cases[10];
  static const char *const says[] = { "CF32LE",       "0 pixels",      "gain 0",      "gain 1.5",
                                      "gain",         "threshold",     "border of 8", "output",
                                      "image of 15,", "auto-threshold" };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    cases[i] = config_of(16);
  cases[0].format = ASTRO_FORMAT_CF32LE;
  cases[1].size = 0;
  cases[2].gain = 0;
  cases[3].gain = 1.5;
  cases[4].gain = NAN;
  cases[5].threshold = -1;
  cases[6].border = 8;
  cases[7].output = ASTRO_CLEAN_ALL + 1;
  cases[8].in_size = 15;
  cases[9].auto_threshold = NAN;
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    AstroPlace place = { 0 };
    const char *variant;
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
      g_autoptr(GError) error = NULL;
      g_assert_null(backends[b]->create(&cases[i], &place, &variant, &error));
      test_says(error->message, says[i]);
    }
    AstroCleanConfig config = config_of(4);
    AstroCleanArguments arguments = { 2, 2, 0 }, beamless = { 0, 0, 0 };
    double pixels[64] = { 0 };
    AstroBlock in = { pixels, 256 }, out = { pixels + 32, 512 }, part = { pixels, 255 };
    gpointer instance = backends[b]->create(&config, &place, &variant, NULL);
    g_assert_false(backends[b]->submit(instance, &part, 1, &out, 1, &arguments, NULL, NULL));
    g_assert_false(backends[b]->submit(instance, &in, 1, &part, 1, &arguments, NULL, NULL));
    g_assert_false(backends[b]->submit(instance, &in, 1, &out, 1, &beamless, NULL, NULL));
    backends[b]->destroy(instance);
  }
}

static void add_tests(void)
{
  g_test_add_func("/clean/one", test_one);
  g_test_add_func("/clean/outputs", test_outputs);
  g_test_add_func("/clean/masked", test_masked);
  g_test_add_func("/clean/sources", test_sources);
  g_test_add_func("/clean/wide", test_wide);
  g_test_add_func("/clean/exact-border", test_exact_border);
  g_test_add_func("/clean/noise", test_noise);
  g_test_add_data_func("/clean/cpu/c", "c", test_cpu);
  g_test_add_data_func("/clean/cpu/avx2", "avx2", test_cpu);
  g_test_add_data_func("/clean/cpu/avx512", "avx512", test_cpu);
  g_test_add_func("/clean/ends", test_ends);
  g_test_add_func("/clean/interrupted", test_interrupted);
  g_test_add_func("/clean/errors", test_errors);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
