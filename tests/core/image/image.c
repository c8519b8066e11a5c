/* Images: the backends by hand, products, the whole way from visibilities of known sources, and
 * what is refused. */
#include "core/lib/fft/fft.h"
#include "core/gridder/gridder.h"
#include "core/image/kernels.h"
#include "tests/core/image/image.h"

#include <complex.h>
#include <math.h>

/* ---- by hand ---- */

/* East is to the left, north up, the centre at half the size, whether odd, even, cut or not. */
static void test_place(void)
{
  static const guint sizes[][2] = { { 8, 4 }, { 8, 5 }, { 9, 4 }, { 9, 5 }, { 9, 9 }, { 8, 8 } };
  for (guint b = 0; test_backends[b]; b++)
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
      AstroImageConfig config = test_simple(sizes[i][0], sizes[i][1]);
      gsize size = sizes[i][0], image_size = sizes[i][1];
      double complex *grid = g_new0(double complex, size *size);
      gpointer planes[] = { grid };
      double weight = 4;
      grid[(size / 2 + 1) * size + size / 2 - 2] = 6 + 9 * I; /* l = -2, m = 1 */
      grid[size / 2 * size + size / 2] = 1;
      g_autofree double *image =
          test_make_image(test_backends[b], &config, planes, 1, 0, 0, &weight, 0);
      for (gsize y = 0; y < image_size; y++)
        for (gsize x = 0; x < image_size; x++) {
          double expected = 0;
          if (y == image_size / 2 + 1 && x == image_size / 2 + 2)
            expected = 1.5;
          if (y == image_size / 2 && x == image_size / 2)
            expected = 0.25;
          g_assert_cmpfloat(image[y * image_size + x], ==, expected);
        }
      g_free(grid);
    }
}

/* A plane of ones at w has the real part of its phase. */
static void test_phase(void)
{
  for (guint b = 0; test_backends[b]; b++) {
    AstroImageConfig config = test_simple(40, 30);
    config.grid.pixel = 0.01;
    config.grid.centre_l = 0.1;
    config.grid.centre_m = -0.2;
    double complex *grid = g_new(double complex, 1600);
    gpointer planes[] = { grid };
    double weight = 2;
    for (guint i = 0; i < 1600; i++)
      grid[i] = 2;
    g_autofree double *image =
        test_make_image(test_backends[b], &config, planes, 1, 321.5, 0, &weight, 0);
    for (gint y = 0; y < 30; y++)
      for (gint x = 0; x < 30; x++) {
        double l = 0.1 + (15 - x) * 0.01, m = -0.2 + (y - 15) * 0.01;
        double expected = cos(2 * G_PI * 321.5 * (sqrt(1 - l * l - m * m) - 1));
        g_assert_cmpfloat_with_epsilon(image[y * 30 + x], expected, 1e-11);
      }
    g_free(grid);
  }
}

/* A single row of ones, of a plane transformed along u, is a wave over y. */
static void test_wave(void)
{
  static const guint sizes[][3] = { { 40, 30, 5 }, { 41, 41, 23 }, { 36, 35, 35 } };
  for (guint b = 0; test_backends[b]; b++)
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
      const gint size = (gint)sizes[i][0], image_size = (gint)sizes[i][1], v = (gint)sizes[i][2];
      AstroImageConfig config = test_simple(sizes[i][0], sizes[i][1]);
      config.transforms_v = TRUE;
      config.products[0].terms[0].imaginary = i == 1;
      double complex *grid = g_new0(double complex, size *size);
      gpointer planes[] = { grid };
      double weight = 1;
      for (gint x = 0; x < size; x++)
        grid[v * size + x] = x;
      g_autofree double *image =
          test_make_image(test_backends[b], &config, planes, 1, 0, 0, &weight, 0);
      for (gint y = 0; y < image_size; y++)
        for (gint x = 0; x < image_size; x++) {
          double u = (size / 2 + image_size / 2 - x) % size;
          double turns = (double)(v - size / 2) * (y - image_size / 2) / size;
          double wave = i == 1 ? -sin(2 * G_PI * turns) : cos(2 * G_PI * turns);
          g_assert_cmpfloat_with_epsilon(image[y * image_size + x], u * wave, 1e-12);
        }
      g_free(grid);
    }
}

