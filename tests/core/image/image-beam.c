/* The beam, fitted to the middle of a point spread function. */
#include "core/image/image.h"
#include "tests/tests.h"

#include <math.h>

static void test_beam(void)
{
  static const double sizes[] = { 3, 4.1, 7.3, 20 };
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++)
    for (double ratio = 0.6; ratio < 1.01; ratio += 0.2)
      for (double angle = -1.5; angle < 1.6; angle += 0.5) {
        enum { SIZE = 101 };
        const double pixel = 1e-4, fwhm = 4 * G_LN2;
        g_autofree double *psf = g_new(double, SIZE *SIZE);
        g_autofree float *single = g_new(float, SIZE *SIZE);
        double major, minor, found;
        for (gint y = 0; y < SIZE; y++)
          for (gint x = 0; x < SIZE; x++) {
            double east = SIZE / 2 - x, north = y - SIZE / 2;
            double along = east * sin(angle) + north * cos(angle);
            double across = east * cos(angle) - north * sin(angle);
            psf[y * SIZE + x] =
                exp(-fwhm * (pow(along / sizes[i], 2) + pow(across / (sizes[i] * ratio), 2)));
            single[y * SIZE + x] = (float)psf[y * SIZE + x];
          }
        g_assert_true(astro_image_fit_beam(ASTRO_FORMAT_F64LE, psf, SIZE, pixel, &major, &minor,
                                           &found, NULL));
        g_assert_cmpfloat_with_epsilon(major, sizes[i] * pixel, 1e-9 * pixel);
        g_assert_cmpfloat_with_epsilon(minor, sizes[i] * ratio * pixel, 1e-9 * pixel);
        if (ratio < 0.99)
          g_assert_cmpfloat_with_epsilon(found, angle, 1e-7);
        g_assert_true(astro_image_fit_beam(ASTRO_FORMAT_F32LE, single, SIZE, pixel, &major, &minor,
                                           &found, NULL));
        g_assert_cmpfloat_with_epsilon(major, sizes[i] * pixel, 1e-5 * pixel);
      }
}

/* The fit says if a lobe continues beyond the pixels. */
static void test_cut_beam(void)
{
  enum { SIZE = 64, PART = 12 };
  double psf[SIZE * SIZE], part[PART * PART], major, minor, angle;
  gboolean cut;
  for (gint i = 0; i < SIZE * SIZE; i++)
    psf[i] = exp(-4 * G_LN2 *
                 (pow((i % SIZE - SIZE / 2) / 12.0, 2) + pow((i / SIZE - SIZE / 2) / 9.0, 2)));
  for (gint i = 0; i < PART * PART; i++)
    part[i] = psf[(i / PART + (SIZE - PART) / 2) * SIZE + i % PART + (SIZE - PART) / 2];
  g_assert_true(
      astro_image_fit_beam(ASTRO_FORMAT_F64LE, psf, SIZE, 1, &major, &minor, &angle, &cut));
  g_assert_false(cut);
  g_assert_true(
      astro_image_fit_beam(ASTRO_FORMAT_F64LE, part, PART, 1, &major, &minor, &angle, &cut));
  g_assert_true(cut);
}

/* No lobe: nothing, a peak of one pixel, a plain, a valley, NaN. */
static void test_no_beam(void)
{
  enum { SIZE = 20 };
  double psf[SIZE * SIZE] = { 0 }, major, minor, angle;
  g_assert_false(
      astro_image_fit_beam(ASTRO_FORMAT_F64LE, psf, SIZE, 1, &major, &minor, &angle, NULL));
  psf[SIZE / 2 * SIZE + SIZE / 2] = 1;
  g_assert_false(
      astro_image_fit_beam(ASTRO_FORMAT_F64LE, psf, SIZE, 1, &major, &minor, &angle, NULL));
  for (guint i = 0; i < SIZE * SIZE; i++)
    psf[i] = 1;
  g_assert_false(
      astro_image_fit_beam(ASTRO_FORMAT_F64LE, psf, SIZE, 1, &major, &minor, &angle, NULL));
  for (guint i = 0; i < SIZE * SIZE; i++)
    psf[i] = 1 + pow(i / SIZE - SIZE / 2.0, 2);
  g_assert_false(
      astro_image_fit_beam(ASTRO_FORMAT_F64LE, psf, SIZE, 1, &major, &minor, &angle, NULL));
  for (guint i = 0; i < SIZE * SIZE; i++)
    psf[i] = NAN;
  g_assert_false(
      astro_image_fit_beam(ASTRO_FORMAT_F64LE, psf, SIZE, 1, &major, &minor, &angle, NULL));
  g_assert_false(astro_image_fit_beam(ASTRO_FORMAT_F64LE, psf, 0, 1, &major, &minor, &angle, NULL));
}

/* The highest peak beside the one in the middle, whatever the shape of its sides; none for a lobe
 * alone, NaN, or too few pixels. */
static void test_sidelobe(void)
{
  enum { SIZE = 40 };
  double psf[SIZE * SIZE];
  float single[SIZE * SIZE];
  for (gint i = 0; i < SIZE * SIZE; i++) {
    const double x = i % SIZE - SIZE / 2, y = i / SIZE - SIZE / 2;
    psf[i] = 2 * exp(-(x * x + y * y) / 20);
  }
  g_assert_cmpfloat(astro_image_sidelobe(ASTRO_FORMAT_F64LE, psf, SIZE), ==, 0);
  psf[30 * SIZE + 31] = 0.3;
  psf[5 * SIZE + 6] = 0.5;
  psf[9 * SIZE + 6] = -1;
  psf[0] = 7; /* the rim is not a peak: its neighbours are unknown */
  for (gint i = 0; i < SIZE * SIZE; i++)
    single[i] = (float)psf[i];
  g_assert_cmpfloat(astro_image_sidelobe(ASTRO_FORMAT_F64LE, psf, SIZE), ==, 0.25);
  g_assert_cmpfloat(astro_image_sidelobe(ASTRO_FORMAT_F32LE, single, SIZE), ==, 0.25);
  g_assert_cmpfloat(astro_image_sidelobe(ASTRO_FORMAT_F64LE, psf, 2), ==, 0);
  psf[SIZE / 2 * SIZE + SIZE / 2] = NAN;
  g_assert_cmpfloat(astro_image_sidelobe(ASTRO_FORMAT_F64LE, psf, SIZE), ==, 0);
}

static void add_tests(void)
{
  g_test_add_func("/image/beam", test_beam);
  g_test_add_func("/image/cut-beam", test_cut_beam);
  g_test_add_func("/image/no-beam", test_no_beam);
  g_test_add_func("/image/sidelobe", test_sidelobe);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
