/* Gridding algorithms: images as accurate as they are asked for, every variant against the formula.
 */
#include "core/gridder/direct.h"
#include "core/lib/spread/semicircle.h"
#include "tests/core/gridder/gridder.h"
#include "tests/core/gridder/touched.h"

static double *stacked_image(TestSetting *s, guint *planes)
{
  TestPlanes run = { 0 };
  double *image = g_new0(double, (gsize)s->grid.image_size * s->grid.image_size * s->rows.products);
  g_autofree double *corrections = NULL;
  test_planes_begin(s, &run);
  for (guint plane = 0; plane < run.planes; plane++) {
    gpointer grid = test_planes_next(s, &run);
    test_add_plane(&s->grid, grid, s->config.is_double, s->rows.products, run.w, run.w_step,
                   &corrections, image);
    test_free(grid);
  }
  if (planes)
    *planes = run.planes;
  test_planes_end(s, &run);
  return image;
}

static double *exact_image(const TestSetting *s)
{
  const gsize n = (gsize)s->grid.image_size * s->grid.image_size * s->rows.products;
  double *image = g_new0(double, 2 * n);
  astro_direct_image(&s->grid, &s->rows, 0, s->rows.channels, 0, image);
  for (gsize i = 0; i < n; i++)
    image[i] = image[2 * i];
  return image;
}

/* exact: of the values in double; those in single precision are rounded. */
static void assert_accurate(TestSetting *s, const double *exact, gint decade)
{
  const gsize n = (gsize)s->grid.image_size * s->grid.image_size * s->rows.products;
  guint planes;
  s->config.accuracy = pow(10, decade) * (1 + 1e-9);
  s->config.is_double = s->rows.is_double = decade < -5;
  s->rows.values = s->rows.is_double ? (gpointer)s->values : s->single;
  g_autofree double *image = stacked_image(s, &planes);
  g_autofree double *against = s->rows.is_double ? NULL : exact_image(s);
  const double error = test_distance(image, against ? against : exact, n * sizeof *image, TRUE);
  g_test_message("size %u field %.3f: grid %u support %u planes %u, accuracy 1e%d: %.2e",
                 s->grid.image_size, s->grid.image_size * s->grid.pixel, s->grid.size,
                 s->grid.spread.support, planes, decade, error);
  g_assert_cmpfloat(error, <=, pow(10, decade));
}

/* Fields of a tenth of a degree to forty degrees, w to thousands of wavelengths. */
static void test_accuracy(gconstpointer on_device)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(4);
  guint number = 0;
  if (!test_can_run(on_device))
    return;
  for (guint setting = 0; setting < 10; setting++) {
    TestSetting s;
    const guint size = 2 * (guint)g_rand_int_range(random, 16, 29);
    const double field = 0.002 * pow(350, setting / 9.0);
    const double w = MIN(4 / (field * field), g_rand_double_range(random, 100, 5000));
    test_setting_make(&s, random, size, field / size, w, 60, 3, TRUE);
    s.on_device = on_device != NULL;
    if (setting % 3 == 1) {
      s.grid.centre_l = 0.1;
      s.grid.centre_m = -0.05;
    }
    g_autofree double *exact = exact_image(&s);
    for (gint decade = -2; decade >= -12; decade--)
      if (!test_passes_over(number++))
        assert_accurate(&s, exact, decade);
    test_setting_clear(&s);
  }
}

/* Larger images have less to spare: less of them is edge. The worst stands beside the phase centre,
 * where n is as l. */
static void test_large(void)
{
  static const struct {
    guint size;
    double field, l, m;
  } cases[] = { { 128, 0.17, 0, 0 }, { 200, 0.5, 0.2, 0 }, { 256, 0.3, -0.2, 0.2 } };
  g_autoptr(GRand) random = g_rand_new_with_seed(14);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    TestSetting s;
    if (test_passes_over(i))
      continue;
    test_setting_make(&s, random, cases[i].size, cases[i].field / cases[i].size, 200, 20, 2, TRUE);
    s.grid.centre_l = cases[i].l;
    s.grid.centre_m = cases[i].m;
    g_autofree double *exact = exact_image(&s);
    for (gint decade = -4; decade >= -10; decade -= 2)
      assert_accurate(&s, exact, decade);
    test_setting_clear(&s);
  }
}

