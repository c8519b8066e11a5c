/* W-projection against its formula, with tables of random taps, and against the direct transform,
 * with tables that are built. */
#include "config.h"
#include "core/backend/threads.h"
#include "core/gridder/wprojection-places.h"
#include "core/gridder/wprojection.h"
#include "tests/core/gridding-on-device.h"
#include "tests/tests.h"

#include <complex.h>
#include <fftw3.h>
#include <math.h>

typedef double complex Complex;

static const char *const levels[] = { "c", "avx2", "avx512" };

static double uniform(GRand *rand)
{
  return g_rand_double_range(rand, -1, 1);
}

static void put(gpointer values, gsize at, gboolean is_double, Complex value)
{
  if (is_double)
    ((Complex *)values)[at] = value;
  else
    ((float complex *)values)[at] = (float complex)value;
}

static Complex get(gconstpointer values, gsize at, gboolean is_double)
{
  return is_double ? ((const Complex *)values)[at] : ((const float complex *)values)[at];
}

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
          put(taps->planes[plane].taps,
              astro_taps_offset(taps, plane, set / oversampling, set % oversampling) +
                  (gsize)y * taps->planes[plane].stride + x,
              is_double, uniform(rand) + I * uniform(rand));
  return taps;
}

typedef struct {
  AstroGridRows rows;
  double *uvw, *wavenumbers;
  gpointer values;
} Rows;

/* Tracks that cross the grid's middle or its border, with channels that move slowly over it. */
static void random_rows(Rows *rows, GRand *rand, guint64 n, guint channels, guint products,
                        gboolean is_double, double reach, double w_max)
{
  gsize length = n * channels * products;
  rows->uvw = g_new(double, 3 * n);
  rows->wavenumbers = g_new(double, channels);
  rows->values = g_malloc(length * 2 * (is_double ? sizeof(double) : sizeof(float)));
  for (guint i = 0; i < channels; i++)
    rows->wavenumbers[i] = 1 + 0.002 * i;
  for (guint64 i = 0; i < n; i++) {
    if (i % 5) {
      for (guint k = 0; k < 3; k++)
        rows->uvw[3 * i + k] = rows->uvw[3 * (i - 1) + k] * (1 + 0.004 * uniform(rand));
    } else {
      rows->uvw[3 * i] = reach * uniform(rand);
      rows->uvw[3 * i + 1] = reach * uniform(rand);
      rows->uvw[3 * i + 2] = w_max * g_rand_double(rand);
    }
    for (guint k = 0; k < channels * products; k++)
      put(rows->values, i * channels * products + k, is_double,
          i % 7 == 3 ? 0 : uniform(rand) + I * uniform(rand));
  }
  rows->rows = (AstroGridRows){ n,         channels,          products,    is_double,
                                rows->uvw, rows->wavenumbers, rows->values };
}

