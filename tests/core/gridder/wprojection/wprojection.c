/* W-projection against its formula, with tables of random taps; its tapers, and what is refused. */
#include "tests/core/gridder/wprojection/wprojection.h"
#include "core/gridder/wprojection/places.h"
#include "core/lib/spread/taper.h"

static const char *const levels[] = { "c", "avx2", "avx512" };

/* Complex taps with no symmetry at all. */
static AstroTaps *random_taps(GRand *rand, guint oversampling, guint n_planes,
                              const guint *supports, gboolean interpolated, gboolean is_double)
{
  g_autoptr(GError) error = NULL;
  AstroTaps *taps = astro_taps_new(oversampling, n_planes, supports, is_double, &error);
  g_assert_no_error(error);
  taps->interpolated = interpolated;
  taps->w_step = 10;
  taps->u_per_w = 0.1;
  taps->v_per_w = -0.2;
  taps->turns_per_w = 0.03;
  for (guint plane = 0; plane < n_planes; plane++)
    for (guint set = 0; set < oversampling * oversampling; set++)
      for (guint y = 0; y < supports[plane]; y++)
        for (guint x = 0; x < supports[plane]; x++)
          test_put(taps->planes[plane].taps,
                   astro_taps_offset(taps, plane, set / oversampling, set % oversampling) +
                       (gsize)y * taps->planes[plane].stride + x,
                   is_double, test_uniform(rand) + I * test_uniform(rand));
  return taps;
}

static AstroWProjection *new_gridder(const AstroWProjectionConfig *config)
{
  g_autoptr(GError) error = NULL;
  AstroWProjection *gridder = astro_wprojection_new(config, &error);
  g_assert_no_error(error);
  return gridder;
}

/* Grids rows in parts onto what is in grid already. */
static AstroWProjectionCounts grid_in_parts(const AstroWProjectionConfig *config,
                                            const AstroGridRows *rows, guint64 part, gpointer grid)
{
  AstroWProjection *gridder = new_gridder(config);
  AstroWProjectionCounts counts;
  const gsize of_row = (gsize)rows->channels * rows->products * 2 *
                       (rows->is_double ? sizeof(double) : sizeof(float));
  for (guint64 from = 0; from < rows->rows; from += part) {
    AstroGridRows some = *rows;
    some.rows = MIN(part, rows->rows - from);
    some.uvw += 3 * from;
    some.values = (const guint8 *)some.values + from * of_row;
    astro_wprojection_add(gridder, &some, 0, rows->channels, grid);
  }
  astro_wprojection_flush(gridder, grid);
  astro_wprojection_counts(gridder, &counts);
  astro_wprojection_free(gridder);
  return counts;
}

static void check_case(const TestCase *c, guint32 seed)
{
  GRand *rand = g_rand_new_with_seed(seed);
  const guint supports[3] = { c->support, MAX(c->support - 1, 4), c->support };
  const guint64 n_rows = c->support > 100 ? 30 : c->support > 40 ? 80 : 400;
  const gsize length = (gsize)c->size * c->size * c->products;
  const gsize bytes = length * 2 * (c->is_double ? sizeof(double) : sizeof(float));
  AstroTaps *taps = random_taps(rand, c->oversampling, 3, supports, c->interpolated, c->is_double);
  const double cell = 2.5, reach = cell * ((c->size - c->support) / 2.0 + 2);
  TestRows rows;
  AstroWProjectionConfig config = { taps, c->size, cell, c->products, 0, 0 };
  Complex *expected = g_new(Complex, length), *origin = g_new(Complex, length);

  test_random_rows(&rows, rand, n_rows, 5, c->products, c->is_double, reach,
                   c->interpolated ? 22 : 27);
  for (gsize i = 0; i < length; i++)
    origin[i] = expected[i] = (float)test_uniform(rand);
  guint64 outside = astro_wprojection_reference(&config, &rows.rows, 0, 5, (double *)expected);
  for (guint level = 0; level < G_N_ELEMENTS(levels); level++) {
    gpointer grid = test_alloc(bytes);
    g_setenv("ASTRO_CPU", levels[level], TRUE);
    for (gsize i = 0; i < length; i++)
      test_put(grid, i, c->is_double, origin[i]);
    AstroWProjectionCounts counts = grid_in_parts(&config, &rows.rows, 37, grid);
    double found = test_relative_error(grid, c->is_double, expected, origin, length);
    if (!(found <= (c->is_double ? 1e-12 : 1e-5)))
      g_error("%s: support %u, %u products, oversampling %u%s%s: error %g", levels[level],
              c->support, c->products, c->oversampling, c->interpolated ? ", interpolated" : "",
              c->is_double ? ", double" : "", found);
    g_assert_cmpuint(counts.outside, ==, outside);
    g_assert_cmpuint(counts.gridded, >, 0);
    test_check_guard(grid, bytes);
    test_free(grid);
  }
  g_unsetenv("ASTRO_CPU");
  test_clear_rows(&rows);
  astro_taps_free(taps);
  g_free(expected);
  g_free(origin);
  g_rand_free(rand);
}

