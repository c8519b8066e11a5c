#include "core/gridder/direct.h"
#include "core/gridder/prepare.h"
#include "core/gridder/semicircle.h"
#include "core/stream/uvw.h"
#include "tests/core/gridding-on-device.h"
#include "tests/core/images.h"
#include "tests/core/touched.h"
#include "tests/distance.h"
#include "tests/tests.h"

#include <complex.h>

/* ---- visibilities and images to try ---- */

typedef struct {
  AstroGrid grid;
  AstroGridderConfig config;
  AstroGridRows rows;
  double *uvw, *wavenumbers, *values;
  float *single;
  gboolean on_device;
} Setting;

static char *two_products[] = { "I", "PSF", NULL };

/* For tests of W-stacking that go to both. */
static gboolean can_run(gconstpointer on_device)
{
  if (!on_device || test_gridding_there())
    return TRUE;
  g_test_skip("no CUDA device");
  return FALSE;
}

/* A plane of tracks: u and v fill what the pixels resolve, w goes to that many wavelengths. */
static void make(Setting *s, GRand *random, guint size, double pixel, double w, guint rows,
                 guint channels, gboolean is_double)
{
  const guint products = 2;
  memset(s, 0, sizeof *s);
  s->grid = (AstroGrid){ .image_size = size, .pixel = pixel, .products = two_products };
  s->config = (AstroGridderConfig){ .is_double = is_double, .channels = 1, .accuracy = 1e-4 };
  s->uvw = g_new(double, 3 * rows);
  s->wavenumbers = g_new(double, channels);
  s->values = g_new(double, (gsize)2 * rows * channels * products);
  s->single = g_new(float, (gsize)2 * rows * channels * products);
  for (guint c = 0; c < channels; c++)
    s->wavenumbers[c] = 0.5 * (1 + 0.2 * c / channels);
  for (guint r = 0; r < rows; r++)
    for (guint i = 0; i < 3; i++) {
      const double most = i < 2 ? 0.3 / pixel : w, least = i < 2 ? -most : 0;
      s->uvw[3 * r + i] = g_rand_double_range(random, least, most) / 0.6;
    }
  for (gsize i = 0; i < (gsize)2 * rows * channels * products; i++)
    s->single[i] = (float)(s->values[i] = g_rand_double_range(random, -1, 1));
  s->rows = (AstroGridRows){ .rows = rows,
                             .channels = channels,
                             .products = products,
                             .is_double = is_double,
                             .uvw = s->uvw,
                             .wavenumbers = s->wavenumbers,
                             .values = is_double ? (gpointer)s->values : s->single };
}

static void clear(Setting *s)
{
  g_free(s->uvw);
  g_free(s->wavenumbers);
  g_free(s->values);
  g_free(s->single);
}

static gsize cells(const Setting *s)
{
  return (gsize)s->grid.size * s->grid.size * s->rows.products * s->config.channels;
}

/* ---- grids to images, as the elements after the gridder do ---- */

typedef struct {
  double w, w_step;
  guint planes, next;
  AstroGridding *gridder;
  TestGridding device;
  gpointer first; /* plane, which the device gives as it begins */
} Run;

/* Into a grid of garbage. */
static gpointer next_on_device(Setting *s, Run *run, const AstroGridRows *rows)
{
  GError *error = NULL;
  const gsize bytes = cells(s) * (s->config.is_double ? 16 : 8);
  gpointer grid = test_alloc(bytes);
  test_gridding_submit(&run->device, rows, rows != NULL, grid, &error);
  g_assert_no_error(error);
  test_check_guard(grid, bytes);
  run->planes = run->device.arguments.planes;
  run->w = run->device.arguments.w;
  run->w_step = run->device.arguments.w_step;
  return grid;
}

static void begin(Setting *s, Run *run)
{
  GError *error = NULL;
  const char *variant;
  g_assert_true(astro_wstacking.choose(&s->config, &s->grid, &error));
  if (s->on_device) {
    test_gridding_new(&run->device, &astro_wstacking, &s->config, &s->grid, &error);
    g_assert_no_error(error);
    run->first = next_on_device(s, run, &s->rows);
    return;
  }
  run->gridder = astro_wstacking.create(&s->config, &s->grid, &variant, &error);
  g_assert_no_error(error);
  g_assert_true(astro_wstacking.begin(run->gridder, &s->rows, &run->planes, &error));
}

static gpointer next_plane(Setting *s, Run *run)
{
  const gsize bytes = cells(s) * (s->config.is_double ? 16 : 8);
  if (s->on_device)
    return run->next++ == 0 ? run->first : next_on_device(s, run, NULL);
  gpointer grid = test_alloc(bytes);
  astro_wstacking.plane(run->gridder, grid, NULL, &run->w, &run->w_step);
  test_check_guard(grid, bytes);
  return grid;
}

