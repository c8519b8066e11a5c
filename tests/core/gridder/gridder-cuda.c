/* W-stacking on devices alone, CUDA's and OpenCL's, its planes against the CPU's. */
#include "core/lib/spread/semicircle.h"
#include "tests/core/gridder/gridder.h"
#include "tests/core/gridder/touched.h"

/* Values that single precision holds, of that many products; some are 0, some stand beyond the
 * grid. rows is at most a third of what was made. The least w of all stands on the very edge of the
 * function, whose jump there is rounding's to decide: that visibility is faint. */
static void make_on_device(TestSetting *s, GRand *random, guint rows, guint products)
{
  static char *names[] = { "XX", "XY", "YX", "YY", "PSF", NULL };
  g_assert_cmpuint(3 * rows, <=, s->rows.rows);
  s->on_device = TRUE;
  s->rows.rows = rows;
  s->rows.products = products;
  s->grid.products = names + 5 - products;
  for (guint row = 2; row < rows; row++)
    if (g_rand_int_range(random, 0, 50) == 0)
      s->uvw[3 * row + g_rand_int_range(random, 0, 2)] *= 20;
  s->uvw[2] = 0;
  for (gsize i = 0; i < (gsize)rows * s->rows.channels; i++) {
    const gboolean is_faint = i < s->rows.channels;
    const gboolean is_zero = i > 2 * s->rows.channels && g_rand_int_range(random, 0, 20) == 0;
    for (gsize at = 2 * i * products; at < 2 * (i + 1) * products; at++)
      s->values[at] = s->single[at] *= is_zero ? 0 : is_faint ? 1e-6f : 1;
  }
}

/* The device's planes against those of the same in double: the formula in single precision, the
 * CPU's kernels with the same polynomials in double. */
static double device_error(TestSetting *s)
{
  TestSetting cpu = *s;
  guint expected_planes, planes;
  cpu.on_device = FALSE;
  cpu.config.is_double = cpu.rows.is_double = TRUE;
  cpu.rows.values = cpu.values;
  g_autoptr(GByteArray) found = test_all_planes(s, "avx512", 0, &planes);
  g_autoptr(GByteArray) expected =
      test_all_planes(&cpu, s->config.is_double ? "avx512" : NULL, 0, &expected_planes);
  g_assert_cmpuint(planes, ==, expected_planes);
  g_assert_cmpuint(cpu.grid.size, ==, s->grid.size);
  if (s->config.is_double)
    return test_bytes_distance(found, expected, TRUE);
  const gsize n = found->len / sizeof(float);
  double *wide = g_new(double, n);
  for (gsize i = 0; i < n; i++)
    wide[i] = ((float *)found->data)[i];
  g_autoptr(GByteArray) in_double = g_byte_array_new_take((guint8 *)wide, n * sizeof *wide);
  return test_bytes_distance(in_double, expected, TRUE);
}

/* An OpenCL device may be the CPU, and gets a part of many cases. */
static gboolean passes_over(guint number)
{
  return test_gridding_kind == ASTRO_BACKEND_OPENCL && number % 3;
}

/* Every support, precision and number of products, channels together and apart, grids of whole and
 * half tiles. */
static void test_device_variants(gconstpointer on_device)
{
  static const guint sizes[] = { 22, 35, 41, 64, 83 };
  g_autoptr(GRand) random = g_rand_new_with_seed(22);
  if (!test_can_run(on_device))
    return;
  for (guint is_double = 0; is_double < 2; is_double++)
    for (guint support = ASTRO_SEMICIRCLE_MIN; support <= ASTRO_SEMICIRCLE_MAX; support++)
      for (guint i = 0; i < 2; i++) {
        TestSetting s;
        const guint products = 1 + (support + 3 * i) % 5, rows = 2 + 97 * i;
        if (passes_over(support + i + is_double))
          continue;
        test_setting_make(&s, random, sizes[(support + i) % 5], 0.01, 300, 3 * rows, 3, is_double);
        make_on_device(&s, random, rows, products);
        s.config.support = support;
        s.config.padding = 1.5 + 0.25 * (support % 3);
        s.config.accuracy = 0.1;
        s.config.channels = (support + i) % 2 ? 3 : 1;
        const double error = device_error(&s);
        g_test_message("%s support %u products %u rows %u grid %u: %.2e",
                       is_double ? "double" : "single", support, products, rows, s.grid.size,
                       error);
        g_assert_cmpfloat(error, <=, is_double ? 1e-12 : 1e-5);
        test_setting_clear(&s);
      }
}

