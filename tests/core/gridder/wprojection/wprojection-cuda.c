/* W-projection on devices, CUDA's and OpenCL's, against the formula, with tables that are built. */
#include "tests/core/gridder/gridding-on-device.h"
#include "tests/core/gridder/wprojection/wprojection.h"

typedef struct {
  TestCase c;
  guint grids; /* channels, each on one */
  guint64 rows;
  guint planes; /* 0: supports that differ from plane to plane, of at most that */
  gboolean deterministic;
  double centre_l, centre_m;
} DeviceCase;

typedef struct {
  AstroGrid grid;
  AstroGriddingConfig config;
  AstroTaps *taps;
  AstroWProjectionConfig own;
} DeviceSetting;

static void set_device_case(DeviceSetting *s, const DeviceCase *d)
{
  static const char *names[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i" };
  g_autoptr(GError) error = NULL;
  const TestCase *c = &d->c;
  const double cell = 2.5;
  *s = (DeviceSetting){
    .grid = { .size = c->size,
              .image_size = c->size * 2 / 3,
              .cell = cell,
              .pixel = 1 / (c->size * cell),
              .centre_l = d->centre_l,
              .centre_m = d->centre_m,
              .products = g_new0(char *, c->products + 1),
              .spread = { .kind = ASTRO_SPREAD_KAISER_BESSEL,
                          .support = c->support,
                          .beta = 8,
                          .oversampling = c->oversampling,
                          .interpolated = c->interpolated } },
    .config = { .is_double = c->is_double,
                .deterministic = d->deterministic,
                .channels = d->grids,
                .longest = 25, /* less than some w */
                .accuracy = 3e-2,
                .support = d->planes ? c->support : 0,
                .w_planes = d->planes ? d->planes : 12 },
  };
  for (guint i = 0; i < c->products; i++)
    s->grid.products[i] = g_strdup(names[i]);
  const AstroTapsConfig config = astro_wprojection_taps(&s->config, &s->grid);
  s->taps = astro_taps_build(&config, &error);
  g_assert_no_error(error);
  s->own = (AstroWProjectionConfig){ s->taps, c->size, cell, c->products, 0, 0 };
}

static void clear_device_case(DeviceSetting *s)
{
  astro_taps_free(s->taps);
  astro_grid_clear(&s->grid);
}

/* Rows in two parts, onto a grid that held garbage. */
static void grid_on_device(const DeviceSetting *s, const AstroGridRows *rows, gpointer grid)
{
  g_autoptr(GError) error = NULL;
  TestGridding device;
  AstroGridRows first = *rows, second = *rows;
  first.rows = rows->rows / 3;
  second.rows -= first.rows;
  second.uvw += 3 * first.rows;
  second.values = (const guint8 *)rows->values +
                  first.rows * rows->channels * rows->products * (rows->is_double ? 16 : 8);
  memset(grid, 0xff,
         (gsize)s->own.size * s->own.size * s->own.products * s->config.channels *
             (rows->is_double ? 16 : 8));
  gboolean ok = test_gridding_new(&device, &astro_wprojection, &s->config, &s->grid, &error);
  g_assert_no_error(error);
  g_assert_true(ok);
  g_assert_true(g_str_has_suffix(device.variant, "-deterministic") == s->config.deterministic);
  g_assert_true(test_gridding_submit(&device, &first, TRUE, grid, &error));
  g_assert_true(test_gridding_submit(&device, &second, FALSE, grid, &error));
  test_gridding_free(&device);
}

/* Caps on CUDA's kernels: none, then those that any device has. */
static const char *const device_levels[] = { NULL, "teams" };
#define N_LEVELS (test_gridding_kind == ASTRO_BACKEND_CUDA ? G_N_ELEMENTS(device_levels) : 1)

static void check_on_device(const DeviceCase *d, guint32 seed)
{
  const TestCase *c = &d->c;
  GRand *rand = g_rand_new_with_seed(seed);
  const guint channels = d->grids > 1 ? d->grids : 5;
  const gsize cells = (gsize)c->size * c->size * c->products, length = cells * d->grids;
  const gsize bytes = length * 2 * (c->is_double ? sizeof(double) : sizeof(float));
  DeviceSetting s;
  TestRows rows;

  set_device_case(&s, d);
  test_random_rows(&rows, rand, d->rows, channels, c->products, c->is_double,
                   s.own.cell * ((c->size - c->support) / 2.0 + 2), 27);
  Complex *expected = g_new0(Complex, length);
  for (guint i = 0; i < d->grids; i++)
    astro_wprojection_reference(&s.own, &rows.rows, i, d->grids > 1 ? 1 : channels,
                                (double *)(expected + i * cells));
  gpointer found = test_alloc(bytes), again = test_alloc(bytes);
  for (guint i = 0; i < N_LEVELS; i++) {
    if (device_levels[i])
      g_setenv("ASTRO_CUDA", device_levels[i], TRUE);
    grid_on_device(&s, &rows.rows, found);
    double error = test_relative_error(found, c->is_double, expected, NULL, length);
    g_test_message("support %u, %u products, oversampling %u%s%s%s%s, %u grids: error %g",
                   c->support, c->products, c->oversampling,
                   c->interpolated ? ", interpolated" : "", c->is_double ? ", double" : "",
                   d->deterministic ? ", deterministic" : "", device_levels[i] ? ", teams" : "",
                   d->grids, error);
    g_assert_cmpfloat(error, <=, c->is_double ? 1e-12 : 1e-5);
    test_check_guard(found, bytes);
    if (d->deterministic) {
      grid_on_device(&s, &rows.rows, again);
      g_assert_cmpmem(found, bytes, again, bytes);
    }
    g_unsetenv("ASTRO_CUDA");
  }
  test_free(again);
  test_free(found);
  g_free(expected);
  test_clear_rows(&rows);
  clear_device_case(&s);
  g_rand_free(rand);
}

static guint64 few_rows(guint support)
{
  return support > 100 ? 40 : support > 40 ? 100 : 500;
}

static void test_device_supports(gconstpointer on_device)
{
  if (!test_gridding_there(on_device))
    return;
  /* An OpenCL device may be the CPU, and gets a part of them. */
  const guint step = test_gridding_kind == ASTRO_BACKEND_OPENCL ? 2 : 1;
  for (guint i = 0; i < G_N_ELEMENTS(test_supported); i += step)
    for (guint k = 0; k < 2; k++) {
      check_on_device(&(DeviceCase){ test_case_of(i, k), 1, few_rows(test_supported[i]), 3,
                                     (i + k) % 3 == 0, 0.02 * (i % 4), -0.03 * k },
                      2 * i + k);
    }
}

static void test_device_products(gconstpointer on_device)
{
  if (!test_gridding_there(on_device))
    return;
  for (guint products = 1; products <= 9; products++)
    for (guint k = 0; k < 2; k++)
      check_on_device(&(DeviceCase){ { 11, products, 4, 64, FALSE, k }, 1, 300, 4, k, 0.05, 0 },
                      products);
}

static void test_device_oversampling(gconstpointer on_device)
{
  static const guint oversampling[] = { 1, 2, 3, 7, 16, 64 };
  if (!test_gridding_there(on_device))
    return;
  for (guint i = 0; i < G_N_ELEMENTS(oversampling); i++)
    for (guint k = 0; k < 2; k++)
      check_on_device(
          &(DeviceCase){ { 9 + i, 1, oversampling[i], 96, FALSE, k }, 1, 700, 2, i & 1, 0, 0.1 },
          i);
}

static void test_device_interpolated(gconstpointer on_device)
{
  static const guint supports[] = { 4, 7, 16, 25, 40 };
  if (!test_gridding_there(on_device))
    return;
  for (guint i = 0; i < G_N_ELEMENTS(supports); i++)
    for (guint k = 0; k < 2; k++)
      check_on_device(
          &(DeviceCase){
              { supports[i], 1 + i % 4, 3, 128, TRUE, k }, 1, 400, 5, (i + k) % 2, 0.01 * i, 0 },
          i);
}

/* Supports that differ from plane to plane, narrow grids, a grid for each channel. */
static void test_device_odd(gconstpointer on_device)
{
  if (!test_gridding_there(on_device))
    return;
  check_on_device(&(DeviceCase){ { 24, 2, 4, 96, FALSE, FALSE }, 1, 500, 0, FALSE, 0, 0 }, 1);
  check_on_device(&(DeviceCase){ { 24, 1, 4, 96, FALSE, TRUE }, 1, 500, 0, TRUE, 0.05, 0 }, 2);
  check_on_device(&(DeviceCase){ { 16, 4, 8, 16, FALSE, FALSE }, 1, 500, 3, FALSE, 0, 0 }, 3);
  check_on_device(&(DeviceCase){ { 4, 1, 8, 8, FALSE, FALSE }, 1, 500, 3, FALSE, 0, 0 }, 4);
  check_on_device(&(DeviceCase){ { 12, 3, 8, 64, FALSE, FALSE }, 7, 200, 3, FALSE, 0, 0 }, 5);
  check_on_device(&(DeviceCase){ { 12, 2, 4, 64, TRUE, TRUE }, 40, 60, 3, TRUE, 0, 0.05 }, 6);
  check_on_device(&(DeviceCase){ { 12, 4, 8, 64, FALSE, FALSE }, 1, 6, 3, FALSE, 0, 0 }, 7);
}

/* More than wait or are sorted at once, and many of one place. */
static void test_device_many(gconstpointer on_device)
{
  if (!test_gridding_there(on_device))
    return;
  check_on_device(&(DeviceCase){ { 4, 1, 1, 32, FALSE, TRUE }, 1, 220000, 1, FALSE, 0, 0 }, 4);
  if (test_gridding_kind == ASTRO_BACKEND_OPENCL) /* which may be the CPU */
    return;
  check_on_device(&(DeviceCase){ { 6, 1, 8, 512, FALSE, FALSE }, 1, 900000, 3, FALSE, 0, 0 }, 1);
  check_on_device(&(DeviceCase){ { 5, 2, 8, 512, FALSE, FALSE }, 1, 500000, 3, TRUE, 0.02, 0 }, 2);
  check_on_device(&(DeviceCase){ { 4, 1, 1, 8, FALSE, TRUE }, 1, 200000, 1, FALSE, 0, 0 }, 3);
}

/* Visibilities outside the grid do no harm. */
static void test_device_outside(gconstpointer on_device)
{
  static const double uvw[][3] = { { NAN, 0, 0 }, { 0, INFINITY, 0 }, { 1e300, 0, 0 },
                                   { 0, 0, 1e9 }, { 0, 0, NAN },      { -40, 0, 0 },
                                   { 37, 0, 0 },  { 0, -40, 0 },      { 0, 37, 0 },
                                   { 1e9, 0, 0 }, { 5, 5, 1 },        { 0, 0, -3 } };
  const DeviceCase d = { { 8, 1, 4, 32, FALSE, TRUE }, 1, G_N_ELEMENTS(uvw), 2, FALSE, 0, 0 };
  const double wavenumber = 1;
  Complex values[G_N_ELEMENTS(uvw)], found[32 * 32], expected[32 * 32] = { 0 };
  DeviceSetting s;
  if (!test_gridding_there(on_device))
    return;
  for (guint i = 0; i < G_N_ELEMENTS(uvw); i++)
    values[i] = 1 + i * I;
  AstroGridRows rows = { G_N_ELEMENTS(uvw), 1, 1, TRUE, uvw[0], &wavenumber, values };
  set_device_case(&s, &d);
  g_assert_cmpuint(astro_wprojection_reference(&s.own, &rows, 0, 1, (double *)expected), ==,
                   G_N_ELEMENTS(uvw) - 1);
  gpointer grid = test_alloc(sizeof found);
  grid_on_device(&s, &rows, grid);
  g_assert_cmpfloat(test_relative_error(grid, TRUE, expected, NULL, 32 * 32), <=, 1e-12);
  test_check_guard(grid, sizeof found);
  test_free(grid);
  clear_device_case(&s);
}

/* Tables that no device holds: refused before they are built. */
static void test_device_refused(gconstpointer on_device)
{
  g_autoptr(GError) error = NULL;
  const DeviceCase d = { { 8, 1, 8, 512, FALSE, TRUE }, 1, 1, 2, FALSE, 0, 0 };
  TestGridding device;
  DeviceSetting s;
  if (!test_gridding_there(on_device))
    return;
  set_device_case(&s, &d);
  s.config.support = s.grid.spread.support = 256;
  s.grid.spread.oversampling = 32;
  s.config.w_planes = 4000;
  g_assert_false(test_gridding_new(&device, &astro_wprojection, &s.config, &s.grid, &error));
  g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY);
  g_test_message("%s", error->message);
  clear_device_case(&s);
}