/* Every support, precision and instruction set against the formula; grids so small that footprints
 * lie at their edges. */
static void test_variants(void)
{
  static const char *const levels[] = { "c", "avx2", "avx512" };
  g_autoptr(GRand) random = g_rand_new_with_seed(5);
  for (guint is_double = 0; is_double < 2; is_double++)
    for (guint support = ASTRO_SEMICIRCLE_MIN; support <= ASTRO_SEMICIRCLE_MAX; support++) {
      TestSetting s;
      guint planes;
      test_setting_make(&s, random, 22, 0.01, 300, 30, 2, is_double);
      s.config.support = support;
      s.config.padding = 2;
      s.config.accuracy = 0.1;
      g_autoptr(GByteArray) expected = test_all_planes(&s, NULL, 1, &planes);
      for (guint i = 0; i < G_N_ELEMENTS(levels); i++) {
        g_autoptr(GByteArray) found = test_all_planes(&s, levels[i], 0, &planes);
        const double error = test_bytes_distance(found, expected, is_double);
        g_test_message("%s support %u %s: %.2e", levels[i], support,
                       is_double ? "double" : "single", error);
        /* The part of it due to the polynomials that approximate the function */
        const double fit = 2e-2 * pow(10, -0.82 * support);
        g_assert_cmpfloat(error, <=, (is_double ? 1e-15 : 3e-7) * 10 + 60 * fit);
      }
      test_setting_clear(&s);
    }
}

static void test_threads(void)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(6);
  TestSetting s;
  guint planes;
  test_setting_make(&s, random, 200, 0.002, 900, 700, 4, FALSE);
  g_autoptr(GByteArray) one = test_all_planes(&s, "avx512", 1, &planes);
  g_autoptr(GByteArray) many = test_all_planes(&s, "avx512", 7, &planes);
  g_assert_cmpmem(one->data, one->len, many->data, many->len);
  test_setting_clear(&s);
}

/* With a map of touched tiles the other tiles stay as they were, and planes are the same. */
static void test_touched(void)
{
  static const char *const levels[] = { NULL, "c", "avx2", "avx512" };
  g_autoptr(GRand) random = g_rand_new_with_seed(16);
  for (guint i = 0; i < 2 * G_N_ELEMENTS(levels); i++) {
    TestSetting s;
    TestPlanes run = { 0 };
    guint planes;
    gsize untouched = 0;
    test_setting_make(&s, random, 150 + 10 * i, 0.002, 900, 25, 3, i % 2);
    s.config.channels = i % 3 ? 1 : 3;
    g_autoptr(GByteArray) whole = test_all_planes(&s, levels[i / 2], 0, &planes);
    const gsize bytes = whole->len / planes, grids = s.rows.products * s.config.channels;
    const guint tiles = astro_grid_tiles(s.grid.size);
    const gsize map_bytes = (gsize)tiles * tiles * s.config.channels;
    if (levels[i / 2])
      g_setenv("ASTRO_CPU", levels[i / 2], TRUE);
    test_planes_begin(&s, &run);
    for (guint plane = 0; plane < run.planes; plane++) {
      guint8 *grid = test_alloc(bytes), *map = test_alloc(map_bytes);
      memset(grid, 0xff, bytes);
      astro_wstacking.plane(run.gridder, grid, map, &run.w, &run.w_step, NULL);
      test_check_guard(grid, bytes);
      test_check_guard(map, map_bytes);
      untouched += test_blank_untouched(grid, grids, s.rows.products, map, s.grid.size, s.grid.size,
                                        bytes / grids / s.grid.size / s.grid.size);
      g_assert_cmpmem(grid, bytes, whole->data + plane * bytes, bytes);
      test_free(grid);
      test_free(map);
    }
    g_assert_cmpuint(untouched, >, test_cells(&s) / 4);
    test_planes_end(&s, &run);
    g_unsetenv("ASTRO_CPU");
    test_setting_clear(&s);
  }
}