static void end(Setting *s, Run *run)
{
  if (s->on_device)
    test_gridding_free(&run->device);
  else
    astro_wstacking.destroy(run->gridder);
}

static double *stacked_image(Setting *s, guint *planes)
{
  Run run = { 0 };
  double *image = g_new0(double, (gsize)s->grid.image_size * s->grid.image_size * s->rows.products);
  g_autofree double *corrections = NULL;
  begin(s, &run);
  for (guint plane = 0; plane < run.planes; plane++) {
    gpointer grid = next_plane(s, &run);
    test_add_plane(&s->grid, grid, s->config.is_double, s->rows.products, run.w, run.w_step,
                   &corrections, image);
    test_free(grid);
  }
  if (planes)
    *planes = run.planes;
  end(s, &run);
  return image;
}

static double *exact_image(const Setting *s)
{
  const gsize n = (gsize)s->grid.image_size * s->grid.image_size * s->rows.products;
  double *image = g_new0(double, 2 * n);
  astro_direct_image(&s->grid, &s->rows, 0, s->rows.channels, 0, image);
  for (gsize i = 0; i < n; i++)
    image[i] = image[2 * i];
  return image;
}

/* ---- tests ---- */

/* exact: of the values in double; those in single precision are rounded. */
static void assert_accurate(Setting *s, const double *exact, gint decade)
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
  if (!can_run(on_device))
    return;
  for (guint setting = 0; setting < 10; setting++) {
    Setting s;
    const guint size = 2 * (guint)g_rand_int_range(random, 16, 29);
    const double field = 0.002 * pow(350, setting / 9.0);
    const double w = MIN(4 / (field * field), g_rand_double_range(random, 100, 5000));
    make(&s, random, size, field / size, w, 60, 3, TRUE);
    s.on_device = on_device != NULL;
    if (setting % 3 == 1) {
      s.grid.centre_l = 0.1;
      s.grid.centre_m = -0.05;
    }
    g_autofree double *exact = exact_image(&s);
    for (gint decade = -2; decade >= -12; decade--)
      if (!test_passes_over(number++))
        assert_accurate(&s, exact, decade);
    clear(&s);
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
    Setting s;
    if (test_passes_over(i))
      continue;
    make(&s, random, cases[i].size, cases[i].field / cases[i].size, 200, 20, 2, TRUE);
    s.grid.centre_l = cases[i].l;
    s.grid.centre_m = cases[i].m;
    g_autofree double *exact = exact_image(&s);
    for (gint decade = -4; decade >= -10; decade -= 2)
      assert_accurate(&s, exact, decade);
    clear(&s);
  }
}

/* All planes of a setting, one after the other, by the variant that ASTRO_CPU names or, NULL, the
 * reference. */
static GByteArray *all_planes(Setting *s, const char *level, guint threads, guint *planes)
{
  GByteArray *all = g_byte_array_new();
  Run run = { 0 };
  if (level)
    g_setenv("ASTRO_CPU", level, TRUE);
  s->config.is_reference = !level;
  s->config.threads = threads;
  begin(s, &run);
  for (guint plane = 0; plane < run.planes; plane++) {
    gpointer grid = next_plane(s, &run);
    g_byte_array_append(all, grid, (guint)(cells(s) * (s->config.is_double ? 16 : 8)));
    test_free(grid);
  }
  *planes = run.planes;
  end(s, &run);
  g_unsetenv("ASTRO_CPU");
  return all;
}

/* Every support, precision and instruction set against the formula; grids so small that footprints
 * lie at their edges. */
static void test_variants(void)
{
  static const char *const levels[] = { "c", "avx2", "avx512" };
  g_autoptr(GRand) random = g_rand_new_with_seed(5);
  for (guint is_double = 0; is_double < 2; is_double++)
    for (guint support = ASTRO_SEMICIRCLE_MIN; support <= ASTRO_SEMICIRCLE_MAX; support++) {
      Setting s;
      guint planes;
      make(&s, random, 22, 0.01, 300, 30, 2, is_double);
      s.config.support = support;
      s.config.padding = 2;
      s.config.accuracy = 0.1;
      g_autoptr(GByteArray) expected = all_planes(&s, NULL, 1, &planes);
      for (guint i = 0; i < G_N_ELEMENTS(levels); i++) {
        g_autoptr(GByteArray) found = all_planes(&s, levels[i], 0, &planes);
        const double error = test_bytes_distance(found, expected, is_double);
        g_test_message("%s support %u %s: %.2e", levels[i], support,
                       is_double ? "double" : "single", error);
        /* Of it, the polynomials that stand for the function. */
        const double fit = 2e-2 * pow(10, -0.82 * support);
        g_assert_cmpfloat(error, <=, (is_double ? 1e-15 : 3e-7) * 10 + 60 * fit);
      }
      clear(&s);
    }
}

