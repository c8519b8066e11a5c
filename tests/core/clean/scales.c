/* Components of several scales: extended sources are found with their flux, and cpu agrees with the
 * reference. */
#include "tests/core/clean/cleaned.h"

enum { SIZE = 48, WIDE = 2 * SIZE };

/* An extended source of that standard deviation and a point beside it, as the array sees them: in
 * an image with a point-spread function twice as wide. */
static double *extended_sky(double width, double flux, gboolean is_noisy)
{
  double *values = sky(WIDE, NULL, 0);
  const gint x0 = WIDE / 2 - 6, y0 = WIDE / 2 + 4, reach = (gint)ceil(4 * width);
  double whole = 0;
  for (gint dy = -reach; dy <= reach; dy++)
    for (gint dx = -reach; dx <= reach; dx++)
      whole += exp(-0.5 * (dx * dx + dy * dy) / (width * width));
  for (gint y = 0; y < WIDE; y++)
    for (gint x = 0; x < WIDE; x++) {
      double *value = &values[y * WIDE + x];
      for (gint dy = -reach; dy <= reach; dy++)
        for (gint dx = -reach; dx <= reach; dx++)
          *value += flux / whole * exp(-0.5 * (dx * dx + dy * dy) / (width * width)) *
                    psf_at(x - x0 - dx, y - y0 - dy);
      *value += 0.5 * psf_at(x - WIDE / 2 - 15, y - WIDE / 2 + 12);
      if (is_noisy)
        *value += 0.01 * sin(0.9 * x + 0.31 * y * (x % 7)) * cos(0.11 * x * y);
    }
  return values;
}

static AstroCleanConfig config_of_scales(void)
{
  AstroCleanConfig config = config_of(SIZE);
  config.in_size = WIDE;
  config.border = 0;
  config.iterations = 3000;
  config.n_scales = 3;
  config.scales[1] = 6;
  config.scales[2] = 12;
  return config;
}

static double most(const double *values, guint n)
{
  double greatest = 0;
  for (guint i = 0; i < n; i++)
    greatest = MAX(greatest, fabs(values[i]));
  return greatest;
}

/* The residual falls to the threshold with far fewer iterations than points need, the model has the
 * flux, and the image, convolved model and residual belong together: the residual is the image
 * minus the model through the point-spread function. */
static void test_extended(void)
{
  const double flux = 20;
  g_autofree double *values = extended_sky(2.25, flux, FALSE);
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    AstroCleanConfig config = config_of_scales(), points = config;
    AstroCleanResult result, by_points;
    AstroCleanArguments arguments = { 4, 3, 0.4 };
    config.n_scales = 4; /* the smallest size counts as a point does: this one hardly is larger */
    config.scales[1] = 3;
    config.scales[2] = 6;
    config.scales[3] = 12;
    config.threshold = points.threshold = 0.01;
    points.n_scales = 0;
    g_autofree double *got = clean(backends[b], &config, values, &arguments, &result, 1);
    g_free(clean(backends[b], &points, values, &arguments, &by_points, 1));
    g_test_message("%u iterations, %u by points, flux %g", result.iterations, by_points.iterations,
                   result.flux);
    g_assert_cmpint(result.end, ==, ASTRO_CLEAN_THRESHOLD);
    g_assert_cmpuint(3 * result.iterations, <, by_points.iterations);
    g_assert_cmpfloat_with_epsilon(result.flux, flux + 0.5, 0.02 * flux);
    const double *model = got + SIZE * SIZE, *residual = model + SIZE * SIZE;
    g_assert_cmpfloat(most(residual, SIZE * SIZE), <=, 0.01);
    for (gint y = 0; y < SIZE; y += 9)
      for (gint x = 0; x < SIZE; x += 7) {
        double left = values[(y + SIZE / 2) * WIDE + x + SIZE / 2];
        for (gint v = 0; v < SIZE; v++)
          for (gint u = 0; u < SIZE; u++)
            left -= model[v * SIZE + u] * psf_at(x - u, y - v);
        g_assert_cmpfloat_with_epsilon(residual[y * SIZE + x], left, 1e-9);
      }
  }
}

/* A point is not taken for a small extended source: its model is one pixel. */
static void test_point(void)
{
  const Source source = { WIDE / 2 + 9, WIDE / 2 - 5, 3 };
  g_autofree double *values = sky(WIDE, &source, 1);
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    AstroCleanConfig config = config_of_scales();
    AstroCleanResult result;
    AstroCleanArguments arguments = { 4, 3, 0.4 };
    config.threshold = 0.003;
    g_autofree double *got = clean(backends[b], &config, values, &arguments, &result, 1);
    const double *model = got + SIZE * SIZE;
    const guint at = (SIZE / 2 - 5) * SIZE + SIZE / 2 + 9;
    g_assert_cmpint(result.end, ==, ASTRO_CLEAN_THRESHOLD);
    for (guint i = 0; i < SIZE * SIZE; i++)
      g_assert_cmpfloat(fabs(model[i] - (i == at ? source.flux : 0)), <=, i == at ? 0.003 : 0);
  }
}

