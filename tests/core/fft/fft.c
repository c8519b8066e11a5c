/* Transforms: the reference compared with sums written out by hand, then cpu and cuda compared with
 * the reference; there and back, in parts, and refusals. */
#include "core/fft/cut.h"
#include "tests/core/fft/fft.h"

#include <complex.h>

/* ---- the reference by hand ---- */

/* A wave along the second axis of [2][6][3] becomes one bin, wherever the origin is. */
static void test_wave(void)
{
  for (guint b = 0; test_backends[b]; b++)
    for (guint origin_in = 0; origin_in < 6; origin_in++)
      for (guint origin_out = 0; origin_out < 6; origin_out++) {
        AstroFftConfig config = { .from = ASTRO_FORMAT_CF64LE,
                                  .to = ASTRO_FORMAT_CF64LE,
                                  .n_axes = 3,
                                  .extents = { 2, 6, 3 },
                                  .axes = { [1] = { TRUE, origin_in, origin_out } } };
        double complex wave[36];
        for (gint i = 0; i < 36; i++)
          wave[i] = (1 + i / 18) * cexp(2 * G_PI * I * 2 * (i / 3 % 6 - (gint)origin_in) / 6);
        double complex *out = test_transform(test_backends[b], &config, wave, 1, 1);
        for (guint i = 0; i < 36; i++) {
          double expected = i / 3 % 6 == (origin_out + 2) % 6 ? 6 * (1 + i / 18) : 0;
          g_assert_cmpfloat(cabs(out[i] - expected), <, 1e-13);
        }
        test_free(out);
      }
}

/* 1 2 3 4 5, real to complex: values from a table. */
static void test_real_by_hand(void)
{
  static const double expected[][2] = { { 15, 0 },
                                        { -2.5, 3.440954801177933 },
                                        { -2.5, 0.8122992405822659 } };
  for (guint b = 0; test_backends[b]; b++) {
    float in[] = { 1, 2, 3, 4, 5 };
    AstroFftConfig config = { .from = ASTRO_FORMAT_F32LE,
                              .to = ASTRO_FORMAT_CF32LE,
                              .n_axes = 1,
                              .extents = { 5 },
                              .axes = { { TRUE, 0, 0 } } };
    float *out = test_transform(test_backends[b], &config, in, 1, 1);
    for (guint i = 0; i < 6; i++)
      g_assert_cmpfloat_with_epsilon(out[i], expected[i / 2][i % 2], 1e-5);
    test_free(out);
  }
}

/* ---- against the reference ---- */

static void check_in_place(const AstroBackend *backend, const AstroFftConfig *config,
                           gconstpointer in, guint64 steps, gconstpointer expected)
{
  gsize bytes = test_block_bytes(config, steps, TRUE);
  if (config->from != config->to)
    return;
  for (guint threads = 0; threads < 2; threads++) {
    gpointer found = test_transform_in_place(backend, config, in, steps, threads);
    g_assert_cmpmem(found, bytes, expected, bytes);
    test_free(found);
  }
}

static void compare_cpu(const AstroFftConfig *config, guint64 steps, double tolerance)
{
  static const char *const levels[] = { "c", "avx2", "avx512" };
  gsize bytes = test_block_bytes(config, steps, TRUE);
  gpointer in = test_samples_of(config, steps);
  gpointer expected = test_transform(&astro_fft_reference, config, in, steps, 1);
  for (guint i = 0; i < G_N_ELEMENTS(levels); i++) {
    g_setenv("ASTRO_CPU", levels[i], TRUE);
    gpointer one = test_transform(&astro_fft_cpu, config, in, steps, 1);
    gpointer many = test_transform(&astro_fft_cpu, config, in, steps, 0);
    g_assert_cmpfloat(test_difference(config->to, one, expected, bytes), <, tolerance);
    g_assert_cmpmem(one, bytes, many, bytes);
    check_in_place(&astro_fft_cpu, config, in, steps, one);
    test_free(one);
    test_free(many);
  }
  g_unsetenv("ASTRO_CPU");
  check_in_place(&astro_fft_reference, config, in, steps, expected);
  test_free(in);
  test_free(expected);
}

static void test_reference(gconstpointer backend)
{
  guint number = 0;
  for (guint shape = 0; shape < G_N_ELEMENTS(test_shapes); shape++)
    for (guint kind = 0; kind < G_N_ELEMENTS(test_kinds); kind++)
      for (guint sides = (shape + kind) % 2; sides < 4; sides += 2) {
        AstroFftConfig config = test_config_of(shape, kind);
        test_centre(&config, sides);
        if (test_passes_over(number++))
          continue;
        if (backend == &astro_fft_cpu)
          compare_cpu(&config, test_shapes[shape].steps, test_kinds[kind].tolerance);
        else
          test_compare_device(&astro_fft_reference, &config, test_shapes[shape].steps,
                              test_kinds[kind].tolerance);
      }
}