static void test_threads(void)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(6);
  Setting s;
  guint planes;
  make(&s, random, 200, 0.002, 900, 700, 4, FALSE);
  g_autoptr(GByteArray) one = all_planes(&s, "avx512", 1, &planes);
  g_autoptr(GByteArray) many = all_planes(&s, "avx512", 7, &planes);
  g_assert_cmpmem(one->data, one->len, many->data, many->len);
  clear(&s);
}

/* With a map of touched tiles the other tiles stay as they were, and planes are the same. */
static void test_touched(void)
{
  static const char *const levels[] = { NULL, "c", "avx2", "avx512" };
  g_autoptr(GRand) random = g_rand_new_with_seed(16);
  for (guint i = 0; i < 2 * G_N_ELEMENTS(levels); i++) {
    Setting s;
    Run run = { 0 };
    guint planes;
    gsize untouched = 0;
    make(&s, random, 150 + 10 * i, 0.002, 900, 25, 3, i % 2);
    s.config.channels = i % 3 ? 1 : 3;
    g_autoptr(GByteArray) whole = all_planes(&s, levels[i / 2], 0, &planes);
    const gsize bytes = whole->len / planes, grids = s.rows.products * s.config.channels;
    const guint tiles = astro_grid_tiles(s.grid.size);
    const gsize map_bytes = (gsize)tiles * tiles * s.config.channels;
    if (levels[i / 2])
      g_setenv("ASTRO_CPU", levels[i / 2], TRUE);
    begin(&s, &run);
    for (guint plane = 0; plane < run.planes; plane++) {
      guint8 *grid = test_alloc(bytes), *map = test_alloc(map_bytes);
      memset(grid, 0xff, bytes);
      astro_wstacking.plane(run.gridder, grid, map, &run.w, &run.w_step);
      test_check_guard(grid, bytes);
      test_check_guard(map, map_bytes);
      untouched += test_blank_untouched(grid, grids, s.rows.products, map, s.grid.size, s.grid.size,
                                        bytes / grids / s.grid.size / s.grid.size);
      g_assert_cmpmem(grid, bytes, whole->data + plane * bytes, bytes);
      test_free(grid);
      test_free(map);
    }
    g_assert_cmpuint(untouched, >, cells(&s) / 4);
    end(&s, &run);
    g_unsetenv("ASTRO_CPU");
    clear(&s);
  }
}

/* Baselines in another order give the same to rounding. */
static void test_order(gconstpointer on_device)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(7);
  Setting s;
  guint planes;
  if (!can_run(on_device))
    return;
  make(&s, random, 64, 0.005, 500, 200, 1, TRUE);
  s.on_device = on_device != NULL;
  g_autoptr(GByteArray) before = all_planes(&s, "avx512", 0, &planes);
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
  g_autoptr(GByteArray) after = all_planes(&s, "avx512", 0, &planes);
  g_assert_cmpfloat(test_bytes_distance(after, before, TRUE), <=, 1e-15);
  clear(&s);
}

/* <grid(V), G> = <V, degrid(G)> for any V and G, where degridding reads the grid through the taps
 * that gridding writes with: a visibility of 1 alone shows them. */
static void test_adjoint(gconstpointer on_device)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(8);
  Setting s;
  guint planes;
  enum { ROWS = 9 };
  if (!can_run(on_device))
    return;
  make(&s, random, 20, 0.01, 400, ROWS, 1, TRUE);
  s.on_device = on_device != NULL;
  s.config.accuracy = 1e-7;
  g_autoptr(GByteArray) all = all_planes(&s, "avx512", 0, &planes);
  const gsize n = all->len / sizeof(double), plane_n = 2 * cells(&s);
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
      g_autoptr(GByteArray) taps = all_planes(&s, "avx512", 0, &planes);
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
  clear(&s);
}

/* A constant w is one plane with nothing spread; no visibility at all is an empty one. */
static void test_flat(gconstpointer on_device)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(9);
  Setting s;
  guint planes;
  if (!can_run(on_device))
    return;
  make(&s, random, 32, 0.01, 0, 50, 1, TRUE);
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
  clear(&s);
}

/* ---- W-stacking on the device alone ---- */

/* Values that single precision holds, of that many products; some are 0, some stand beyond the
 * grid. rows is at most a third of what was made. The least w of all stands on the very edge of the
 * function, whose jump there is rounding's to decide: that visibility is faint. */