/* Baselines in another order give the same to rounding. */
static void test_order(gconstpointer on_device)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(7);
  TestSetting s;
  guint planes;
  if (!test_can_run(on_device))
    return;
  test_setting_make(&s, random, 64, 0.005, 500, 200, 1, TRUE);
  s.on_device = on_device != NULL;
  g_autoptr(GByteArray) before = test_all_planes(&s, "avx512", 0, &planes);
  for (guint row = 0; row < 100; row++) {
    const guint other = 199 - row;
    for (guint i = 0; i < 3; i++) {
      const double kept = s.uvw[3 * row + i];
      s.uvw[3 * row + i] = s.uvw[3 * other + i];
      s.uvw[3 * other + i] = kept;
    }
    for (guint i = 0; i < 4; i++) {
      const double kept = s.values[4 * row + i];
      s.values[4 * row + i] = s.values[4 * other + i];
      s.values[4 * other + i] = kept;
    }
  }
  g_autoptr(GByteArray) after = test_all_planes(&s, "avx512", 0, &planes);
  g_assert_cmpfloat(test_bytes_distance(after, before, TRUE), <=, 1e-15);
  test_setting_clear(&s);
}

/* <grid(V), G> = <V, degrid(G)> for any V and G, where degridding reads the grid through the taps
 * that gridding writes with: a visibility of 1 alone shows them. */
static void test_adjoint(gconstpointer on_device)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(8);
  TestSetting s;
  guint planes;
  enum { ROWS = 9 };
  if (!test_can_run(on_device))
    return;
  test_setting_make(&s, random, 20, 0.01, 400, ROWS, 1, TRUE);
  s.on_device = on_device != NULL;
  s.config.accuracy = 1e-7;
  g_autoptr(GByteArray) all = test_all_planes(&s, "avx512", 0, &planes);
  const gsize n = all->len / sizeof(double), plane_n = 2 * test_cells(&s);
  g_autofree double *grid = g_new(double, n), *given = g_memdup2(s.values, 32 * ROWS);
  double left[2] = { 0 }, right[2] = { 0 };
  for (gsize i = 0; i < n; i++)
    grid[i] = g_rand_double_range(random, -1, 1);
  for (gsize i = 0; i < n; i += 2) {
    const double *v = (double *)all->data + i, *g = grid + i;
    left[0] += v[0] * g[0] + v[1] * g[1];
    left[1] += v[1] * g[0] - v[0] * g[1];
  }
  /* The planes are to be the same for one visibility as for all: a weight that adds nothing keeps
   * the others. */
  for (guint row = 0; row < ROWS; row++)
    for (guint product = 0; product < 2; product++) {
      double degridded[2] = { 0 };
      for (guint i = 0; i < 4 * ROWS; i++)
        s.values[i] = 1e-300;
      s.values[4 * row + 2 * product] = 1;
      g_autoptr(GByteArray) taps = test_all_planes(&s, "avx512", 0, &planes);
      g_assert_cmpuint(taps->len, ==, all->len);
      for (gsize i = 0; i < n; i += 2) {
        const double *t = (double *)taps->data + i, *g = grid + i;
        if (i % plane_n / (plane_n / 2) != product)
          continue;
        degridded[0] += t[0] * g[0] + t[1] * g[1];
        degridded[1] += t[0] * g[1] - t[1] * g[0];
      }
      const double *v = given + 4 * row + 2 * product;
      right[0] += v[0] * degridded[0] + v[1] * degridded[1];
      right[1] += v[1] * degridded[0] - v[0] * degridded[1];
    }
  g_assert_cmpfloat(hypot(left[0] - right[0], left[1] - right[1]), <=,
                    1e-12 * hypot(left[0], left[1]));
  test_setting_clear(&s);
}

/* A constant w is one plane with nothing spread; no visibility at all is an empty one. */
static void test_flat(gconstpointer on_device)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(9);
  TestSetting s;
  guint planes;
  if (!test_can_run(on_device))
    return;
  test_setting_make(&s, random, 32, 0.01, 0, 50, 1, TRUE);
  s.on_device = on_device != NULL;
  s.config.accuracy = 1e-8;
  g_autofree double *exact = exact_image(&s), *image = stacked_image(&s, &planes);
  g_assert_cmpuint(planes, ==, 1);
  g_assert_cmpfloat(test_distance(image, exact, 2 * 32 * 32 * sizeof *image, TRUE), <=, 1e-8);
  s.rows.rows = 0;
  g_autofree double *empty = stacked_image(&s, &planes);
  g_assert_cmpuint(planes, ==, 1);
  for (guint i = 0; i < 2 * 32 * 32; i++)
    g_assert_cmpfloat(empty[i], ==, 0);
  test_setting_clear(&s);
}

