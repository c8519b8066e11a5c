#include <fftw3.h>
#include <math.h>

#include "core/gridder/direct.h"
#include "core/gridder/gridder.h"
#include "core/gridder/semicircle.h"
#include "tests/tests.h"

/* ---- visibilities and images to try ---- */

typedef struct {
  AstroGrid grid;
  AstroGridderConfig config;
  AstroGridRows rows;
  double *uvw, *wavenumbers, *values;
  float *single;
} Setting;

static char *two_products[] = { "I", "PSF", NULL };

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
  guint planes;
  AstroGridding *gridder;
  double *corrections; /* of each pixel, with the first plane */
} Run;

static void begin(Setting *s, Run *run)
{
  GError *error = NULL;
  const char *variant;
  g_assert_true(astro_wstacking.choose(&s->config, &s->grid, &error));
  run->gridder = astro_wstacking.create(&s->config, &s->grid, &variant, &error);
  g_assert_no_error(error);
  g_assert_true(astro_wstacking.begin(run->gridder, &s->rows, &run->planes, &error));
}

static gpointer next_plane(Setting *s, Run *run)
{
  const gsize bytes = cells(s) * (s->config.is_double ? 16 : 8);
  gpointer grid = test_alloc(bytes);
  memset(grid, 0, bytes);
  astro_wstacking.plane(run->gridder, grid, &run->w, &run->w_step);
  test_check_guard(grid, bytes);
  return grid;
}

static void fourier(const Setting *s, gconstpointer grid, gsize from, fftw_complex *out)
{
  const gsize n = s->grid.size;
  fftw_plan plan = fftw_plan_dft_2d((int)n, (int)n, out, out, FFTW_FORWARD, FFTW_ESTIMATE);
  for (gsize i = 0; i < n * n; i++)
    for (guint part = 0; part < 2; part++) {
      const gsize at = 2 * (from + i) + part;
      out[i][part] =
          (s->config.is_double ? ((const double *)grid)[at] : (double)((const float *)grid)[at]) *
          ((i / n + i) & 1 ? -1 : 1);
    }
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  for (gsize i = 0; i < n * n; i++)
    if ((i / n + i) & 1) {
      out[i][0] = -out[i][0];
      out[i][1] = -out[i][1];
    }
}

static double n_minus_1(const AstroGrid *grid, double l, double m)
{
  const double r2 =
      (grid->centre_l + l) * (grid->centre_l + l) + (grid->centre_m + m) * (grid->centre_m + m);
  return -r2 / (1 + sqrt(1 - r2));
}

static double offset(const AstroGrid *grid, guint pixel)
{
  return ((double)pixel - grid->image_size / 2) * grid->pixel;
}

static double *corrections_of(const AstroGrid *g, double w_step)
{
  const guint k = g->image_size;
  double *corrections = g_new(double, k *k);
  g_autofree double *axis = g_new(double, k);
  for (guint x = 0; x < k; x++)
    axis[x] = astro_spread_correction(g, offset(g, x));
  for (guint y = 0; y < k; y++)
    for (guint x = 0; x < k; x++)
      corrections[y * k + x] =
          axis[x] * axis[y] *
          astro_spread_correction_w(g, w_step, n_minus_1(g, offset(g, x), offset(g, y)));
  return corrections;
}

/* Adds a plane's image, real, products one after the other. */
static void add_plane(const Setting *s, Run *run, gconstpointer grid, double *image)
{
  const AstroGrid *g = &s->grid;
  const guint k = g->image_size, margin = (g->size - k) / 2;
  fftw_complex *out = fftw_malloc(sizeof *out * g->size * g->size);
  if (!run->corrections)
    run->corrections = corrections_of(g, run->w_step);
  for (guint p = 0; p < s->rows.products; p++) {
    fourier(s, grid, (gsize)p * g->size * g->size, out);
    for (guint y = 0; y < k; y++)
      for (guint x = 0; x < k; x++) {
        const double angle = -2 * G_PI * run->w * n_minus_1(g, offset(g, x), offset(g, y));
        const fftw_complex *c = &out[(gsize)(y + margin) * g->size + x + margin];
        image[((gsize)p * k + y) * k + x] +=
            ((*c)[0] * cos(angle) - (*c)[1] * sin(angle)) / run->corrections[y * k + x];
      }
  }
  fftw_free(out);
}

static double *stacked_image(Setting *s, guint *planes)
{
  Run run = { 0 };
  double *image = g_new0(double, (gsize)s->grid.image_size * s->grid.image_size * s->rows.products);
  begin(s, &run);
  for (guint plane = 0; plane < run.planes; plane++) {
    gpointer grid = next_plane(s, &run);
    add_plane(s, &run, grid, image);
    test_free(grid);
  }
  if (planes)
    *planes = run.planes;
  astro_wstacking.destroy(run.gridder);
  g_free(run.corrections);
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

static double distance(const double *a, const double *b, gsize n)
{
  double error = 0, norm = 0;
  for (gsize i = 0; i < n; i++) {
    error += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  return sqrt(error / norm);
}

/* ---- tests ---- */

/* Fields of a tenth of a degree to forty degrees, w to thousands of wavelengths. */
static void test_accuracy(void)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(4);
  for (guint setting = 0; setting < 10; setting++) {
    Setting s;
    const guint size = 2 * (guint)g_rand_int_range(random, 16, 29);
    const double field = 0.002 * pow(350, setting / 9.0);
    const double w = MIN(4 / (field * field), g_rand_double_range(random, 100, 5000));
    make(&s, random, size, field / size, w, 60, 3, TRUE);
    if (setting % 3 == 1) {
      s.grid.centre_l = 0.1;
      s.grid.centre_m = -0.05;
    }
    g_autofree double *exact = exact_image(&s);
    for (gint decade = -2; decade >= -12; decade--) {
      guint planes;
      s.config.accuracy = pow(10, decade) * (1 + 1e-9);
      s.config.is_double = s.rows.is_double = decade < -5;
      s.rows.values = s.rows.is_double ? (gpointer)s.values : s.single;
      g_autofree double *image = stacked_image(&s, &planes);
      g_autofree double *against = s.rows.is_double ? NULL : exact_image(&s);
      const double error =
          distance(image, against ? against : exact, (gsize)size * size * s.rows.products);
      g_test_message("size %u field %.3f w %.0f: grid %u support %u planes %u, accuracy 1e%d: %.2e",
                     size, field, w, s.grid.size, s.grid.spread.support, planes, decade, error);
      g_assert_cmpfloat(error, <=, pow(10, decade));
    }
    clear(&s);
  }
}

static void add_tests(void)
{
  g_test_add_func("/gridder/wstacking/accuracy", test_accuracy);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