static void make_on_device(Setting *s, GRand *random, guint rows, guint products)
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
static double device_error(Setting *s)
{
  Setting cpu = *s;
  guint expected_planes, planes;
  cpu.on_device = FALSE;
  cpu.config.is_double = cpu.rows.is_double = TRUE;
  cpu.rows.values = cpu.values;
  g_autoptr(GByteArray) found = all_planes(s, "avx512", 0, &planes);
  g_autoptr(GByteArray) expected =
      all_planes(&cpu, s->config.is_double ? "avx512" : NULL, 0, &expected_planes);
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

/* Every support, precision and number of products, channels together and apart, grids of whole and
 * half tiles. */
static void test_device_variants(void)
{
  static const guint sizes[] = { 22, 35, 41, 64, 83 };
  g_autoptr(GRand) random = g_rand_new_with_seed(22);
  if (!can_run("device"))
    return;
  for (guint is_double = 0; is_double < 2; is_double++)
    for (guint support = ASTRO_SEMICIRCLE_MIN; support <= ASTRO_SEMICIRCLE_MAX; support++)
      for (guint i = 0; i < 2; i++) {
        Setting s;
        const guint products = 1 + (support + 3 * i) % 5, rows = 2 + 97 * i;
        make(&s, random, sizes[(support + i) % 5], 0.01, 300, 3 * rows, 3, is_double);
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
        clear(&s);
      }
}

static void in_one_cell(Setting *s)
{
  for (guint row = 0; row < s->rows.rows; row++)
    for (guint i = 0; i < 3; i++)
      s->uvw[3 * row + i] = s->uvw[i] * 0.3;
}

/* All of one sign, so that what sums lose adds up. */
static void ones_in_one_cell(Setting *s)
{
  in_one_cell(s);
  for (gsize i = 0; i < 2 * s->rows.rows * s->rows.channels * s->rows.products; i++)
    s->values[i] = s->single[i] = 1;
}

/* Three quarters of them in the first plane and the last. */
static void at_both_ends(Setting *s)
{
  for (guint row = 0; row < s->rows.rows; row++)
    if (row % 4)
      s->uvw[3 * row + 2] = row % 2 ? 0 : 600;
}

static void at_the_edges(Setting *s)
{
  const double reach = (s->grid.size - s->grid.spread.support) / 2.0 - 1;
  for (guint row = 0; row < s->rows.rows; row++)
    for (guint i = 0; i < 2; i++)
      s->uvw[3 * row + i] =
          (row >> i & 1 ? 0.999999 : -0.999999) * reach * s->grid.cell / s->wavenumbers[0];
}

static void none(Setting *s)
{
}

static void test_device_places(void)
{
  static const struct {
    const char *name;
    guint rows, size;
    void (*change)(Setting *s);
  } cases[] = {
    { "spread", 9000, 60, none },
    { "in one cell", 9000, 60, in_one_cell },
    { "ones in one cell", 9000, 60, ones_in_one_cell },
    { "in the first plane and the last", 500, 47, at_both_ends },
    { "at the edges", 40, 47, at_the_edges },
  };
  g_autoptr(GRand) random = g_rand_new_with_seed(23);
  if (!can_run("device"))
    return;
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    for (guint is_double = 0; is_double < 2; is_double++) {
      Setting s;
      GError *error = NULL;
      make(&s, random, cases[i].size, 0.01, 200, 3 * cases[i].rows, 2, is_double);
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
      clear(&s);
    }
}

/* With a map the tiles that are not touched stay as they were, and planes are the same. */
static void test_device_touched(void)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(25);
  if (!can_run("device"))
    return;
  for (guint i = 0; i < 4; i++) {
    Setting s;
    GError *error = NULL;
    gsize untouched = 0;
    make(&s, random, 150 + 10 * i, 0.002, 900, 25, 3, i % 2);
    s.config.channels = i < 2 ? 1 : 3;
    g_assert_true(astro_wstacking.choose(&s.config, &s.grid, &error));
    Run whole = { 0 }, run = { 0 };
    const gsize unit = s.config.is_double ? 16 : 8, bytes = cells(&s) * unit;
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
      gpointer expected = next_on_device(&s, &whole, rows);
      memset(grid, 0xff, bytes);
      memset(map, 0xff, map_bytes);
      g_assert_true(test_gridding_submit(&run.device, rows, plane == 0, grid, &error));
      untouched += test_blank_untouched(grid, s.rows.products * s.config.channels, s.rows.products,
                                        map, s.grid.size, s.grid.size, unit);
      g_assert_cmpmem(grid, bytes, expected, bytes);
      test_free(expected);
    }
    g_assert_cmpuint(untouched, >, cells(&s) / 4);
    test_free(grid);
    test_free(map);
    test_gridding_free(&whole.device);
    test_gridding_free(&run.device);
    clear(&s);
  }
}

/* Grids are the same to the last bit, whatever warps took; an instance that began with few
 * visibilities takes many and none. */