/* The phases of w up to ten thousand wavelengths, within what doubles know of the angle. */
static void test_phases(void)
{
  static const AstroImageKernels *const all[] = ASTRO_KERNELS(astro_image_kernels);
  static const double ws[] = { 0, 1e-3, 1, 77.7, -1234.5, 1e4 };
  for (guint k = 0; k < G_N_ELEMENTS(all); k++) {
    if (all[k]->variant.level > astro_cpu_level())
      continue;
    for (guint i = 0; i < G_N_ELEMENTS(ws); i++) {
      AstroImageStrip strip = { -0.6, 0.0023, 0.3, ASTRO_IMAGE_STRIP };
      double re[ASTRO_IMAGE_STRIP], im[ASTRO_IMAGE_STRIP];
      all[k]->phases(&strip, ws[i], re, im);
      for (guint x = 0; x < ASTRO_IMAGE_STRIP; x++) {
        double l = strip.l + x * strip.pixel;
        long double r2 = (long double)l * l + (long double)strip.m * strip.m;
        long double turns = ws[i] * (-r2 / (1 + sqrtl(1 - r2)));
        long double angle = -2 * (long double)G_PI * (turns - rintl(turns));
        double epsilon = 1e-15 * 8 + 4e-15 * fabs((double)turns);
        g_assert_cmpfloat_with_epsilon(re[x], (double)cosl(angle), epsilon);
        g_assert_cmpfloat_with_epsilon(im[x], (double)sinl(angle), epsilon);
      }
    }
  }
}

/* The middle of the image's last product, as it lies in it; nothing of an image that is not
 * finished. */
static void test_middle(void)
{
  static const guint sizes[][2] = { { 8, 8 }, { 8, 3 }, { 9, 4 }, { 9, 5 }, { 5, 1 }, { 6, 0 } };
  for (guint b = 0; test_backends[b]; b++)
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++)
      for (guint single = 0; single < 2; single++) {
        gsize image = sizes[i][0], size = sizes[i][1], begin = image / 2 - size / 2;
        AstroImageConfig config = test_simple(12, sizes[i][0]);
        config.to = single ? ASTRO_FORMAT_F32LE : ASTRO_FORMAT_F64LE;
        config.channels = config.n_in = config.n_out = 2;
        config.products[1] = (AstroImageProduct){ "Q", 1, { { 1, FALSE, 1 } } };
        gsize bytes = astro_format_info(config.to)->bytes;
        double weights[] = { 1, 2, 3, 4 };
        guint8 *middle = test_alloc(size * size * bytes);
        AstroImageArguments arguments = {
          .weights = weights, .first = TRUE, .middle_size = sizes[i][1], .middle_product = 3
        };
        AstroBlock in = { test_random_grid(&config, i), test_bytes_in(&config) };
        AstroBlock out = { test_alloc(test_pixels_out(&config) * bytes),
                           test_pixels_out(&config) * bytes };
        AstroPlace place = { 0 };
        AstroResult result = { .middle = middle };
        const char *variant;
        gpointer instance = test_backends[b]->create(&config, &place, &variant, NULL);
        g_assert_true(
            test_backends[b]->submit(instance, &in, 1, &out, 1, &arguments, &result, NULL));
        for (gsize k = 0; k < size * size * bytes; k++)
          g_assert_cmphex(middle[k], ==, 0xa5);
        arguments.first = FALSE;
        arguments.last = TRUE;
        g_assert_true(
            test_backends[b]->submit(instance, &in, 1, &out, 1, &arguments, &result, NULL));
        for (gsize y = 0; y < size; y++)
          g_assert_cmpmem(middle + y * size * bytes, size * bytes,
                          (guint8 *)out.data + ((3 * image + begin + y) * image + begin) * bytes,
                          size * bytes);
        test_check_guard(middle, size * size * bytes);
        arguments.middle_product = 4;
        g_assert_false(
            test_backends[b]->submit(instance, &in, 1, &out, 1, &arguments, &result, NULL));
        arguments.middle_product = 3;
        arguments.middle_size = sizes[i][0] + 1;
        g_assert_false(
            test_backends[b]->submit(instance, &in, 1, &out, 1, &arguments, &result, NULL));
        test_backends[b]->destroy(instance);
        test_free(in.data);
        test_free(out.data);
        test_free(middle);
      }
}

/* ---- products ---- */