static void test_supports(void)
{
  for (guint i = 0; i < G_N_ELEMENTS(test_supported); i++)
    for (guint k = 0; k < 2; k++) {
      const TestCase c = test_case_of(i, k);
      check_case(&c, 2 * i + k);
    }
}

static void test_products(void)
{
  for (guint products = 1; products <= 9; products++)
    for (guint k = 0; k < 2; k++)
      check_case(&(TestCase){ 11, products, 4, 64, FALSE, k }, products);
}

static void test_interpolated(void)
{
  static const guint supports[] = { 4, 7, 16, 25, 40 };
  for (guint i = 0; i < G_N_ELEMENTS(supports); i++)
    for (guint k = 0; k < 2; k++)
      check_case(&(TestCase){ supports[i], 1 + i % 4, 3, 128, TRUE, k }, i);
}

/* A grid no wider than a window, and supports that begin in the first and end in the last cell. */
static void test_narrow(void)
{
  check_case(&(TestCase){ 16, 4, 8, 16, FALSE, FALSE }, 1);
  check_case(&(TestCase){ 13, 1, 8, 16, FALSE, TRUE }, 2);
  check_case(&(TestCase){ 32, 2, 4, 34, FALSE, FALSE }, 3);
}

/* The grid's bits do not depend on the number of threads; its values, to rounding, neither on how
 * rows come nor on how few wait. */
static void test_same(void)
{
  GRand *rand = g_rand_new_with_seed(5);
  const guint supports[] = { 6, 8, 12, 16 };
  AstroTaps *taps = random_taps(rand, 8, 4, supports, FALSE, FALSE);
  const gsize length = 256 * 256 * 4, bytes = length * sizeof(float complex);
  AstroWProjectionConfig config = { taps, 256, 1, 4, 0, 0 };
  TestRows rows;
  float complex *one = g_malloc0(bytes), *two = g_malloc0(bytes), *few = g_malloc0(bytes);
  Complex *exact = g_new0(Complex, length);

  test_random_rows(&rows, rand, 20000, 8, 4, FALSE, 130, 34);
  config.threads = 1;
  AstroWProjectionCounts counts = grid_in_parts(&config, &rows.rows, G_MAXUINT32, one);
  config.threads = 0;
  grid_in_parts(&config, &rows.rows, G_MAXUINT32, two);
  g_assert_cmpmem(one, bytes, two, bytes);
  g_assert_cmpuint(counts.spread, <, counts.gridded); /* neighbours were added up */

  config.memory = 1;
  AstroWProjectionCounts again = grid_in_parts(&config, &rows.rows, 123, few);
  g_assert_cmpuint(again.gridded, ==, counts.gridded);
  g_assert_cmpuint(again.outside, ==, counts.outside);
  for (gsize i = 0; i < length; i++)
    exact[i] = one[i];
  g_assert_cmpfloat(test_relative_error(few, FALSE, exact, NULL, length), <=, 1e-5);
  test_clear_rows(&rows);
  astro_taps_free(taps);
  g_free(one);
  g_free(two);
  g_free(few);
  g_free(exact);
  g_rand_free(rand);
}