static void test_device_again(void)
{
  static const guint rows[] = { 10, 6000, 0, 6000 };
  g_autoptr(GRand) random = g_rand_new_with_seed(24);
  if (!can_run("device"))
    return;
  for (guint is_double = 0; is_double < 2; is_double++) {
    GByteArray *all[G_N_ELEMENTS(rows)];
    GError *error = NULL;
    Setting s;
    Run run = { 0 };
    make(&s, random, 50, 0.01, 200, 18000, 2, is_double);
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
        gpointer grid = next_on_device(&s, &run, plane == 0 ? &s.rows : NULL);
        g_byte_array_append(all[i], grid, (guint)(cells(&s) * (is_double ? 16 : 8)));
        test_free(grid);
      }
    }
    g_assert_cmpmem(all[1]->data, all[1]->len, all[3]->data, all[3]->len);
    g_assert_cmpuint(all[2]->len, ==, cells(&s) * (is_double ? 16 : 8));
    for (guint i = 0; i < all[2]->len; i++)
      g_assert_cmphex(all[2]->data[i], ==, 0);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
      g_byte_array_unref(all[i]);
    test_gridding_free(&run.device);
    clear(&s);
  }
}

/* The direct algorithm's grid is the one whose transform is the direct image, with a pixel to spare
 * on either side, even where there is no sky. */
static void check_direct(double pixel, double centre_l)
{
  enum { SIZE = 18, ALL = SIZE + 2 };
  g_autoptr(GRand) random = g_rand_new_with_seed(10);
  GError *error = NULL;
  const char *variant;
  Setting s;
  make(&s, random, SIZE, pixel, 200, 30, 2, TRUE);
  s.grid.centre_l = centre_l;
  g_assert_true(astro_direct.choose(&s.config, &s.grid, &error));
  g_assert_cmpuint(s.grid.size, ==, ALL);
  AstroGridding *gridding = astro_direct.create(&s.config, &s.grid, &variant, &error);
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
  clear(&s);
}

static void test_direct(void)
{
  check_direct(0.01, 0.2);
  check_direct(0.078, 0);
}