/* A spectrum has the same bits in whatever block it came, even if large blocks are written past the
 * caches: along the last axis and across it. */
static void check_cuts(guint64 steps, guint64 part, gboolean across)
{
  enum { N = 24, INNER = 8 };
  AstroFftConfig config = { .from = ASTRO_FORMAT_CF32LE,
                            .to = ASTRO_FORMAT_CF32LE,
                            .n_axes = across ? 3 : 2,
                            .extents = { 0, N, INNER },
                            .axes = { [1] = { TRUE, N / 2, N / 2 } } };
  gsize step = N * 2 * (across ? INNER : 1), bytes = steps * step * sizeof(float);
  float *in = test_alloc(bytes);
  test_fill_samples(config.from, in, bytes, 4);
  float *whole = test_transform(&astro_fft_cpu, &config, in, steps, 0);
  for (guint64 at = 0, n = part; at < steps; at += n, n = n % (2 * part) + 1) {
    n = MIN(n, steps - at);
    float *piece = test_transform(&astro_fft_cpu, &config, in + at * step, n, 0);
    g_assert_cmpmem(piece, n * step * sizeof(float), whole + at * step, n * step * sizeof(float));
    test_free(piece);
  }
  test_free(whole);
  test_free(in);
}

static void test_cuts(void)
{
  check_cuts(100, 3, FALSE);
  check_cuts(100, 3, TRUE);
  check_cuts(100000, 40000, FALSE);
  check_cuts(12000, 5000, TRUE);
}

/* There and back, with the origin in the middle or not, and through real bins too. */
static void test_back(void)
{
  for (guint b = 0; test_backends[b]; b++)
    for (guint shape = 0; shape < G_N_ELEMENTS(test_shapes); shape++)
      for (guint kind = 0; kind < G_N_ELEMENTS(test_kinds); kind++) {
        AstroFftConfig there = test_config_of(shape, kind), back;
        if (there.inverse)
          continue;
        test_centre(&there, 3);
        back = there;
        back.from = there.to;
        back.to = there.from;
        back.inverse = TRUE;
        for (guint i = 0; i < there.n_axes; i++) {
          back.axes[i].origin_in = there.axes[i].origin_out;
          back.axes[i].origin_out = there.axes[i].origin_in;
        }
        guint64 steps = test_shapes[shape].steps;
        gsize bytes = test_block_bytes(&there, steps, FALSE);
        gpointer in = test_alloc(bytes);
        test_fill_samples(there.from, in, bytes, 77 + shape);
        gpointer middle = test_transform(test_backends[b], &there, in, steps, 0);
        gpointer again = test_transform(test_backends[b], &back, middle, steps, 0);
        g_assert_cmpfloat(test_difference(there.from, again, in, bytes), <,
                          test_kinds[kind].tolerance);
        test_free(in);
        test_free(middle);
        test_free(again);
      }
}

/* ---- errors ---- */

static void test_errors(void)
{
  static const struct {
    AstroFftConfig config;
    const char *says;
  } cases[] = {
    { { ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF32LE, 1, { 4 }, { { TRUE } } }, "CI8 to CF32LE" },
    { { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF64LE, 1, { 4 }, { { TRUE } } }, "one precision" },
    { { ASTRO_FORMAT_CF16LE, ASTRO_FORMAT_CF16LE, 1, { 4 }, { { TRUE } } }, "CF16LE" },
    { { ASTRO_FORMAT_F32LE, ASTRO_FORMAT_F32LE, 1, { 4 }, { { TRUE } } }, "real samples" },
    { { ASTRO_FORMAT_F32LE, ASTRO_FORMAT_CF32LE, 1, { 4 }, { { TRUE } }, TRUE }, "real samples" },
    { { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_F32LE, 1, { 4 }, { { TRUE } } }, "real samples" },
    { { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, 1, { 4 } }, "along 0 axes" },
    { { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, 1, { 0 }, { { TRUE } } }, "of 0 samples" },
    { { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, 1, { 4 }, { { TRUE, 4, 0 } } }, "4 samples" },
    { { ASTRO_FORMAT_F32LE, ASTRO_FORMAT_CF32LE, 1, { 4 }, { { TRUE, 0, 2 } } }, "begin at zero" },
    { { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, 3, { 4, 0, 0 }, { { TRUE } } }, "2 free" },
    { { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, 1, { 4 }, { { TRUE, 0, 0, 2, 3 } } },
      "3 samples wanted from 2 on" },
    { { ASTRO_FORMAT_F32LE, ASTRO_FORMAT_CF32LE, 1, { 4 }, { { TRUE, 0, 0, 0, 4 } } },
      "but the transform has only 3" },
  };
  for (guint b = 0; test_backends[b]; b++) {
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
      g_autoptr(GError) error = NULL;
      AstroPlace place = { 0 };
      const char *variant;
      g_assert_false(test_backends[b]->shape(&cases[i].config, NULL));
      g_assert_null(test_backends[b]->create(&cases[i].config, &place, &variant, &error));
      test_says(error->message, cases[i].says);
    }
    AstroFftConfig config = {
      ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, 2, { 0, 4 }, { [1] = { TRUE } }
    };
    AstroPlace place = { 0 };
    const char *variant;
    guint64 steps = 2;
    float samples[16] = { 0 };
    AstroBlock whole = { samples, 64 }, part = { samples, 63 };
    gpointer instance = test_backends[b]->create(&config, &place, &variant, NULL);
    g_assert_false(test_backends[b]->submit(instance, &part, 1, &whole, 1, &steps, NULL, NULL));
    g_assert_false(test_backends[b]->submit(instance, &whole, 1, &part, 1, &steps, NULL, NULL));
    g_assert_false(test_backends[b]->submit(instance, &whole, 0, &whole, 1, &steps, NULL, NULL));
    test_backends[b]->destroy(instance);
  }
}