/* Visibilities outside the grid are counted and do no harm; zeros are not counted. */
static void test_outside(void)
{
  GRand *rand = g_rand_new_with_seed(6);
  const guint supports[] = { 8 };
  AstroTaps *taps = random_taps(rand, 4, 1, supports, FALSE, TRUE);
  taps->u_per_w = taps->v_per_w = 0;
  AstroWProjectionConfig config = { taps, 32, 1, 1, 0, 0 };
  double uvw[][3] = { { NAN, 0, 0 },   { 0, INFINITY, 0 }, { 1e300, 0, 0 }, { 0, 0, 1e9 },
                      { 0, 0, NAN },   { 0, 0, 6 },        { -12.9, 0, 0 }, { 12.2, 0, 0 },
                      { 0, -12.9, 0 }, { 0, 12.2, 0 },     { -12, 12, 0 },  { 1e9, 0, 0 } };
  double wavenumber = 1;
  Complex values[G_N_ELEMENTS(uvw)], *grid = g_new0(Complex, 32 * 32);
  for (guint i = 0; i < G_N_ELEMENTS(uvw); i++)
    values[i] = i + 1 < G_N_ELEMENTS(uvw) ? 1 : 0;
  AstroGridRows rows = { G_N_ELEMENTS(uvw), 1, 1, TRUE, uvw[0], &wavenumber, values };
  AstroWProjectionCounts counts = grid_in_parts(&config, &rows, 100, grid);
  g_assert_cmpuint(counts.gridded, ==, 1);
  g_assert_cmpuint(counts.outside, ==, 10);
  astro_taps_free(taps);
  g_free(grid);
  g_rand_free(rand);
}

/* <gridded v, g> = <v, degridded g>, with the degridding written out here. */
static void test_adjoint(void)
{
  GRand *rand = g_rand_new_with_seed(7);
  const guint supports[] = { 7, 8, 10 }, size = 96;
  AstroTaps *taps = random_taps(rand, 8, 3, supports, FALSE, TRUE);
  AstroWProjectionConfig config = { taps, size, 1, 1, 0, 0 };
  Complex *grid = g_new0(Complex, size * size), *other = g_new(Complex, size * size);
  Complex left = 0, right = 0;
  double scale = 0;
  TestRows rows;

  test_random_rows(&rows, rand, 500, 3, 1, TRUE, 40, 24);
  for (guint i = 0; i < size * size; i++)
    other[i] = test_uniform(rand) + I * test_uniform(rand);
  grid_in_parts(&config, &rows.rows, 100, grid);
  for (guint i = 0; i < size * size; i++) {
    left += grid[i] * conj(other[i]);
    scale += cabs(grid[i]) * cabs(other[i]);
  }
  for (guint64 row = 0; row < rows.rows.rows; row++)
    for (guint channel = 0; channel < 3; channel++) {
      AstroTapsLine line = astro_taps_line(&config, rows.uvw + 3 * row);
      AstroTapsPoint point;
      AstroTapsPlace u, v;
      double none[3];
      Complex degridded = 0;
      if (!astro_taps_point(&line, rows.wavenumbers[channel], FALSE, &point, none) ||
          !astro_taps_inside(&config, &point, &u, &v))
        continue;
      const AstroTapsPlane *plane = &taps->planes[point.plane];
      for (guint y = 0; y < plane->support; y++)
        for (guint x = 0; x < plane->support; x++)
          degridded +=
              other[(v.cell + y) * size + u.cell + x] *
              conj(((Complex *)plane->taps)[astro_taps_offset(taps, point.plane, v.set, u.set) +
                                            y * plane->stride + x]);
      degridded *= cexp(2 * G_PI * I * line.turns * rows.wavenumbers[channel]);
      right += ((Complex *)rows.values)[row * 3 + channel] * conj(degridded);
    }
  g_assert_cmpfloat(cabs(left - right), <=, 1e-12 * scale);
  g_assert_cmpfloat(cabs(left), >, 1e-3);
  test_clear_rows(&rows);
  astro_taps_free(taps);
  g_free(grid);
  g_free(other);
  g_rand_free(rand);
}