static void clear_rows(Rows *rows)
{
  g_free(rows->uvw);
  g_free(rows->wavenumbers);
  g_free(rows->values);
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

/* |a - b| / |b - origin|, origin NULL: 0. */
static double relative_error(gconstpointer a, gboolean a_is_double, const Complex *b,
                             const Complex *origin, gsize n)
{
  double difference = 0, power = 0;
  for (gsize i = 0; i < n; i++) {
    Complex d = get(a, i, a_is_double) - b[i], p = b[i] - (origin ? origin[i] : 0);
    difference += creal(d * conj(d));
    power += creal(p * conj(p));
  }
  g_assert_cmpfloat(power, >, 0);
  return sqrt(difference / power);
}

typedef struct {
  guint support, products, oversampling, size;
  gboolean interpolated, is_double;
} Case;

static void check_case(const Case *c, guint32 seed)
{
  GRand *rand = g_rand_new_with_seed(seed);
  const guint supports[3] = { c->support, MAX(c->support - 1, 4), c->support };
  const guint64 n_rows = c->support > 100 ? 30 : c->support > 40 ? 80 : 400;
  const gsize length = (gsize)c->size * c->size * c->products;
  const gsize bytes = length * 2 * (c->is_double ? sizeof(double) : sizeof(float));
  AstroTaps *taps = random_taps(rand, c->oversampling, 3, supports, c->interpolated, c->is_double);
  const double cell = 2.5, reach = cell * ((c->size - c->support) / 2.0 + 2);
  Rows rows;
  AstroWProjectionConfig config = { taps, c->size, cell, c->products, 0, 0 };
  Complex *expected = g_new(Complex, length), *origin = g_new(Complex, length);

  random_rows(&rows, rand, n_rows, 5, c->products, c->is_double, reach, c->interpolated ? 22 : 27);
  for (gsize i = 0; i < length; i++)
    origin[i] = expected[i] = (float)uniform(rand);
  guint64 outside = astro_wprojection_reference(&config, &rows.rows, 0, 5, (double *)expected);
  for (guint level = 0; level < G_N_ELEMENTS(levels); level++) {
    gpointer grid = test_alloc(bytes);
    g_setenv("ASTRO_CPU", levels[level], TRUE);
    for (gsize i = 0; i < length; i++)
      put(grid, i, c->is_double, origin[i]);
    AstroWProjectionCounts counts = grid_in_parts(&config, &rows.rows, 37, grid);
    double found = relative_error(grid, c->is_double, expected, origin, length);
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
  clear_rows(&rows);
  astro_taps_free(taps);
  g_free(expected);
  g_free(origin);
  g_rand_free(rand);
}

/* Supports: multiples of the kernels' vectors and neighbours of those. */
static const guint tested[] = { 4,  5,  6,  7,  8,  9,  10, 13, 15,  16,  17,  20,  23, 24,
                                25, 31, 32, 33, 48, 63, 64, 65, 100, 127, 128, 255, 256 };

/* Of the i-th support, in single or double precision. */
static Case case_of(guint i, gboolean is_double)
{
  static const guint products[] = { 4, 1, 2, 3, 5 };
  const guint support = tested[i];
  return (Case){ .support = support,
                 .products = products[(i + (is_double ? 2 : 0)) % 5],
                 .oversampling = support > 64 ? 2 : 5,
                 .size = support + 8 + 4 * (i % 3) + (support > 100 ? 40 : 90),
                 .is_double = is_double };
}

static void test_supports(void)
{
  for (guint i = 0; i < G_N_ELEMENTS(tested); i++)
    for (guint k = 0; k < 2; k++) {
      const Case c = case_of(i, k);
      check_case(&c, 2 * i + k);
    }
}

static void test_products(void)
{
  for (guint products = 1; products <= 9; products++)
    for (guint k = 0; k < 2; k++)
      check_case(&(Case){ 11, products, 4, 64, FALSE, k }, products);
}

static void test_interpolated(void)
{
  static const guint supports[] = { 4, 7, 16, 25, 40 };
  for (guint i = 0; i < G_N_ELEMENTS(supports); i++)
    for (guint k = 0; k < 2; k++)
      check_case(&(Case){ supports[i], 1 + i % 4, 3, 128, TRUE, k }, i);
}

/* A grid no wider than a window, and supports that begin in the first and end in the last cell. */
static void test_narrow(void)
{
  check_case(&(Case){ 16, 4, 8, 16, FALSE, FALSE }, 1);
  check_case(&(Case){ 13, 1, 8, 16, FALSE, TRUE }, 2);
  check_case(&(Case){ 32, 2, 4, 34, FALSE, FALSE }, 3);
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
  Rows rows;
  float complex *one = g_malloc0(bytes), *two = g_malloc0(bytes), *few = g_malloc0(bytes);
  Complex *exact = g_new0(Complex, length);

  random_rows(&rows, rand, 20000, 8, 4, FALSE, 130, 34);
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
  g_assert_cmpfloat(relative_error(few, FALSE, exact, NULL, length), <=, 1e-5);
  clear_rows(&rows);
  astro_taps_free(taps);
  g_free(one);
  g_free(two);
  g_free(few);
  g_free(exact);
  g_rand_free(rand);
}

/* What is not a place on the grid is counted and harms nothing; zeros are not counted. */
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
  Rows rows;

  random_rows(&rows, rand, 500, 3, 1, TRUE, 40, 24);
  for (guint i = 0; i < size * size; i++)
    other[i] = uniform(rand) + I * uniform(rand);
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
  clear_rows(&rows);
  astro_taps_free(taps);
  g_free(grid);
  g_free(other);
  g_rand_free(rand);
}

/* -- on a device -- */

typedef struct {
  Case c;
  guint grids; /* channels, each on one */
  guint64 rows;
  guint planes; /* 0: supports that differ from plane to plane, of at most that */
  gboolean deterministic;
  double centre_l, centre_m;
} DeviceCase;

typedef struct {
  AstroGrid grid;
  AstroGridderConfig config;
  AstroTaps *taps;
  AstroWProjectionConfig own;
} DeviceSetting;

static void set_device_case(DeviceSetting *s, const DeviceCase *d)
{
  static const char *names[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i" };
  g_autoptr(GError) error = NULL;
  const Case *c = &d->c;
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

/* Caps on the kernels chosen: none, then those that any device has. */
static const char *const device_levels[] = { NULL, "teams" };

static void check_on_device(const DeviceCase *d, guint32 seed)
{
  const Case *c = &d->c;
  GRand *rand = g_rand_new_with_seed(seed);
  const guint channels = d->grids > 1 ? d->grids : 5;
  const gsize cells = (gsize)c->size * c->size * c->products, length = cells * d->grids;
  const gsize bytes = length * 2 * (c->is_double ? sizeof(double) : sizeof(float));
  DeviceSetting s;
  Rows rows;

  set_device_case(&s, d);
  random_rows(&rows, rand, d->rows, channels, c->products, c->is_double,
              s.own.cell * ((c->size - c->support) / 2.0 + 2), 27);
  Complex *expected = g_new0(Complex, length);
  for (guint i = 0; i < d->grids; i++)
    astro_wprojection_reference(&s.own, &rows.rows, i, d->grids > 1 ? 1 : channels,
                                (double *)(expected + i * cells));
  gpointer found = test_alloc(bytes), again = test_alloc(bytes);
  for (guint i = 0; i < G_N_ELEMENTS(device_levels); i++) {
    if (device_levels[i])
      g_setenv("ASTRO_CUDA", device_levels[i], TRUE);
    grid_on_device(&s, &rows.rows, found);
    double error = relative_error(found, c->is_double, expected, NULL, length);
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
  clear_rows(&rows);
  clear_device_case(&s);
  g_rand_free(rand);
}

static gboolean skip_without_device(void)
{
  if (test_gridding_there())
    return FALSE;
  g_test_skip("no CUDA device");
  return TRUE;
}

static guint64 few_rows(guint support)
{
  return support > 100 ? 40 : support > 40 ? 100 : 500;
}

static void test_device_supports(void)
{
  if (skip_without_device())
    return;
  for (guint i = 0; i < G_N_ELEMENTS(tested); i++)
    for (guint k = 0; k < 2; k++) {
      check_on_device(&(DeviceCase){ case_of(i, k), 1, few_rows(tested[i]), 3, (i + k) % 3 == 0,
                                     0.02 * (i % 4), -0.03 * k },
                      2 * i + k);
    }
}

static void test_device_products(void)
{
  if (skip_without_device())
    return;
  for (guint products = 1; products <= 9; products++)
    for (guint k = 0; k < 2; k++)
      check_on_device(&(DeviceCase){ { 11, products, 4, 64, FALSE, k }, 1, 300, 4, k, 0.05, 0 },
                      products);
}

static void test_device_oversampling(void)
{
  static const guint oversampling[] = { 1, 2, 3, 7, 16, 64 };
  if (skip_without_device())
    return;
  for (guint i = 0; i < G_N_ELEMENTS(oversampling); i++)
    for (guint k = 0; k < 2; k++)
      check_on_device(
          &(DeviceCase){ { 9 + i, 1, oversampling[i], 96, FALSE, k }, 1, 700, 2, i & 1, 0, 0.1 },
          i);
}

static void test_device_interpolated(void)
{
  static const guint supports[] = { 4, 7, 16, 25, 40 };
  if (skip_without_device())
    return;
  for (guint i = 0; i < G_N_ELEMENTS(supports); i++)
    for (guint k = 0; k < 2; k++)
      check_on_device(
          &(DeviceCase){
              { supports[i], 1 + i % 4, 3, 128, TRUE, k }, 1, 400, 5, (i + k) % 2, 0.01 * i, 0 },
          i);
}

/* Supports that differ from plane to plane, narrow grids, a grid for each channel. */
static void test_device_odd(void)
{
  if (skip_without_device())
    return;
  check_on_device(&(DeviceCase){ { 24, 2, 4, 96, FALSE, FALSE }, 1, 500, 0, FALSE, 0, 0 }, 1);
  check_on_device(&(DeviceCase){ { 24, 1, 4, 96, FALSE, TRUE }, 1, 500, 0, TRUE, 0.05, 0 }, 2);
  check_on_device(&(DeviceCase){ { 16, 4, 8, 16, FALSE, FALSE }, 1, 500, 3, FALSE, 0, 0 }, 3);
  check_on_device(&(DeviceCase){ { 4, 1, 8, 8, FALSE, FALSE }, 1, 500, 3, FALSE, 0, 0 }, 4);
  check_on_device(&(DeviceCase){ { 12, 3, 8, 64, FALSE, FALSE }, 7, 200, 3, FALSE, 0, 0 }, 5);
  check_on_device(&(DeviceCase){ { 12, 2, 4, 64, TRUE, TRUE }, 40, 60, 3, TRUE, 0, 0.05 }, 6);
  check_on_device(&(DeviceCase){ { 12, 4, 8, 64, FALSE, FALSE }, 1, 6, 3, FALSE, 0, 0 }, 7);
}

/* More than wait at once, and many of one place. */
static void test_device_many(void)
{
  if (skip_without_device())
    return;
  check_on_device(&(DeviceCase){ { 6, 1, 8, 512, FALSE, FALSE }, 1, 900000, 3, FALSE, 0, 0 }, 1);
  check_on_device(&(DeviceCase){ { 5, 2, 8, 512, FALSE, FALSE }, 1, 500000, 3, TRUE, 0.02, 0 }, 2);
  check_on_device(&(DeviceCase){ { 4, 1, 1, 8, FALSE, TRUE }, 1, 200000, 1, FALSE, 0, 0 }, 3);
}

/* What is not a place on the grid harms nothing. */
static void test_device_outside(void)
{
  static const double uvw[][3] = { { NAN, 0, 0 }, { 0, INFINITY, 0 }, { 1e300, 0, 0 },
                                   { 0, 0, 1e9 }, { 0, 0, NAN },      { -40, 0, 0 },
                                   { 37, 0, 0 },  { 0, -40, 0 },      { 0, 37, 0 },
                                   { 1e9, 0, 0 }, { 5, 5, 1 },        { 0, 0, -3 } };
  const DeviceCase d = { { 8, 1, 4, 32, FALSE, TRUE }, 1, G_N_ELEMENTS(uvw), 2, FALSE, 0, 0 };
  const double wavenumber = 1;
  Complex values[G_N_ELEMENTS(uvw)], found[32 * 32], expected[32 * 32] = { 0 };
  DeviceSetting s;
  if (skip_without_device())
    return;
  for (guint i = 0; i < G_N_ELEMENTS(uvw); i++)
    values[i] = 1 + i * I;
  AstroGridRows rows = { G_N_ELEMENTS(uvw), 1, 1, TRUE, uvw[0], &wavenumber, values };
  set_device_case(&s, &d);
  g_assert_cmpuint(astro_wprojection_reference(&s.own, &rows, 0, 1, (double *)expected), ==,
                   G_N_ELEMENTS(uvw) - 1);
  gpointer grid = test_alloc(sizeof found);
  grid_on_device(&s, &rows, grid);
  g_assert_cmpfloat(relative_error(grid, TRUE, expected, NULL, 32 * 32), <=, 1e-12);
  test_check_guard(grid, sizeof found);
  test_free(grid);
  clear_device_case(&s);
}

/* Tables that no device holds: refused before they are built. */
static void test_device_refused(void)
{
  g_autoptr(GError) error = NULL;
  const DeviceCase d = { { 8, 1, 8, 512, FALSE, TRUE }, 1, 1, 2, FALSE, 0, 0 };
  TestGridding device;
  DeviceSetting s;
  if (skip_without_device())
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

/* -- images -- */

typedef struct {
  double l2, max_over_peak;
} ImageError;

/* sum of V exp(-2 pi i (ul + vm + w (n - 1))), the real part; of one channel. */
static double direct_pixel(const Rows *rows, double l, double m)
{
  double sum = 0, n = sqrt(1 - l * l - m * m);
  for (guint64 row = 0; row < rows->rows.rows; row++) {
    const double *uvw = rows->uvw + 3 * row;
    double turns = uvw[0] * l + uvw[1] * m + uvw[2] * (n - 1), sine, cosine;
    Complex value = ((const Complex *)rows->values)[row];
    sincos(2 * G_PI * turns, &sine, &cosine);
    sum += creal(value) * cosine + cimag(value) * sine;
  }
  return sum;
}

/* Visibilities of three sources, dense in the middle of the grid as arrays make them. */
static void sky_rows(Rows *rows, GRand *rand, guint64 n, double reach, double w_max,
                     const AstroGrid *grid)
{
  static const double sources[3][3] = { { 0.003, 0.004, 1 }, { -0.01, 0.002, 2 }, { 0, 0, 1 } };
  Complex *values = g_new0(Complex, n);
  rows->uvw = g_new(double, 3 * n);
  rows->wavenumbers = g_new(double, 1);
  rows->wavenumbers[0] = 1;
  for (guint64 i = 0; i < n; i++) {
    double *uvw = rows->uvw + 3 * i, share = g_rand_double(rand);
    uvw[0] = reach * share * uniform(rand);
    uvw[1] = reach * share * uniform(rand);
    uvw[2] = w_max * g_rand_double(rand);
    for (guint s = 0; s < 3; s++) {
      double l = grid->centre_l + sources[s][0], m = grid->centre_m + sources[s][1];
      double turns = uvw[0] * l + uvw[1] * m + uvw[2] * (sqrt(1 - l * l - m * m) - 1);
      values[i] += sources[s][2] * cexp(2 * G_PI * I * turns);
    }
  }
  rows->values = values;
  rows->rows = (AstroGridRows){ n, 1, 1, TRUE, rows->uvw, rows->wavenumbers, values };
}

/* Pixel (y, x) of the padded image, x along l, divided by the taper. */
static Complex *image_of(const AstroGrid *grid, const Complex *uvgrid)
{
  const gint n = (gint)grid->size;
  Complex *image = g_new(Complex, n * n);
  g_autofree double *losses = g_new(double, n);
  for (gint y = 0; y < n; y++)
    for (gint x = 0; x < n; x++)
      image[y * n + x] = uvgrid[y * n + x] * ((x + y) % 2 ? -1 : 1);
  fftw_plan plan = fftw_plan_dft_2d(n, n, (fftw_complex *)image, (fftw_complex *)image,
                                    FFTW_FORWARD, FFTW_ESTIMATE);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  for (gint i = 0; i < n; i++)
    losses[i] = astro_wprojection_correction(grid, (i - n / 2) * grid->pixel);
  for (gint y = 0; y < n; y++)
    for (gint x = 0; x < n; x++)
      image[y * n + x] *= ((x + y) % 2 ? -1 : 1) / (losses[x] * losses[y]);
  return image;
}

/* ---- the inner half of the padded field, exactly ---- */

#define INNER 96
#define CHUNK 500

typedef struct {
  const Rows *rows;
  const AstroGrid *grid;
  double (*image)[INNER];
  /* Of some visibilities: of each column, of each row, and of w. */
  guint64 first, n;
  double (*along)[2][INNER];
  Complex (*across)[INNER];
} Direct;

static double place_of(const Direct *direct, guint i)
{
  return ((double)i - INNER / 2) * direct->grid->pixel;
}

static void direct_line(gpointer data, guint64 y)
{
  const Direct *direct = data;
  for (guint x = 0; x < INNER; x++)
    direct->image[y][x] = direct_pixel(direct->rows, direct->grid->centre_l + place_of(direct, x),
                                       direct->grid->centre_m + place_of(direct, (guint)y));
}

/* n - 1 is -(l^2 + m^2) / 2, which makes two factors, and a rest so small that its turn is 1 and
 * one more term, less than 1e-7. */
static void add_factors(gpointer data, guint64 y)
{
  const Direct *direct = data;
  double sum[INNER] = { 0 }, rest[INNER] = { 0 };
  for (guint64 i = 0; i < direct->n; i++) {
    const Complex value = direct->across[i][y];
    const double w = direct->rows->uvw[3 * (direct->first + i) + 2];
    const double re = creal(value), im = cimag(value), w_re = w * re, w_im = w * im;
    const double *a = direct->along[i][0], *b = direct->along[i][1];
    for (guint x = 0; x < INNER; x++) {
      sum[x] += re * a[x] - im * b[x];
      rest[x] += w_re * b[x] + w_im * a[x];
    }
  }
  const double m = place_of(direct, (guint)y);
  for (guint x = 0; x < INNER; x++) {
    const double l = place_of(direct, x), r2 = l * l + m * m;
    const double less = r2 / 2 - r2 / (1 + sqrt(1 - r2)); /* n - 1 + r2 / 2 */
    direct->image[y][x] += sum[x] + 2 * G_PI * less * rest[x];
  }
}

static void find_factors(gpointer data, guint64 i)
{
  const Direct *direct = data;
  const guint64 row = direct->first + i;
  const double *uvw = direct->rows->uvw + 3 * row;
  for (guint k = 0; k < INNER; k++) {
    const double at = place_of(direct, k), bend = uvw[2] * at * at / 2;
    const Complex a = cexp(-2 * G_PI * I * (uvw[0] * at - bend));
    direct->along[i][0][k] = creal(a);
    direct->along[i][1][k] = cimag(a);
    direct->across[i][k] =
        ((const Complex *)direct->rows->values)[row] * cexp(-2 * G_PI * I * (uvw[1] * at - bend));
  }
}

static void direct_image(const Rows *rows, const AstroGrid *grid, double image[INNER][INNER])
{
  Direct direct = { .rows = rows, .grid = grid, .image = image };
  if (grid->centre_l != 0 || grid->centre_m != 0) {
    astro_parallel(INNER, 0, direct_line, &direct);
    return;
  }
  direct.along = g_malloc(CHUNK * sizeof *direct.along);
  direct.across = g_malloc(CHUNK * sizeof *direct.across);
  memset(image, 0, INNER * sizeof *image);
  for (; direct.first < rows->rows.rows; direct.first += direct.n) {
    direct.n = MIN(CHUNK, rows->rows.rows - direct.first);
    astro_parallel(direct.n, 0, find_factors, &direct);
    astro_parallel(INNER, 0, add_factors, &direct);
  }
  double peak = 0, worst = 0;
  for (guint i = 0; i < INNER; i += INNER - 1)
    for (guint k = 0; k < INNER; k += 19) {
      const double exact = direct_pixel(rows, place_of(&direct, k), place_of(&direct, i));
      peak = MAX(peak, fabs(exact));
      worst = MAX(worst, fabs(exact - image[i][k]));
    }
  g_assert_cmpfloat(worst, <, 1e-6 * peak);
  g_free(direct.along);
  g_free(direct.across);
}

static ImageError compare_images(const AstroGrid *grid, const Rows *rows, const Complex *image)
{
  const gint n = (gint)grid->size;
  double difference = 0, power = 0, peak = 0, greatest = 0, exact[INNER][INNER];
  g_assert_cmpint(n, ==, 2 * INNER);
  direct_image(rows, grid, exact);
  for (gint y = n / 4; y < 3 * n / 4; y++)
    for (gint x = n / 4; x < 3 * n / 4; x++) {
      double expected = exact[y - n / 4][x - n / 4], found = creal(image[y * n + x]);
      difference += (found - expected) * (found - expected);
      power += expected * expected;
      peak = MAX(peak, fabs(expected));
      greatest = MAX(greatest, fabs(found - expected));
    }
  return (ImageError){ sqrt(difference / power), greatest / peak };
}

typedef struct {
  guint oversampling, planes;
  gboolean interpolated;
  AstroSpreadKind taper;
  double centre_l, centre_m, w_max, accuracy;
  guint visibilities, reach; /* in cells */
} ImageCase;

static ImageError image_error(const ImageCase *c)
{
  GRand *rand = g_rand_new_with_seed(8);
  g_autoptr(GError) error = NULL;
  AstroGrid grid = { .image_size = 128,
                     .pixel = 0.05 / 192,
                     .centre_l = c->centre_l,
                     .centre_m = c->centre_m,
                     .products = g_strsplit("I", ":", -1) };
  const AstroGridderConfig config = { .channels = 1,
                                      .padding = 1.5,
                                      .accuracy = c->accuracy,
                                      .longest = c->w_max,
                                      .oversampling = c->oversampling,
                                      .w_planes = c->planes,
                                      .interpolated = c->interpolated,
                                      .taper = c->taper,
                                      .is_double = TRUE };
  const char *variant;
  Rows rows;

  g_assert_true(astro_wprojection.choose(&config, &grid, &error));
  g_assert_no_error(error);
  g_assert_cmpuint(grid.size, ==, 192);
  AstroGridding *gridder = astro_wprojection.create(&config, &grid, &variant, &error);
  g_assert_no_error(error);
  sky_rows(&rows, rand, c->visibilities, grid.cell * c->reach, c->w_max, &grid);
  /* As preparation does: turned to the image's middle in u and v. */
  AstroGridRows turned = rows.rows;
  Complex *values = g_new(Complex, rows.rows.rows);
  for (guint64 i = 0; i < rows.rows.rows; i++)
    values[i] =
        ((Complex *)rows.values)[i] *
        cexp(-2 * G_PI * I * (rows.uvw[3 * i] * c->centre_l + rows.uvw[3 * i + 1] * c->centre_m));
  turned.values = values;
  Complex *uvgrid = g_new0(Complex, grid.size * grid.size);
  g_assert_true(astro_wprojection.add(gridder, &turned, uvgrid, &error));
  astro_wprojection.finish(gridder, uvgrid);
  Complex *image = image_of(&grid, uvgrid);
  ImageError found = compare_images(&grid, &rows, image);
  astro_wprojection.destroy(gridder);
  clear_rows(&rows);
  astro_grid_clear(&grid);
  g_free(values);
  g_free(uvgrid);
  g_free(image);
  g_rand_free(rand);
  g_test_message("oversampling %u, %u planes%s: L2 %.3g, max over peak %.3g", c->oversampling,
                 c->planes, c->interpolated ? ", interpolated" : "", found.l2, found.max_over_peak);
  return found;
}

static void test_image(void)
{
  ImageError nearest = image_error(
      &(ImageCase){ 8, 512, .w_max = 3000, .accuracy = 1e-4, .visibilities = 300000, .reach = 75 });
  g_assert_cmpfloat(nearest.l2, <=, 1.5e-2);
  g_assert_cmpfloat(nearest.max_over_peak, <=, 5e-4);
}

static void test_image_fine(void)
{
  ImageError fine = image_error(
      &(ImageCase){ 32, 24, .w_max = 300, .accuracy = 1e-4, .visibilities = 4000, .reach = 75 });
  g_assert_cmpfloat(fine.l2, <=, 5e-3);
}

static void test_image_interpolated(void)
{
  ImageCase c = { 8, 64, .w_max = 3000, .accuracy = 1e-5, .visibilities = 4000, .reach = 75 };
  ImageError nearest = image_error(&c);
  c.interpolated = TRUE;
  ImageError interpolated = image_error(&c);
  g_assert_cmpfloat(interpolated.l2, <, nearest.l2 / 3);
  g_assert_cmpfloat(interpolated.max_over_peak, <, nearest.max_over_peak / 3);
}

static void test_image_spheroidal(void)
{
  ImageError found =
      image_error(&(ImageCase){ 8, 64, .taper = ASTRO_SPREAD_SPHEROIDAL, .w_max = 1000,
                                .accuracy = 1e-4, .visibilities = 4000, .reach = 75 });
  g_assert_cmpfloat(found.l2, <=, 1.5e-2);
}

static void test_image_off_centre(void)
{
  ImageError found =
      image_error(&(ImageCase){ 8, 512, .centre_l = 0.1, .centre_m = -0.2, .w_max = 3000,
                                .accuracy = 1e-4, .visibilities = 12000, .reach = 45 });
  g_assert_cmpfloat(found.l2, <=, 1.5e-2);
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
  const AstroGridderConfig config = { .channels = 1, .longest = 1700, .oversampling = 8 };
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
  g_test_add_func("/wprojection/image", test_image);
  g_test_add_func("/wprojection/image/fine", test_image_fine);
  g_test_add_func("/wprojection/image/interpolated", test_image_interpolated);
  g_test_add_func("/wprojection/image/spheroidal", test_image_spheroidal);
  g_test_add_func("/wprojection/image/off-centre", test_image_off_centre);
  g_test_add_func("/wprojection/far-off-centre", test_far_off_centre);
  g_test_add_func("/wprojection/refused", test_refused);
  g_test_add_func("/wprojection/cuda/supports", test_device_supports);
  g_test_add_func("/wprojection/cuda/products", test_device_products);
  g_test_add_func("/wprojection/cuda/oversampling", test_device_oversampling);
  g_test_add_func("/wprojection/cuda/interpolated", test_device_interpolated);
  g_test_add_func("/wprojection/cuda/odd", test_device_odd);
  g_test_add_func("/wprojection/cuda/many", test_device_many);
  g_test_add_func("/wprojection/cuda/outside", test_device_outside);
  g_test_add_func("/wprojection/cuda/refused", test_device_refused);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