/* How many of many small blocks are copied to hold their samples. */
static gsize blocks_moved(guint64 length, guint64 blocks)
{
  enum { BLOCK = 16, SAMPLES = 8 };
  AstroStream in = { .quantity = ASTRO_QUANTITY_VOLTAGES, .format = ASTRO_FORMAT_CF32LE };
  g_assert_true(astro_layout_parse(&in.layout, "station:time", in.quantity, NULL));
  in.layout.extents[0] = SAMPLES;
  g_autoptr(GstBuffer) buffer = gst_buffer_new();
  g_autofree guint8 *block = g_malloc0(BLOCK * SAMPLES * sizeof(float complex));
  AstroFftCut *cut = astro_fft_cut_new(&in, length, NULL);
  gsize moved = 0;
  for (guint64 b = 0; b < blocks; b++) {
    AstroSpectra transforms;
    gboolean direct;
    g_assert_true(astro_fft_cut_open(cut, buffer, b * BLOCK, BLOCK, &transforms, &direct, NULL));
    moved += astro_fft_cut_close(cut, block);
  }
  astro_fft_cut_free(cut);
  return moved / (BLOCK * SAMPLES * sizeof(float complex));
}

/* Samples that wait for a long transform are not moved with every block that comes. */
static void test_held(void)
{
  g_assert_cmpuint(blocks_moved(64, 64), ==, 48); /* every fourth is used in place */
  g_assert_cmpuint(blocks_moved(1 << 20, 8192), ==, 8192);
}

/* Lengths with a prime factor that is too long for plain sums: convolutions with a chirp. 509 is
 * not, and several axes have a length each. */
static void test_long_primes(gconstpointer backend)
{
  static const AstroFftConfig shapes[] = {
    { .n_axes = 1, .extents = { 509 }, .axes = { { TRUE } } },
    { .n_axes = 1, .extents = { 521 }, .axes = { { TRUE } } },
    { .n_axes = 2, .extents = { 3, 4099 }, .axes = { [1] = { TRUE } } },
    { .n_axes = 2, .extents = { 1042, 6 }, .axes = { { TRUE, 521, 17 }, { TRUE } } },
  };
  for (guint i = 0; i < G_N_ELEMENTS(shapes); i++)
    for (guint kind = 0; kind < G_N_ELEMENTS(test_kinds); kind++) {
      AstroFftConfig config = shapes[i];
      config.from = test_kinds[kind].from;
      config.to = test_kinds[kind].to;
      config.inverse = test_kinds[kind].inverse;
      gpointer in = test_samples_of(&config, 1);
      gpointer expected = test_transform(&astro_fft_cpu, &config, in, 1, 0);
      gpointer found = test_transform(backend, &config, in, 1, 0);
      const gsize bytes = test_block_bytes(&config, 1, TRUE);
      const double wrong = test_difference(config.to, found, expected, bytes);
      g_test_message("shape %u, kind %u: error %g", i, kind, wrong);
      g_assert_cmpfloat(wrong, <, test_kinds[kind].tolerance);
      test_free(in);
      test_free(expected);
      test_free(found);
    }
}

static void add_tests(void)
{
  const AstroBackend *cuda = test_on_device("fft"), *opencl = test_on_opencl("fft");
  test_backends[2] = cuda ? cuda : opencl;
  test_backends[3] = cuda ? opencl : NULL;
  g_test_add_func("/fft/wave", test_wave);
  g_test_add_func("/fft/real-by-hand", test_real_by_hand);
  g_test_add_data_func("/fft/reference/cpu", &astro_fft_cpu, test_reference);
  g_test_add_func("/fft/cuts", test_cuts);
  g_test_add_func("/fft/held", test_held);
  g_test_add_func("/fft/back", test_back);
  g_test_add_func("/fft/errors", test_errors);
  test_add_on_device("/fft/reference/cuda", cuda, test_reference);
  test_add_on_device("/fft/reference/opencl", opencl, test_reference);
  test_add_on_device("/fft/long-primes/opencl", opencl, test_long_primes);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