static char *products_text(const char *names, const char *stokes)
{
  AstroGrid grid = { .products = g_strsplit(names, ":", -1) };
  AstroImageProduct products[ASTRO_IMAGE_MAX_PRODUCTS];
  g_autoptr(GError) error = NULL;
  guint n = astro_image_products(&grid, stokes, products, &error);
  GString *text = g_string_new(n ? NULL : error->message);
  for (guint i = 0; i < n; i++) {
    g_string_append_printf(text, "%s%s=", i ? " " : "", products[i].name);
    for (guint k = 0; k < products[i].n_terms; k++)
      g_string_append_printf(text, "%+g%s%s", products[i].terms[k].factor,
                             products[i].terms[k].imaginary ? "Im" : "Re",
                             grid.products[products[i].terms[k].product]);
  }
  astro_grid_clear(&grid);
  return g_string_free(text, FALSE);
}

static void test_products(void)
{
  static const struct {
    const char *names, *stokes, *text;
  } cases[] = {
    { "XX:YY", NULL, "XX=+1ReXX YY=+1ReYY" },
    { "XX:YY:PSF", "I", "I=+0.5ReXX+0.5ReYY PSF=+1RePSF" },
    { "XX:XY:YX:YY", "IQUV",
      "I=+0.5ReXX+0.5ReYY Q=+0.5ReXX-0.5ReYY U=+0.5ReXY+0.5ReYX V=+0.5ImXY-0.5ImYX" },
    { "RR:RL:LR:LL", "VUQI",
      "V=+0.5ReRR-0.5ReLL U=+0.5ImRL-0.5ImLR Q=+0.5ReRL+0.5ReLR I=+0.5ReRR+0.5ReLL" },
    { "I:Q:U:V:PSF", "Q", "Q=+1ReQ PSF=+1RePSF" },
    { "I:PSF", "", "I=+1ReI PSF=+1RePSF" },
    { "XX:YY", "U",
      "stokes is \"U\" but the products are XX:YY, expected products from which it can be made" },
    { "XX:YY", "IX",
      "stokes is \"IX\" but the products are XX:YY, expected some of the letters I, Q, U "
      "and V" },
    { "XX:YY", "II",
      "stokes is \"II\" but the products are XX:YY, expected some of the letters I, Q, U "
      "and V" },
    { "A:B:C:D:E:F:G:H:I", NULL,
      "stokes is \"\" but the products are A:B:C:D:E:F:G:H:I, expected fewer products" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = products_text(cases[i].names, cases[i].stokes);
    g_assert_cmpstr(text, ==, cases[i].text);
  }
}

/* Products of a wave of known polarisation give its Stokes parameters back, from one baseline: of
 * the measured products XX = I + Q, XY = U + iV, YX = U - iV, YY = I - Q. */
static void test_polarisation(void)
{
  static const double stokes[] = { 3, 1, -0.7, 0.4 };
  const double complex measured[] = { stokes[0] + stokes[1], stokes[2] + I * stokes[3],
                                      stokes[2] - I * stokes[3], stokes[0] - stokes[1] };
  AstroImageConfig config = test_simple(16, 12);
  AstroGrid grid = { .products = g_strsplit("XX:XY:YX:YY", ":", -1) };
  double complex *cells = g_new(double complex, 4 * 256);
  gpointer planes[] = { cells };
  double weights[] = { 2, 2, 2, 2 };
  config.n_in = 4;
  config.n_out = astro_image_products(&grid, "IQUV", config.products, NULL);
  /* A point source at l = 2, m = -3 pixels, seen by all baselines and their reverses. */
  for (guint p = 0; p < 4; p++)
    for (gint v = 0; v < 16; v++)
      for (gint u = 0; u < 16; u++)
        cells[(p * 16 + v) * 16 + u] = u == 10 && v == 5 ? 2 * measured[p] : 0;
  for (guint b = 0; test_backends[b]; b++) {
    g_autofree double *image =
        test_make_image(test_backends[b], &config, planes, 1, 0, 0, weights, 0);
    for (guint p = 0; p < 4; p++)
      g_assert_cmpfloat_with_epsilon(image[(p * 12 + 3) * 12 + 4], stokes[p], 1e-15);
  }
  g_free(cells);
  astro_grid_clear(&grid);
}

/* A product without weights is NaN, others are not touched by it. */
static void test_no_weights(void)
{
  for (guint b = 0; test_backends[b]; b++) {
    AstroImageConfig config = test_simple(8, 8);
    config.n_in = config.n_out = 2;
    config.products[1] = (AstroImageProduct){ "Q", 1, { { 1, FALSE, 1 } } };
    gpointer planes[] = { test_random_grid(&config, 3) };
    double weights[] = { 0, 5 };
    g_autofree double *image =
        test_make_image(test_backends[b], &config, planes, 1, 0, 0, weights, 0);
    for (guint i = 0; i < 64; i++)
      g_assert_true(isnan(image[i]) && isfinite(image[64 + i]));
    test_free(planes[0]);
  }
}

/* ---- from visibilities ---- */

#define ROWS 300

/* Sources seen at random u, v, w: gridded, transformed and imaged, each image is the sum over
 * visibilities, which is written out here. */
static void check_sources(const AstroBackend *backend, gboolean off_centre)
{
  static const double sources[][3] = { { 0.01, -0.02, 1 }, { -0.015, 0.005, 0.5 } };
  char *names[] = { (char *)"I", NULL };
  AstroGrid grid = { .image_size = 48,
                     .pixel = 1.5e-3,
                     .centre_l = off_centre ? 0.3 : 0,
                     .centre_m = off_centre ? -0.2 : 0,
                     .products = names };
  AstroGriddingConfig gridding = {
    .is_double = TRUE, .channels = 1, .accuracy = 1e-10, .longest = 400
  };
  double uvw[ROWS][3], wavenumber = 1;
  double complex values[ROWS];
  g_autofree gint16 *random = g_new(gint16, ROWS * 3);
  test_fill(random, ROWS * 6, 5);
  for (guint i = 0; i < ROWS; i++) {
    uvw[i][0] = random[3 * i] / 32768.0 * 250;
    uvw[i][1] = random[3 * i + 1] / 32768.0 * 250;
    uvw[i][2] = fabs(random[3 * i + 2] / 32768.0) * 390;
    values[i] = 0;
    for (guint s = 0; s < G_N_ELEMENTS(sources); s++) {
      double l = grid.centre_l + sources[s][0], m = grid.centre_m + sources[s][1];
      double turns = uvw[i][0] * sources[s][0] + uvw[i][1] * sources[s][1] +
                     uvw[i][2] * (sqrt(1 - l * l - m * m) - 1);
      values[i] += sources[s][2] * cexp(2 * G_PI * I * turns);
    }
  }
  g_autoptr(GError) error = NULL;
  const char *variant;
  guint n_planes;
  g_assert_true(astro_wstacking.choose(&gridding, &grid, &error));
  AstroGridding *gridder = astro_wstacking.create(&gridding, &grid, NULL, &variant, &error);
  AstroGridRows rows = { ROWS, 1, 1, TRUE, uvw[0], &wavenumber, values };
  g_assert_true(astro_wstacking.begin(gridder, &rows, &n_planes, &error));
  g_assert_cmpuint(n_planes, >, 1);

  AstroImageConfig config = test_simple(grid.size, grid.image_size);
  config.grid = grid;
  config.grid.products = NULL;
  AstroFftConfig transform = { .from = ASTRO_FORMAT_CF64LE,
                               .to = ASTRO_FORMAT_CF64LE,
                               .n_axes = 2,
                               .extents = { grid.size, grid.size },
                               .axes = { { TRUE, grid.size / 2, grid.size / 2 },
                                         { TRUE, grid.size / 2, grid.size / 2 } } };
  AstroPlace place = { 0 };
  gpointer fft = astro_fft_cpu.create(&transform, &place, &variant, &error);
  gpointer imaging = backend->create(&config, &place, &variant, &error);
  gsize bytes = test_bytes_in(&config);
  AstroBlock plane = { g_aligned_alloc(1, bytes, 64), bytes };
  AstroBlock sky = { g_aligned_alloc(1, bytes, 64), bytes };
  AstroBlock image = { g_new(double, 48 * 48), 48 * 48 * sizeof(double) };
  double weight = ROWS;
  for (guint i = 0; i < n_planes; i++) {
    AstroImageArguments arguments = { .weights = &weight,
                                      .first = i == 0,
                                      .last = i == n_planes - 1 };
    guint64 steps = 1;
    memset(plane.data, 0, bytes);
    astro_wstacking.plane(gridder, plane.data, NULL, &arguments.w, &arguments.w_step, NULL);
    g_assert_true(astro_fft_cpu.submit(fft, &plane, 1, &sky, 1, &steps, NULL, &error));
    g_assert_true(backend->submit(imaging, &sky, 1, &image, 1, &arguments, NULL, &error));
  }
  double wrong = 0, sum = 0;
  for (gint y = 0; y < 48; y++)
    for (gint x = 0; x < 48; x++) {
      double l = (24 - x) * grid.pixel, m = (y - 24) * grid.pixel;
      double n = sqrt(1 - pow(grid.centre_l + l, 2) - pow(grid.centre_m + m, 2));
      double expected = 0;
      for (guint i = 0; i < ROWS; i++)
        expected += creal(values[i] * cexp(-2 * G_PI * I *
                                           (uvw[i][0] * l + uvw[i][1] * m + uvw[i][2] * (n - 1))));
      expected /= ROWS;
      wrong += pow(((double *)image.data)[y * 48 + x] - expected, 2);
      sum += expected * expected;
    }
  g_assert_cmpfloat(sqrt(wrong / sum), <, 1e-10);
  g_free(image.data);
  g_aligned_free(plane.data);
  g_aligned_free(sky.data);
  astro_fft_cpu.destroy(fft);
  backend->destroy(imaging);
  astro_wstacking.destroy(gridder);
}

static void test_sources(gconstpointer off_centre)
{
  for (guint b = 1; test_backends[b]; b++)
    check_sources(test_backends[b], GPOINTER_TO_INT(off_centre));
}

/* ---- errors ---- */

static void test_errors(void)
{
  AstroImageConfig cases[7];
  static const char *const says[] = { "CF16LE",   "CF64LE to CF64LE", "0 channels", "hemisphere",
                                      "9 pixels", "product 1 of 1",   "hemisphere" };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    cases[i] = test_simple(8, 8);
  cases[0].from = ASTRO_FORMAT_CF16LE;
  cases[1].to = ASTRO_FORMAT_CF64LE;
  cases[2].channels = 0;
  cases[3].grid.pixel = 0.25;
  cases[4].grid.image_size = 9;
  cases[5].products[0].terms[0].product = 1;
  cases[6].grid.centre_l = -0.9999;
  for (guint b = 0; test_backends[b]; b++) {
    AstroPlace place = { 0 };
    const char *variant;
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
      g_autoptr(GError) error = NULL;
      g_assert_false(test_backends[b]->shape(&cases[i], NULL));
      g_assert_null(test_backends[b]->create(&cases[i], &place, &variant, &error));
      test_says(error->message, says[i]);
    }
    AstroImageConfig config = test_simple(8, 8);
    double samples[128] = { 0 }, weight = 1;
    AstroImageArguments arguments = { 0, 0, &weight, TRUE, TRUE };
    AstroBlock in = { samples, 1024 }, out = { samples, 512 }, part = { samples, 511 };
    gpointer instance = test_backends[b]->create(&config, &place, &variant, NULL);
    g_assert_false(test_backends[b]->submit(instance, &part, 1, &out, 1, &arguments, NULL, NULL));
    g_assert_false(test_backends[b]->submit(instance, &in, 1, &part, 1, &arguments, NULL, NULL));
    g_assert_false(test_backends[b]->submit(instance, &in, 1, &out, 0, &arguments, NULL, NULL));
    AstroBlock mapped[] = { in, { samples, 1 } }, short_map[] = { in, { samples, 0 } };
    g_assert_false(test_backends[b]->submit(instance, mapped, 2, &out, 1, &arguments, NULL, NULL));
    test_backends[b]->destroy(instance);
    config.transforms_v = TRUE;
    instance = test_backends[b]->create(&config, &place, &variant, NULL);
    g_assert_false(
        test_backends[b]->submit(instance, short_map, 2, &out, 1, &arguments, NULL, NULL));
    g_assert_true(test_backends[b]->submit(instance, mapped, 2, &out, 1, &arguments, NULL, NULL));
    test_backends[b]->destroy(instance);
  }
}

static void add_tests(void)
{
  const AstroBackend *cuda = test_on_device("image"), *opencl = test_on_opencl("image");
  test_backends[2] = cuda ? cuda : opencl;
  test_backends[3] = cuda ? opencl : NULL;
  g_test_add_func("/image/place", test_place);
  g_test_add_func("/image/phase", test_phase);
  g_test_add_func("/image/phases", test_phases);
  g_test_add_func("/image/wave", test_wave);
  g_test_add_func("/image/middle", test_middle);
  g_test_add_func("/image/products", test_products);
  g_test_add_func("/image/polarisation", test_polarisation);
  g_test_add_func("/image/no-weights", test_no_weights);
  g_test_add_data_func("/image/sources/centred", GINT_TO_POINTER(FALSE), test_sources);
  g_test_add_data_func("/image/sources/off-centre", GINT_TO_POINTER(TRUE), test_sources);
  g_test_add_func("/image/errors", test_errors);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