static void add_tests(void)
{
  g_test_add_data_func("/wprojection/cuda/supports", "cuda", test_device_supports);
  g_test_add_data_func("/wprojection/opencl/supports", "opencl", test_device_supports);
  g_test_add_data_func("/wprojection/cuda/products", "cuda", test_device_products);
  g_test_add_data_func("/wprojection/opencl/products", "opencl", test_device_products);
  g_test_add_data_func("/wprojection/cuda/oversampling", "cuda", test_device_oversampling);
  g_test_add_data_func("/wprojection/opencl/oversampling", "opencl", test_device_oversampling);
  g_test_add_data_func("/wprojection/cuda/interpolated", "cuda", test_device_interpolated);
  g_test_add_data_func("/wprojection/opencl/interpolated", "opencl", test_device_interpolated);
  g_test_add_data_func("/wprojection/cuda/odd", "cuda", test_device_odd);
  g_test_add_data_func("/wprojection/opencl/odd", "opencl", test_device_odd);
  g_test_add_data_func("/wprojection/cuda/many", "cuda", test_device_many);
  g_test_add_data_func("/wprojection/opencl/many", "opencl", test_device_many);
  g_test_add_data_func("/wprojection/cuda/outside", "cuda", test_device_outside);
  g_test_add_data_func("/wprojection/opencl/outside", "opencl", test_device_outside);
  g_test_add_data_func("/wprojection/cuda/refused", "cuda", test_device_refused);
  g_test_add_data_func("/wprojection/opencl/refused", "opencl", test_device_refused);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