static void in_one_cell(TestSetting *s)
{
  for (guint row = 0; row < s->rows.rows; row++)
    for (guint i = 0; i < 3; i++)
      s->uvw[3 * row + i] = s->uvw[i] * 0.3;
}

/* All of one sign, so that what sums lose adds up. */
static void ones_in_one_cell(TestSetting *s)
{
  in_one_cell(s);
  for (gsize i = 0; i < 2 * s->rows.rows * s->rows.channels * s->rows.products; i++)
    s->values[i] = s->single[i] = 1;
}

/* Three quarters of them in the first plane and the last. */
static void at_both_ends(TestSetting *s)
{
  for (guint row = 0; row < s->rows.rows; row++)
    if (row % 4)
      s->uvw[3 * row + 2] = row % 2 ? 0 : 600;
}

static void at_the_edges(TestSetting *s)
{
  const double reach = (s->grid.size - s->grid.spread.support) / 2.0 - 1;
  for (guint row = 0; row < s->rows.rows; row++)
    for (guint i = 0; i < 2; i++)
      s->uvw[3 * row + i] =
          (row >> i & 1 ? 0.999999 : -0.999999) * reach * s->grid.cell / s->wavenumbers[0];
}

static void none(TestSetting *s)
{
}

static void test_device_places(gconstpointer on_device)
{
  static const struct {
    const char *name;
    guint rows, size;
    void (*change)(TestSetting *s);
  } cases[] = {
    { "spread", 9000, 60, none },
    { "in one cell", 9000, 60, in_one_cell },
    { "ones in one cell", 9000, 60, ones_in_one_cell },
    { "in the first plane and the last", 500, 47, at_both_ends },
    { "at the edges", 40, 47, at_the_edges },
  };
  g_autoptr(GRand) random = g_rand_new_with_seed(23);
  if (!test_can_run(on_device))
    return;
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    for (guint is_double = 0; is_double < 2; is_double++) {
      TestSetting s;
      GError *error = NULL;
      test_setting_make(&s, random, cases[i].size, 0.01, 200, 3 * cases[i].rows, 2, is_double);
      make_on_device(&s, random, cases[i].rows, 1 + i % 2);
      s.config.accuracy = is_double ? 1e-6 : 1e-4;
      s.config.support = is_double ? 10 : 7;
      s.config.padding = 1.75;
      g_assert_true(astro_wstacking.choose(&s.config, &s.grid, &error));
      cases[i].change(&s);
      s.rows.channels = cases[i].change == at_the_edges ? 1 : s.rows.channels;
      const double far = device_error(&s);
      g_test_message("%s, %s: %.2e", cases[i].name, is_double ? "double" : "single", far);
      g_assert_cmpfloat(far, <=, is_double ? 1e-12 : 1e-5);
      test_setting_clear(&s);
    }
}