/* The direct algorithm's grid is the one whose transform is the direct image, with a pixel to spare
 * on either side, even where there is no sky. */
static void check_direct(double pixel, double centre_l)
{
  enum { SIZE = 18, ALL = SIZE + 2 };
  g_autoptr(GRand) random = g_rand_new_with_seed(10);
  GError *error = NULL;
  const char *variant;
  TestSetting s;
  test_setting_make(&s, random, SIZE, pixel, 200, 30, 2, TRUE);
  s.grid.centre_l = centre_l;
  g_assert_true(astro_direct.choose(&s.config, &s.grid, &error));
  g_assert_cmpuint(s.grid.size, ==, ALL);
  AstroGridding *gridding = astro_direct.create(&s.config, &s.grid, NULL, &variant, &error);
  g_autofree double *grid = g_new0(double, 2 * 2 * ALL * ALL);
  g_autofree double *image = g_new0(double, 2 * ALL * ALL), *corrections = NULL;
  g_assert_true(astro_direct.add(gridding, &s.rows, grid, &error));
  astro_direct.destroy(gridding);
  s.grid.image_size = ALL;
  test_add_plane(&s.grid, grid, TRUE, 2, 0, 0, &corrections, image);
  g_autofree double *exact = exact_image(&s);
  for (guint i = 0; i < 2 * ALL * ALL; i++) {
    g_assert_true(isfinite(exact[i]));
    if (exact[i] == 0 && isnan(image[i])) /* n is none there, not even of w = 0 */
      image[i] = 0;
  }
  g_assert_cmpfloat(test_distance(image, exact, 2 * ALL * ALL * sizeof *image, TRUE), <=, 1e-13);
  test_setting_clear(&s);
}

static void test_direct(void)
{
  check_direct(0.01, 0.2);
  check_direct(0.078, 0);
}

/* The device's, over several calls and channels, into a grid that held garbage. */
static void test_direct_on_device(gconstpointer on_device)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(21);
  if (!test_gridding_there(on_device))
    return;
  for (guint i = 0; i < 8; i++) {
    static const guint sizes[] = { 2, 18, 50, 64 }, rows[] = { 1, 200, 63, 129 };
    const gboolean is_double = i & 1;
    GError *error = NULL;
    const char *variant;
    TestSetting s;
    TestGridding device;
    test_setting_make(&s, random, sizes[i / 2], 0.01, 200, rows[i / 2], 6, is_double);
    s.grid.centre_l = 0.1 * (i % 3);
    s.config.channels = i % 3 == 1 ? 6 : 1;
    g_assert_true(astro_direct.choose(&s.config, &s.grid, &error));
    const gsize bytes = test_cells(&s) * (is_double ? 16 : 8);
    gpointer found = test_alloc(bytes), expected = g_malloc0(bytes);
    AstroGridding *gridding = astro_direct.create(&s.config, &s.grid, NULL, &variant, &error);
    g_assert_true(test_gridding_new(&device, &astro_direct, &s.config, &s.grid, &error));
    for (guint again = 0; again < 2; again++) {
      g_assert_true(astro_direct.add(gridding, &s.rows, expected, &error));
      g_assert_true(test_gridding_submit(&device, &s.rows, again == 0, found, &error));
    }
    g_autoptr(GByteArray) a = g_byte_array_new_take(expected, bytes);
    g_autoptr(GByteArray) b = g_byte_array_append(g_byte_array_new(), found, (guint)bytes);
    g_assert_cmpfloat(test_bytes_distance(b, a, is_double), <=, is_double ? 1e-13 : 3e-7);
    test_check_guard(found, bytes);
    test_free(found);
    test_gridding_free(&device);
    astro_direct.destroy(gridding);
    test_setting_clear(&s);
  }
}

