/* Where CLEAN looks for sources and when it ends: masks from the user and from the noise, and a
 * model that was there before. */
#include "tests/core/clean/cleaned.h"

enum { SIZE = 64, WIDE = 2 * SIZE };

static const Source sources[] = { { SIZE - 18, SIZE - 16, 1 }, { SIZE + 15, SIZE + 10, 0.8 } };

/* The sources in the middle SIZE pixels. */
static guint pixel_of(guint source)
{
  return (sources[source].y - SIZE / 2) * SIZE + sources[source].x - SIZE / 2;
}

static AstroCleanConfig config_of_wide(void)
{
  AstroCleanConfig config = config_of(SIZE);
  config.in_size = WIDE;
  config.border = 0;
  config.threshold = 1e-3;
  return config;
}

/* Nothing is found outside of the mask, and the rest as if there were none. */
static void test_mask(void)
{
  g_autofree double *values = sky(WIDE, sources, 2);
  guint8 mask[SIZE * SIZE] = { 0 };
  for (gint dy = -2; dy <= 2; dy++)
    for (gint dx = -2; dx <= 2; dx++)
      mask[(gint)pixel_of(1) + dy * SIZE + dx] = 7;
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    AstroCleanConfig config = config_of_wide();
    AstroCleanResult result;
    AstroCleanArguments arguments = { 4, 3, 0.4, .mask = mask };
    config.threshold = 0.05; /* sidelobes of the other source stay */
    g_autofree double *got = clean(backends[b], &config, values, &arguments, &result, 1);
    const double *model = got + SIZE * SIZE, *residual = model + SIZE * SIZE;
    g_assert_cmpint(result.end, ==, ASTRO_CLEAN_THRESHOLD);
    g_assert_cmpfloat_with_epsilon(model[pixel_of(1)], 0.8, 0.2);
    for (guint i = 0; i < SIZE * SIZE; i++)
      if (mask[i])
        g_assert_cmpfloat(fabs(residual[i]), <=, 0.05);
      else
        g_assert_cmpfloat(model[i], ==, 0);
    g_assert_cmpfloat(residual[pixel_of(0)], >, 0.8);

    guint8 nothing[SIZE * SIZE] = { 0 };
    arguments.mask = nothing;
    g_free(clean(backends[b], &config, values, &arguments, &result, 1));
    g_assert_cmpint(result.end, ==, ASTRO_CLEAN_EMPTY);
  }
}

static double noise_at(guint x, guint y)
{
  const double level = 1e-3 * exp(3 * ((double)x - SIZE / 2) / SIZE);
  return level * (sin(1.9 * x + 0.77 * y * (x % 7)) + cos(2.3 * y + 0.41 * x * (y % 5)));
}

/* In an image whose noise rises from left to right, peaks of noise are no sources anywhere, and a
 * faint source on the left is found though it is below the noise on the right; then what is found
 * is cleaned deeper than that. */
static void test_auto_mask(void)
{
  const Source faint[] = { { SIZE - 18, SIZE - 16, 0.03 }, { SIZE + 15, SIZE + 10, 1 } };
  g_autofree double *values = sky(WIDE, faint, 2);
  for (guint y = 0; y < WIDE; y++)
    for (guint x = 0; x < WIDE; x++)
      values[y * WIDE + x] += noise_at(x, y);
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    AstroCleanConfig config = config_of_wide();
    AstroCleanResult result;
    AstroCleanArguments arguments = { 0.7, 0.7, 0 }; /* the noise is measured in small squares */
    config.auto_mask = 5;
    config.threshold = 0;
    config.auto_threshold = 0.5;
    g_autofree double *got = clean(backends[b], &config, values, &arguments, &result, 1);
    const double *model = got + SIZE * SIZE;
    g_assert_cmpint(result.end, ==, ASTRO_CLEAN_NOISE);
    g_assert_cmpfloat_with_epsilon(model[pixel_of(0)], 0.03, 0.01);
    g_assert_cmpfloat_with_epsilon(model[pixel_of(1)], 1, 0.1);
    for (guint i = 0; i < SIZE * SIZE; i++) {
      gboolean near = FALSE;
      for (guint s = 0; s < 2; s++)
        near |= ABS((gint)(i % SIZE) - (gint)(pixel_of(s) % SIZE)) <= 2 &&
                ABS((gint)(i / SIZE) - (gint)(pixel_of(s) / SIZE)) <= 2;
      g_assert_true(near || model[i] == 0);
    }
    /* One level for the whole image takes noise for sources, or misses the faint source. */
    config.auto_mask = 0;
    config.auto_threshold = 5;
    g_autofree double *even = clean(backends[b], &config, values, &arguments, &result, 1);
    guint others = 0;
    for (guint i = 0; i < SIZE * SIZE; i++)
      others += even[SIZE * SIZE + i] != 0;
    g_assert_true(even[SIZE * SIZE + pixel_of(0)] == 0 || others > 50);
  }
}

/* Cycles end when peaks have fallen to a part of the first. */
static void test_fraction(void)
{
  g_autofree double *values = sky(WIDE, sources, 2);
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    AstroCleanConfig config = config_of_wide();
    AstroCleanResult result;
    AstroCleanArguments arguments = { 4, 3, 0 };
    config.fraction = 0.2;
    g_free(clean(backends[b], &config, values, &arguments, &result, 1));
    g_assert_cmpint(result.end, ==, ASTRO_CLEAN_FRACTION);
    g_assert_cmpfloat(result.peak, <=, 0.2 * result.first);
    g_assert_cmpfloat(result.peak, >, 0.17 * result.first);
  }
}

/* A model that was taken out before is in the model and the restored image, and changes neither the
 * cycles nor the residual. */
static void test_start(void)
{
  g_autofree double *values = sky(WIDE, sources, 2);
  float start[SIZE * SIZE] = { 0 };
  start[12 * SIZE + 34] = 2;
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    AstroCleanConfig config = config_of_wide();
    AstroCleanResult result, alone;
    AstroCleanArguments arguments = { 4, 3, 0 }, none = { 4, 3, 0 };
    config.iterations = 20;
    arguments.start = start;
    g_autofree double *got = clean(backends[b], &config, values, &arguments, &result, 1);
    g_autofree double *without = clean(backends[b], &config, values, &none, &alone, 1);
    g_assert_cmpfloat(result.flux, ==, alone.flux);
    for (guint i = 0; i < SIZE * SIZE; i++) {
      const double dx = i % SIZE - 34., dy = i / SIZE - 12.;
      const double beam = 2 * exp(-4 * G_LN2 * (dy * dy / 16 + dx * dx / 9));
      g_assert_cmpfloat_with_epsilon(got[i] - without[i], beam, 1e-6);
      g_assert_cmpfloat(got[SIZE * SIZE + i] - without[SIZE * SIZE + i], ==, start[i]);
      g_assert_cmpfloat(got[2 * SIZE * SIZE + i], ==, without[2 * SIZE * SIZE + i]);
    }
  }
}

static void add_tests(void)
{
  g_test_add_func("/clean-masks/mask", test_mask);
  g_test_add_func("/clean-masks/auto-mask", test_auto_mask);
  g_test_add_func("/clean-masks/fraction", test_fraction);
  g_test_add_func("/clean-masks/start", test_start);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
