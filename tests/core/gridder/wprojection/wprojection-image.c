/* Images by W-projection, with tables that are built, against the direct transform. */
#include "config.h"
#include "core/backend/threads.h"
#include "tests/core/gridder/wprojection/wprojection.h"

#include <fftw3.h>

typedef struct {
  double l2, max_over_peak;
} ImageError;

/* sum of V exp(-2 pi i (ul + vm + w (n - 1))), the real part; of one channel. */
static double direct_pixel(const TestRows *rows, double l, double m)
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
static void sky_rows(TestRows *rows, GRand *rand, guint64 n, double reach, double w_max,
                     const AstroGrid *grid)
{
  static const double sources[3][3] = { { 0.003, 0.004, 1 }, { -0.01, 0.002, 2 }, { 0, 0, 1 } };
  Complex *values = g_new0(Complex, n);
  rows->uvw = g_new(double, 3 * n);
  rows->wavenumbers = g_new(double, 1);
  rows->wavenumbers[0] = 1;
  for (guint64 i = 0; i < n; i++) {
    double *uvw = rows->uvw + 3 * i, share = g_rand_double(rand);
    uvw[0] = reach * share * test_uniform(rand);
    uvw[1] = reach * share * test_uniform(rand);
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
    losses[i] = astro_spread_correction(grid, (i - n / 2) * grid->pixel);
  for (gint y = 0; y < n; y++)
    for (gint x = 0; x < n; x++)
      image[y * n + x] *= ((x + y) % 2 ? -1 : 1) / (losses[x] * losses[y]);
  return image;
}

/* ---- the inner half of the padded field, exactly ---- */

#define INNER 96
#define CHUNK 500

typedef struct {
  const TestRows *rows;
  const AstroGrid *grid;
  double (*image)[INNER];
  /* Phases of some visibilities along each column, along each row, and of w. */
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

static void direct_image(const TestRows *rows, const AstroGrid *grid, double image[INNER][INNER])
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

static ImageError compare_images(const AstroGrid *grid, const TestRows *rows, const Complex *image)
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
  const AstroGriddingConfig config = { .channels = 1,
                                       .padding = 1.5,
                                       .accuracy = c->accuracy,
                                       .longest = c->w_max,
                                       .oversampling = c->oversampling,
                                       .w_planes = c->planes,
                                       .interpolated = c->interpolated,
                                       .taper = c->taper,
                                       .is_double = TRUE };
  const char *variant;
  TestRows rows;

  g_assert_true(astro_wprojection.choose(&config, &grid, &error));
  g_assert_no_error(error);
  g_assert_cmpuint(grid.size, ==, 192);
  AstroGridding *gridder = astro_wprojection.create(&config, &grid, NULL, &variant, &error);
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
  astro_wprojection.finish(gridder, uvgrid, NULL);
  Complex *image = image_of(&grid, uvgrid);
  ImageError found = compare_images(&grid, &rows, image);
  astro_wprojection.destroy(gridder);
  test_clear_rows(&rows);
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

static void add_tests(void)
{
  g_test_add_func("/wprojection/image", test_image);
  g_test_add_func("/wprojection/image/fine", test_image_fine);
  g_test_add_func("/wprojection/image/interpolated", test_image_interpolated);
  g_test_add_func("/wprojection/image/spheroidal", test_image_spheroidal);
  g_test_add_func("/wprojection/image/off-centre", test_image_off_centre);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