/* A scale that the array does not see, since its baselines are too long, is left out. */
static void test_resolved_out(void)
{
  g_autofree double *values = g_new0(double, 2 * WIDE * WIDE);
  for (gint y = 0; y < WIDE; y++)
    for (gint x = 0; x < WIDE; x++) {
      /* fringes of one baseline, under a primary lobe */
      const double dx = x - WIDE / 2, dy = y - WIDE / 2;
      values[(WIDE + y) * WIDE + x] = cos(2 * dx) * exp(-(dx * dx + dy * dy) / 800);
      values[y * WIDE + x] = values[(WIDE + y) * WIDE + x];
    }
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    AstroCleanConfig config = config_of_scales();
    AstroCleanResult result;
    AstroCleanArguments arguments = { 4, 3, 0 };
    config.threshold = 1e-3;
    config.scales[2] = 24;
    g_autofree double *got = clean(backends[b], &config, values, &arguments, &result, 1);
    g_assert_cmpint(result.end, ==, ASTRO_CLEAN_THRESHOLD);
    g_assert_cmpfloat_with_epsilon(got[SIZE * SIZE + SIZE / 2 * SIZE + SIZE / 2], 1, 2e-3);
  }
}

/* ---- cpu against the reference ---- */

static void compare(const AstroCleanConfig *config, const double *values,
                    const AstroCleanArguments *given)
{
  static const char *const levels[] = { "c", "avx2", "avx512" };
  AstroCleanArguments arguments = *given;
  AstroCleanResult expected_result, got_result;
  const double tolerance = config->format == ASTRO_FORMAT_F64LE ? 1e-10 : 2e-4;
  const guint n = config->size * config->size;
  g_autofree double *expected =
      clean(&astro_clean_reference, config, values, &arguments, &expected_result, 1);
  for (guint k = 0; k < 2 * G_N_ELEMENTS(levels); k++) {
    g_setenv("ASTRO_CPU", levels[k / 2], TRUE);
    g_autofree double *got =
        clean(&astro_clean_cpu, config, values, &arguments, &got_result, 1 + k % 2);
    for (guint i = 0; i < 4 * n; i++)
      g_assert_cmpfloat_with_epsilon(got[i], expected[i], tolerance);
    g_assert_cmpuint(got_result.iterations, ==, expected_result.iterations);
    g_assert_cmpint(got_result.end, ==, expected_result.end);
    g_assert_cmpfloat_with_epsilon(got_result.peak, expected_result.peak, tolerance);
    g_assert_cmpfloat_with_epsilon(got_result.flux, expected_result.flux, 100 * tolerance);
    g_assert_cmpfloat_with_epsilon(got_result.noise, expected_result.noise, tolerance);
  }
  g_unsetenv("ASTRO_CPU");
}

/* With scales, a mask, an automatic mask and a start, alone and together. */
static void test_cpu(void)
{
  g_autofree double *values = extended_sky(2.25, 20, TRUE);
  guint8 mask[SIZE * SIZE];
  float start[SIZE * SIZE] = { 0 };
  for (guint i = 0; i < SIZE * SIZE; i++)
    mask[i] = i % SIZE < 40;
  start[5 * SIZE + 9] = 3;
  for (guint i = 0; i < 16; i++) {
    AstroCleanConfig config = config_of_scales();
    const AstroCleanArguments arguments = { 4, 3, 0.4, .mask = i & 2 ? mask : NULL,
                                            .start = i & 8 ? start : NULL };
    config.n_scales = i & 1 ? 3 : 0;
    config.auto_mask = i & 4 ? 6 : 0;
    config.auto_threshold = 4;
    config.fraction = i == 0 || i == 1 ? 0.3 : 0;
    config.iterations = 100;
    config.border = i % 5;
    config.format = i % 3 ? ASTRO_FORMAT_F32LE : ASTRO_FORMAT_F64LE;
    compare(&config, values, &arguments);
  }
}

static void test_errors(void)
{
  AstroCleanConfig cases[6];
  static const char *const says[] = { "scale of -1",
                                      "each larger than the last",
                                      "too large for an image of 48",
                                      "at most 10",
                                      "auto-mask -1",
                                      "less than 1" };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    cases[i] = config_of_scales();
  cases[0].scales[0] = -1;
  cases[1].scales[2] = 6;
  cases[2].scales[2] = 32;
  cases[3].n_scales = 11;
  cases[4].auto_mask = -1;
  cases[5].fraction = 1;
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++)
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
      AstroPlace place = { 0 };
      const char *variant;
      g_autoptr(GError) error = NULL;
      g_assert_null(backends[b]->create(&cases[i], &place, &variant, &error));
      test_says(error->message, says[i]);
    }
}

static void add_tests(void)
{
  g_test_add_func("/clean-scales/extended", test_extended);
  g_test_add_func("/clean-scales/point", test_point);
  g_test_add_func("/clean-scales/resolved-out", test_resolved_out);
  g_test_add_func("/clean-scales/cpu", test_cpu);
  g_test_add_func("/clean-scales/errors", test_errors);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