/* With a map the tiles that are not touched stay as they were, and planes are the same. */
static void test_device_touched(gconstpointer on_device)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(25);
  if (!test_can_run(on_device))
    return;
  for (guint i = 0; i < 4; i++) {
    TestSetting s;
    GError *error = NULL;
    gsize untouched = 0;
    test_setting_make(&s, random, 150 + 10 * i, 0.002, 900, 25, 3, i % 2);
    s.config.channels = i < 2 ? 1 : 3;
    g_assert_true(astro_wstacking.choose(&s.config, &s.grid, &error));
    TestPlanes whole = { 0 }, run = { 0 };
    const gsize unit = s.config.is_double ? 16 : 8, bytes = test_cells(&s) * unit;
    const guint tiles = astro_grid_tiles(s.grid.size);
    const gsize map_bytes = (gsize)tiles * tiles * s.config.channels;
    guint8 *grid = test_alloc(bytes), *map = test_alloc(map_bytes);
    test_gridding_new(&whole.device, &astro_wstacking, &s.config, &s.grid, &error);
    test_gridding_new(&run.device, &astro_wstacking, &s.config, &s.grid, &error);
    g_assert_no_error(error);
    run.device.touched = (AstroBlock){ map, map_bytes };
    whole.planes = 1;
    for (guint plane = 0; plane < whole.planes; plane++) {
      const AstroGridRows *rows = plane ? NULL : &s.rows;
      gpointer expected = test_next_on_device(&s, &whole, rows);
      memset(grid, 0xff, bytes);
      memset(map, 0xff, map_bytes);
      g_assert_true(test_gridding_submit(&run.device, rows, plane == 0, grid, &error));
      untouched += test_blank_untouched(grid, s.rows.products * s.config.channels, s.rows.products,
                                        map, s.grid.size, s.grid.size, unit);
      g_assert_cmpmem(grid, bytes, expected, bytes);
      test_free(expected);
    }
    g_assert_cmpuint(untouched, >, test_cells(&s) / 4);
    test_free(grid);
    test_free(map);
    test_gridding_free(&whole.device);
    test_gridding_free(&run.device);
    test_setting_clear(&s);
  }
}

/* Grids are the same to the last bit, whatever warps took; an instance that began with few
 * visibilities takes many and none. */
static void test_device_again(gconstpointer on_device)
{
  static const guint rows[] = { 10, 6000, 0, 6000 };
  g_autoptr(GRand) random = g_rand_new_with_seed(24);
  if (!test_can_run(on_device))
    return;
  for (guint is_double = 0; is_double < 2; is_double++) {
    GByteArray *all[G_N_ELEMENTS(rows)];
    GError *error = NULL;
    TestSetting s;
    TestPlanes run = { 0 };
    test_setting_make(&s, random, 50, 0.01, 200, 18000, 2, is_double);
    make_on_device(&s, random, 6000, 2);
    for (guint row = 0; row < 3000; row++)
      for (guint i = 0; i < 3; i++)
        s.uvw[3 * row + i] *= 0.05;
    g_assert_true(astro_wstacking.choose(&s.config, &s.grid, &error));
    test_gridding_new(&run.device, &astro_wstacking, &s.config, &s.grid, &error);
    g_assert_no_error(error);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
      s.rows.rows = rows[i];
      all[i] = g_byte_array_new();
      run.planes = 1;
      for (guint plane = 0; plane < run.planes; plane++) {
        gpointer grid = test_next_on_device(&s, &run, plane == 0 ? &s.rows : NULL);
        g_byte_array_append(all[i], grid, (guint)(test_cells(&s) * (is_double ? 16 : 8)));
        test_free(grid);
      }
    }
    g_assert_cmpmem(all[1]->data, all[1]->len, all[3]->data, all[3]->len);
    g_assert_cmpuint(all[2]->len, ==, test_cells(&s) * (is_double ? 16 : 8));
    for (guint i = 0; i < all[2]->len; i++)
      g_assert_cmphex(all[2]->data[i], ==, 0);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
      g_byte_array_unref(all[i]);
    test_gridding_free(&run.device);
    test_setting_clear(&s);
  }
}

static void add_tests(void)
{
  g_test_add_data_func("/gridder/wstacking/variants/cuda", "cuda", test_device_variants);
  g_test_add_data_func("/gridder/wstacking/variants/opencl", "opencl", test_device_variants);
  g_test_add_data_func("/gridder/wstacking/places/cuda", "cuda", test_device_places);
  g_test_add_data_func("/gridder/wstacking/places/opencl", "opencl", test_device_places);
  g_test_add_data_func("/gridder/wstacking/again/cuda", "cuda", test_device_again);
  g_test_add_data_func("/gridder/wstacking/again/opencl", "opencl", test_device_again);
  g_test_add_data_func("/gridder/wstacking/touched/cuda", "cuda", test_device_touched);
  g_test_add_data_func("/gridder/wstacking/touched/opencl", "opencl", test_device_touched);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