static void test_tapers(void)
{
  for (AstroSpreadKind kind = ASTRO_SPREAD_KAISER_BESSEL; kind <= ASTRO_SPREAD_SPHEROIDAL; kind++) {
    g_assert_cmpfloat(fabs(astro_taper(kind, 9, 0) - 1), <, 1e-14);
    g_assert_cmpfloat(astro_taper(kind, 9, 0.51), ==, 0);
    for (double x = 0; x < 0.5; x += 0.01) {
      g_assert_cmpfloat(astro_taper(kind, 9, x + 0.01), <, astro_taper(kind, 9, x));
      g_assert_cmpfloat(fabs(astro_taper(kind, 9, -x) - astro_taper(kind, 9, x)), <, 1e-14);
    }
  }
  /* Its own transform, as only the spheroidal function is: to a factor, psi(2x) at x = t is the
   * integral of psi(2x) cos(4 beta x t) dx. */
  double factor = 0;
  for (double t = 0; t <= 0.4; t += 0.1) {
    double integral = 0, beta = 9;
    for (guint i = 0; i < 4000; i++) {
      double x = (i + 0.5) / 4000 - 0.5;
      integral += astro_taper(ASTRO_SPREAD_SPHEROIDAL, beta, x) * cos(4 * beta * x * t) / 4000;
    }
    if (t == 0)
      factor = integral;
    g_assert_cmpfloat(fabs(integral / factor - astro_taper(ASTRO_SPREAD_SPHEROIDAL, beta, t)), <,
                      1e-6);
  }
}

/* An image that lies so far off the phase centre that w moves visibilities out of any grid of its
 * size: a grid that holds none must not seem to hold all. */
static void test_far_off_centre(void)
{
  g_autoptr(GError) error = NULL;
  const AstroGriddingConfig config = { .channels = 1, .longest = 1700, .oversampling = 8 };
  const double centres[] = { 0, 0.3, 0.7 };
  for (guint i = 0; i < G_N_ELEMENTS(centres); i++) {
    AstroGrid grid = { .image_size = 96,
                       .pixel = 50 * G_PI / 180 / 3600,
                       .centre_l = centres[i],
                       .centre_m = -centres[i] * 0.8 };
    g_assert_cmpint(astro_wprojection.choose(&config, &grid, &error), ==, i < 2);
    if (i < 2)
      g_assert_cmpfloat(astro_grid_reach(&grid), <, (grid.size - 4) / 2.0 * grid.cell);
  }
  g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
}

static void test_refused(void)
{
  g_autoptr(GError) error = NULL;
  const guint supports[] = { 256, 256 };
  g_autoptr(AstroTaps) taps = astro_taps_new(2, 2, supports, FALSE, &error);
  AstroWProjectionConfig config = { taps, 200, 1, 1, 0, 0 };
  g_assert_no_error(error);
  g_assert_null(astro_wprojection_new(&config, &error));
  g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
  g_clear_error(&error);

  g_autofree guint *many = g_new(guint, 4096);
  for (guint i = 0; i < 4096; i++)
    many[i] = 256;
  g_assert_null(astro_taps_new(32, 4096, many, TRUE, &error));
  g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY);
  g_clear_error(&error);
  g_assert_null(astro_taps_new(64, 4096, many, TRUE, &error));
  g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
}

static void add_tests(void)
{
  g_test_add_func("/wprojection/supports", test_supports);
  g_test_add_func("/wprojection/products", test_products);
  g_test_add_func("/wprojection/interpolated", test_interpolated);
  g_test_add_func("/wprojection/narrow", test_narrow);
  g_test_add_func("/wprojection/same", test_same);
  g_test_add_func("/wprojection/outside", test_outside);
  g_test_add_func("/wprojection/adjoint", test_adjoint);
  g_test_add_func("/wprojection/tapers", test_tapers);
  g_test_add_func("/wprojection/far-off-centre", test_far_off_centre);
  g_test_add_func("/wprojection/refused", test_refused);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