/* The device's, over several calls and channels, into a grid that held garbage. */
static void test_direct_on_device(void)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(21);
  if (!test_gridding_there()) {
    g_test_skip("no CUDA device");
    return;
  }
  for (guint i = 0; i < 8; i++) {
    static const guint sizes[] = { 2, 18, 50, 64 }, rows[] = { 1, 200, 63, 129 };
    const gboolean is_double = i & 1;
    GError *error = NULL;
    const char *variant;
    Setting s;
    TestGridding device;
    make(&s, random, sizes[i / 2], 0.01, 200, rows[i / 2], 6, is_double);
    s.grid.centre_l = 0.1 * (i % 3);
    s.config.channels = i % 3 == 1 ? 6 : 1;
    g_assert_true(astro_direct.choose(&s.config, &s.grid, &error));
    const gsize bytes = cells(&s) * (is_double ? 16 : 8);
    gpointer found = test_alloc(bytes), expected = g_malloc0(bytes);
    AstroGridding *gridding = astro_direct.create(&s.config, &s.grid, &variant, &error);
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
    clear(&s);
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
    { 100, 0.001, 1e-4, 0, 0.96, 0, FALSE, "hemisphere" },
    { 100, 0.001, 1e-6, 0, 0, 0, FALSE, "double" },
    { 100, 0.001, 1e-8, 0, 0, 4, TRUE, "support 4" },
    { 100, 0.001, 1e-8, 1.1, 0, 0, TRUE, "padding" },
    { 100, 0.001, 1e-14, 0, 0, 0, TRUE, "accuracy" },
    { 1 << 30, 1e-10, 1e-4, 0, 0, 0, FALSE, "too large" },
    /* A band more than 16 bits number. */
    { 600000, 1e-7, 1e-4, 1.7, 0, 0, FALSE, "1020000 cells a side is too large" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    AstroGrid grid = { .image_size = cases[i].size,
                       .pixel = cases[i].pixel,
                       .centre_l = cases[i].centre_l,
                       .products = two_products };
    const AstroGridderConfig config = { .is_double = cases[i].is_double,
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

/* ---- preparation and weights ---- */

enum { STATIONS = 4, BASELINES = 10, CHANNELS = 2 };

static AstroObservation *observe(void)
{
  static const double positions[3 * STATIONS] = { 3826577.1, 461022.9,  5064892.8, 3826777.1,
                                                  461322.9,  5064592.8, 3826177.1, 461522.9,
                                                  5065092.8, 3826577.1, 460422.9,  5065092.8 };
  AstroObservation *observation = astro_observation_new(STATIONS);
  memcpy(observation->positions, positions, sizeof positions);
  g_assert_true(astro_observation_set_start(observation, "2026-11-20T12:00:00", NULL));
  observation->has_phase_centre = TRUE;
  observation->phase_ra = 3;
  observation->phase_dec = 0.9;
  return observation;
}

static const AstroPrepareConfig prepare_config = {
  .channels = CHANNELS,
  .baselines = BASELINES,
  .pols = 2,
  .format = ASTRO_FORMAT_CF32LE,
  .frequency = 100e6,
  .bandwidth = 2e6,
  .is_double = TRUE,
  .keep_weights = TRUE,
};

static const AstroPrepareFuncs *const prepares = &astro_prepare_funcs;

static AstroPrepare *new_prepare(char **products, double centre_l, AstroGrid *grid)
{
  g_autoptr(AstroObservation) observation = observe();
  GError *error = NULL;
  *grid = (AstroGrid){ .image_size = 32,
                       .size = 64,
                       .pixel = 1e-3,
                       .cell = 1 / 64e-3,
                       .centre_l = centre_l,
                       .products = products,
                       .spread = { .support = 6 } };
  AstroPrepare *prepare = prepares->create(&prepare_config, grid, observation, NULL, &error);
  g_assert_no_error(error);
  return prepare;
}

static const AstroLayout dump_shape = {
  .n_axes = 4,
  .axes = { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_BASELINE, ASTRO_AXIS_POL, ASTRO_AXIS_POL },
  .extents = { CHANNELS, BASELINES, 2, 2 },
};

static void fill_dump(complex float *dump, guint32 seed)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(seed);
  for (guint i = 0; i < CHANNELS * BASELINES * 4; i++)
    dump[i] =
        (float)g_rand_double_range(random, -1, 1) + (float)g_rand_double_range(random, -1, 1) * I;
}

/* Every row is a baseline of the observation with its products, conjugated as a whole where its w
 * was negative. */
static void test_prepare(void)
{
  static char *products[] = { "XY", "I", "U", "V", "PSF", NULL };
  g_autoptr(AstroObservation) observation = observe();
  complex float dump[CHANNELS * BASELINES * 4];
  AstroGrid grid;
  AstroGridRows rows;
  double stations[3 * STATIONS];
  const double l = 0.05, n_minus_1 = sqrt(1 - l * l) - 1;
  AstroPrepare *prepare = new_prepare(products, l, &grid);
  const AstroGridCounts *counts;
  const double *sums;
  GError *error = NULL;
  guint row = 0, turned = 0;

  fill_dump(dump, 11);
  g_assert_true(prepares->add(prepare, dump, NULL, &dump_shape, 0,
                              5000 * G_GINT64_CONSTANT(1000000000), &error));
  prepares->rows(prepare, &rows);
  g_assert_cmpuint(rows.rows, ==, 6);
  astro_uvw(observation, 5000 * G_GINT64_CONSTANT(1000000000), stations);
  for (guint i = 0; i < STATIONS; i++)
    for (guint j = 0; j < i; j++, row++) {
      double uvw[3];
      for (guint k = 0; k < 3; k++)
        uvw[k] = stations[3 * i + k] - stations[3 * j + k];
      const gboolean round = uvw[2] < 0;
      turned += round;
      for (guint k = 0; k < 3; k++)
        g_assert_cmpfloat_with_epsilon(rows.uvw[3 * row + k], round ? -uvw[k] : uvw[k], 1e-4);
      for (guint c = 0; c < CHANNELS; c++) {
        const complex float *v = &dump[4 * (c * BASELINES + i * (i + 1) / 2 + j)];
        const double per = (99.5e6 + 1e6 * c) / ASTRO_LIGHT_SPEED;
        const complex double turn = cexp(-2 * G_PI * I * uvw[0] * per * l);
        const complex double depth = cexp(2 * G_PI * I * fabs(uvw[2]) * per * n_minus_1);
        complex double expected[] = { round ? v[2] : v[1], (v[0] + v[3]) / 2, (v[1] + v[2]) / 2,
                                      (v[1] - v[2]) / (2 * I) };
        const complex double *found =
            (const complex double *)rows.values + (row * CHANNELS + c) * 5;
        for (guint p = 0; p < 4; p++) {
          const complex double value = expected[p] * turn;
          g_assert_cmpfloat(cabs(found[p] - (round ? conj(value) : value)), <=, 1e-6);
        }
        g_assert_cmpfloat(cabs(found[4] - depth), <=, 1e-6);
      }
    }
  g_assert_cmpuint(turned, >, 0);
  g_assert_cmpuint(turned, <, 6);
  g_assert_true(prepares->totals(prepare, &counts, &sums, &error));
  g_assert_cmpuint(counts->used, ==, 6 * CHANNELS * 5);
  for (guint c = 0; c < CHANNELS; c++)
    g_assert_cmpfloat(sums[c], ==, 6);
  prepares->destroy(prepare);
}

/* NaN, flags and what lies outside are counted apart, are zero and weigh nothing; counts of samples
 * are weights. */
static void test_left_out(void)
{
  static char *products[] = { "I", "PSF", NULL };
  const AstroLayout counted = { .n_axes = 2,
                                .axes = { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_BASELINE },
                                .extents = { CHANNELS, BASELINES } };
  complex float dump[CHANNELS * BASELINES * 4];
  GstBuffer *buffer = gst_buffer_new();
  AstroValidityMeta *validity = astro_buffer_add_validity(buffer, &counted, 8);
  const AstroGridCounts *counts;
  const double *sums;
  GError *error = NULL;
  AstroGrid grid;
  AstroGridRows rows;
  AstroPrepare *prepare = new_prepare(products, 0, &grid);

  fill_dump(dump, 12);
  dump[4 * 1] = NAN;                   /* XX of stations 1 and 0 */
  dump[4 * 3 + 3] = INFINITY * I;      /* YY of 2 and 0 */
  dump[4 * 4 + 1] = NAN;               /* XY of 2 and 1: no part of I */
  validity->counts[6] = 0;             /* 3 and 0 */
  validity->counts[BASELINES + 7] = 4; /* 3 and 1, the other channel */
  for (guint c = 0; c < CHANNELS; c++)
    validity->counts[c * BASELINES + 8] = 0; /* 3 and 2: no row at all */
  g_assert_true(prepares->add(prepare, dump, validity, &dump_shape, 0, 0, &error));
  g_assert_true(prepares->totals(prepare, &counts, &sums, &error));
  prepares->rows(prepare, &rows);
  g_assert_cmpuint(rows.rows, ==, 5);
  g_assert_cmpuint(counts->not_finite, ==, 2 * 2);
  g_assert_cmpuint(counts->flagged, ==, 2 * 3);
  g_assert_cmpuint(counts->outside, ==, 0);
  g_assert_cmpuint(counts->used, ==, 2 * 7);
  g_assert_cmpfloat(sums[0], ==, 2);
  g_assert_cmpfloat(sums[1], ==, 4.5);
  for (gsize i = 0; i < rows.rows * CHANNELS; i++) {
    const complex double *value = (const complex double *)rows.values + 2 * i;
    g_assert_true(isfinite(creal(value[0])) && isfinite(cimag(value[0])));
    g_assert_true((value[1] == 0) == (value[0] == 0));
  }
  prepares->add_missing(prepare);
  g_assert_cmpuint(counts->flagged, ==, 2 * 3 + 2 * 12);
  prepares->destroy(prepare);

  /* A cell so small that the grid ends within the longest baselines. */
  prepare = new_prepare(products, 0, &grid);
  AstroGrid small = grid;
  small.cell = 6;
  prepares->destroy(prepare);
  g_autoptr(AstroObservation) observation = observe();
  prepare = prepares->create(&prepare_config, &small, observation, NULL, &error);
  fill_dump(dump, 13);
  g_assert_true(prepares->add(prepare, dump, NULL, &dump_shape, 0, 0, &error));
  g_assert_true(prepares->totals(prepare, &counts, &sums, &error));
  g_assert_cmpuint(counts->outside, >, 0);
  g_assert_cmpuint(counts->used, >, 0);
  g_assert_cmpuint(counts->outside + counts->used, ==, 2 * 12);
  prepares->destroy(prepare);
  gst_buffer_unref(buffer);
}

static void break_positions(AstroObservation *o, AstroPrepareConfig *config)
{
  for (guint i = 0; i < 3 * STATIONS; i++)
    o->positions[i] /= 1e5;
}
static void break_centre(AstroObservation *o, AstroPrepareConfig *config)
{
  o->has_phase_centre = FALSE;
}
static void break_start(AstroObservation *o, AstroPrepareConfig *config)
{
  o->has_start = FALSE;
}
static void break_baselines(AstroObservation *o, AstroPrepareConfig *config)
{
  config->baselines = 11;
}
static void break_frequency(AstroObservation *o, AstroPrepareConfig *config)
{
  config->frequency = 0;
}
static void break_bandwidth(AstroObservation *o, AstroPrepareConfig *config)
{
  config->bandwidth = 0;
}
static void break_basis(AstroObservation *o, AstroPrepareConfig *config)
{
  g_free(o->basis);
  o->basis = g_strdup("circular");
}

static void test_unprepared(void)
{
  static const struct {
    void (*break_it)(AstroObservation *, AstroPrepareConfig *);
    const char *says;
  } cases[] = {
    { break_positions, "geocentric" }, { break_centre, "phase centre" },
    { break_start, "start" },          { break_baselines, "baselines" },
    { break_frequency, "frequency" },  { break_bandwidth, "bandwidth" },
    { break_basis, "circular" },
  };
  static char *products[] = { "XX", NULL };
  AstroGrid grid = {
    .image_size = 32, .size = 64, .pixel = 1e-3, .cell = 15, .products = products
  };
  GError *error = NULL;
  g_assert_null(prepares->create(&prepare_config, &grid, NULL, NULL, &error));
  g_assert_nonnull(strstr(error->message, "observation"));
  g_clear_error(&error);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(AstroObservation) observation = observe();
    AstroPrepareConfig config = prepare_config;
    cases[i].break_it(observation, &config);
    g_assert_null(prepares->create(&config, &grid, observation, NULL, &error));
    g_assert_nonnull(strstr(error->message, cases[i].says));
    g_clear_error(&error);
  }
}

/* Three visibilities in a cell and one alone. */
static void test_weights(void)
{
  const double uvw[] = { 100, 50, 5, 100.1, 50.1, 3, -100.05, -50.02, 4, 20, -30, 1 };
  const double wavenumber = 1;
  const float weights[] = { 1, 2, 1, 3 };
  AstroGrid grid = { .image_size = 64, .pixel = 1 / 320.0 };
  GError *error = NULL;
  for (AstroWeighting weighting = 0; weighting <= ASTRO_WEIGHTING_BRIGGS; weighting++) {
    double values[] = { 1, 0, 0, 2, 1, 0, 3, 0 }, sum = 10;
    float factors[] = { 1, 1, 1, 1 };
    AstroGridRows rows = { 4, 1, 1, TRUE, uvw, &wavenumber, values };
    AstroWeights w = { weighting, 0, FALSE, &grid, weights, factors, values, &sum };
    for (guint again = 0; again < 2; again++)
      g_assert_true(astro_weights_apply(&w, &rows, &error));
    /* sum of squares over that of weights, both halves of the plane: 2 (16 + 9) / (2 x 7) */
    const double f2 = 25 / (50.0 / 14);
    const double dense[] = { 1, 1 / 4.0, 1 / (1 + 4 * f2) };
    const double alone[] = { 1, 1 / 3.0, 1 / (1 + 3 * f2) };
    if (weighting == ASTRO_WEIGHTING_NATURAL) {
      g_assert_cmpfloat(sum, ==, 10);
      continue;
    }
    g_assert_cmpfloat_with_epsilon(sum, 4 * dense[weighting] + 3 * alone[weighting], 1e-6);
    g_assert_cmpfloat_with_epsilon(values[3], 2 * dense[weighting], 1e-6);
    g_assert_cmpfloat_with_epsilon(values[6], 3 * alone[weighting], 1e-6);
  }
}

static void add_tests(void)
{
  g_test_add_data_func("/gridder/wstacking/accuracy", NULL, test_accuracy);
  g_test_add_data_func("/gridder/wstacking/accuracy/cuda", "device", test_accuracy);
  g_test_add_func("/gridder/wstacking/large", test_large);
  g_test_add_func("/gridder/wstacking/variants", test_variants);
  g_test_add_func("/gridder/wstacking/threads", test_threads);
  g_test_add_func("/gridder/wstacking/touched", test_touched);
  g_test_add_data_func("/gridder/wstacking/order", NULL, test_order);
  g_test_add_data_func("/gridder/wstacking/order/cuda", "device", test_order);
  g_test_add_data_func("/gridder/wstacking/adjoint", NULL, test_adjoint);
  g_test_add_data_func("/gridder/wstacking/adjoint/cuda", "device", test_adjoint);
  g_test_add_data_func("/gridder/wstacking/flat", NULL, test_flat);
  g_test_add_data_func("/gridder/wstacking/flat/cuda", "device", test_flat);
  g_test_add_func("/gridder/wstacking/variants/cuda", test_device_variants);
  g_test_add_func("/gridder/wstacking/places/cuda", test_device_places);
  g_test_add_func("/gridder/wstacking/again/cuda", test_device_again);
  g_test_add_func("/gridder/wstacking/touched/cuda", test_device_touched);
  g_test_add_func("/gridder/wstacking/refused", test_refused);
  g_test_add_func("/gridder/direct", test_direct);
  g_test_add_func("/gridder/direct/cuda", test_direct_on_device);
  g_test_add_func("/gridder/sizes", test_sizes);
  g_test_add_func("/gridder/prepare", test_prepare);
  g_test_add_func("/gridder/left-out", test_left_out);
  g_test_add_func("/gridder/unprepared", test_unprepared);
  g_test_add_func("/gridder/weights", test_weights);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