static void test_refused(void)
{
  static const struct {
    guint size;
    double pixel, accuracy, padding, centre_l;
    guint support;
    gboolean is_double;
    const char *says;
  } cases[] = {
    { 100, 0.02, 1e-4, 0, 0, 0, FALSE, "hemisphere" },
    { 100, 0.02, 1e-4, 0, 0, 0, FALSE,
      "l^2 + m^2 = 2.000, expected less than 1, a size of at most 70 (" },
    { 100, 0.02, 1e-4, 0, 0.6, 0, FALSE, "a size of at most 34 (" },
    { 100, 0.001, 1e-4, 0, 0.96, 0, FALSE, "hemisphere" },
    { 100, 0.001, 1e-6, 0, 0, 0, FALSE, "double" },
    { 100, 0.001, 1e-8, 0, 0, 4, TRUE, "support 4" },
    { 100, 0.001, 1e-8, 1.1, 0, 0, TRUE, "padding" },
    { 100, 0.001, 1e-14, 0, 0, 0, TRUE, "accuracy" },
    { 1 << 30, 1e-10, 1e-4, 0, 0, 0, FALSE, "too large" },
    /* A band more than 16 bits number. */
    { 600000, 1e-7, 1e-4, 1.7, 0, 0, FALSE,
      "a size of 600000 pixels needs a grid of 1020000 cells a side, which is too large: "
      "expected at most 1000000 cells, a size of at most 588234" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    AstroGrid grid = { .image_size = cases[i].size,
                       .pixel = cases[i].pixel,
                       .centre_l = cases[i].centre_l,
                       .products = test_two_products };
    const AstroGriddingConfig config = { .is_double = cases[i].is_double,
                                         .channels = 1,
                                         .accuracy = cases[i].accuracy,
                                         .padding = cases[i].padding,
                                         .support = cases[i].support };
    GError *error = NULL;
    g_assert_false(astro_wstacking.choose(&config, &grid, &error));
    g_assert_nonnull(strstr(error->message, cases[i].says));
    g_error_free(error);
  }
}

static void test_sizes(void)
{
  g_assert_cmpuint(astro_grid_good_size(0), ==, 8);
  g_assert_cmpuint(astro_grid_good_size(8), ==, 8);
  g_assert_cmpuint(astro_grid_good_size(9), ==, 16);
  g_assert_cmpuint(astro_grid_good_size(1025), ==, 1080);
  g_assert_cmpuint(astro_grid_good_size(5120), ==, 5120);
}

static void add_tests(void)
{
  g_test_add_data_func("/gridder/wstacking/accuracy", NULL, test_accuracy);
  g_test_add_data_func("/gridder/wstacking/accuracy/cuda", "cuda", test_accuracy);
  g_test_add_func("/gridder/wstacking/large", test_large);
  g_test_add_func("/gridder/wstacking/variants", test_variants);
  g_test_add_func("/gridder/wstacking/threads", test_threads);
  g_test_add_func("/gridder/wstacking/touched", test_touched);
  g_test_add_data_func("/gridder/wstacking/order", NULL, test_order);
  g_test_add_data_func("/gridder/wstacking/order/cuda", "cuda", test_order);
  g_test_add_data_func("/gridder/wstacking/order/opencl", "opencl", test_order);
  g_test_add_data_func("/gridder/wstacking/adjoint", NULL, test_adjoint);
  g_test_add_data_func("/gridder/wstacking/adjoint/cuda", "cuda", test_adjoint);
  g_test_add_data_func("/gridder/wstacking/adjoint/opencl", "opencl", test_adjoint);
  g_test_add_data_func("/gridder/wstacking/flat", NULL, test_flat);
  g_test_add_data_func("/gridder/wstacking/flat/cuda", "cuda", test_flat);
  g_test_add_data_func("/gridder/wstacking/flat/opencl", "opencl", test_flat);
  g_test_add_func("/gridder/wstacking/refused", test_refused);
  g_test_add_func("/gridder/direct", test_direct);
  g_test_add_data_func("/gridder/direct/cuda", "cuda", test_direct_on_device);
  g_test_add_data_func("/gridder/direct/opencl", "opencl", test_direct_on_device);
  g_test_add_func("/gridder/sizes", test_sizes);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
