/* Pixels of images and their directions, compared with the direction cosines that gridding uses. */
#include "core/lib/wcs/wcs.h"
#include "core/stream/uvw.h"
#include "tests/tests.h"

#include <math.h>

static AstroObservation *observation_at(double ra, double dec)
{
  AstroObservation *observation = astro_observation_new(0);
  observation->has_phase_centre = TRUE;
  observation->phase_ra = ra;
  observation->phase_dec = dec;
  return observation;
}

static const double centres[][2] = { { 0, 0 },       { 1.5, 0.7 },     { 6.28, -1.2 },
                                     { -1.0, 0.01 }, { 2, G_PI / 2 },  { 3, -G_PI / 2 },
                                     { 3.14, 1.57 }, { 1e-9, -1.5707 } };
static const AstroGrid images[] = {
  { .size = 512, .pixel = 1e-4 },
  { .size = 511, .pixel = 2e-3, .centre_l = 0.2, .centre_m = -0.3 },
  { .size = 2, .pixel = 1e-7, .centre_l = 1e-3, .centre_m = 0.5 },
};

/* The direction of every corner, the middle and others: l and m of it, and the pixel again. */
static void check_image(const AstroGrid *image, const AstroObservation *observation)
{
  g_autoptr(GError) error = NULL;
  AstroWcsKeys keys;
  g_assert_true(astro_wcs_keys(&keys, image, observation, &error));
  g_assert_cmpfloat(keys.cdelt[0], <, 0);
  g_assert_cmpfloat(keys.crval[0], >=, 0);
  g_autoptr(AstroWcs) wcs = astro_wcs_new(&keys, &error);
  g_assert_no_error(error);
  for (guint i = 0; i < 49; i++) {
    double x = i % 7 * (image->size - 1) / 6.0, y = i / 7 * (image->size - 1) / 6.0;
    double l = astro_image_l(image, x), m = astro_image_m(image, y), n = sqrt(1 - l * l - m * m);
    double ra, dec, back_x, back_y, lmn[3];
    if (!(n > 0.05))
      continue;
    g_assert_true(astro_wcs_world(wcs, x, y, &ra, &dec));
    g_assert_true(ra >= 0 && ra <= 2 * G_PI);
    astro_lmn_from_direction(observation, ra, dec, lmn);
    g_assert_cmpfloat_with_epsilon(lmn[0], l, 1e-12);
    g_assert_cmpfloat_with_epsilon(lmn[1], m, 1e-12);
    g_assert_cmpfloat_with_epsilon(lmn[2], n, 1e-11);
    g_assert_true(astro_wcs_pixel(wcs, ra, dec, &back_x, &back_y));
    g_assert_cmpfloat_with_epsilon(back_x, x, 1e-13 / image->pixel);
    g_assert_cmpfloat_with_epsilon(back_y, y, 1e-13 / image->pixel);
  }
}

static void test_directions(void)
{
  for (guint i = 0; i < G_N_ELEMENTS(images); i++)
    for (guint c = 0; c < G_N_ELEMENTS(centres); c++) {
      g_autoptr(AstroObservation) observation = observation_at(centres[c][0], centres[c][1]);
      check_image(&images[i], observation);
    }
}

/* East is to the left, north is up, the phase centre in the middle. */
static void test_orientation(void)
{
  g_autoptr(AstroObservation) observation = observation_at(1, 0.5);
  AstroGrid image = { .size = 100, .pixel = 1e-3 };
  AstroWcsKeys keys;
  double ra, dec;
  g_assert_true(astro_wcs_keys(&keys, &image, observation, NULL));
  g_autoptr(AstroWcs) wcs = astro_wcs_new(&keys, NULL);
  g_assert_cmpfloat(keys.crpix[0], ==, 51);
  g_assert_true(astro_wcs_world(wcs, 50, 50, &ra, &dec));
  g_assert_cmpfloat_with_epsilon(ra, 1, 1e-15);
  g_assert_cmpfloat_with_epsilon(dec, 0.5, 1e-15);
  g_assert_true(astro_wcs_world(wcs, 49, 50, &ra, &dec));
  g_assert_cmpfloat(ra, >, 1);
  g_assert_true(astro_wcs_world(wcs, 50, 51, &ra, &dec));
  g_assert_cmpfloat(dec, >, 0.5);
}

static void test_errors(void)
{
  g_autoptr(AstroObservation) nowhere = astro_observation_new(0);
  AstroGrid image = { .size = 100, .pixel = 0.05 };
  AstroWcsKeys keys;
  g_autoptr(GError) error = NULL;
  double a, b;
  g_assert_false(astro_wcs_keys(&keys, &image, NULL, &error));
  g_assert_nonnull(strstr(error->message, "observation"));
  g_clear_error(&error);
  g_assert_false(astro_wcs_keys(&keys, &image, nowhere, &error));
  g_assert_nonnull(strstr(error->message, "phase centre"));
  g_clear_error(&error);

  g_autoptr(AstroObservation) observation = observation_at(1, 0.5);
  g_assert_true(astro_wcs_keys(&keys, &image, observation, NULL));
  g_autoptr(AstroWcs) wcs = astro_wcs_new(&keys, NULL);
  g_assert_false(astro_wcs_world(wcs, 0, 0, &a, &b));           /* off the sky */
  g_assert_false(astro_wcs_pixel(wcs, 1 + G_PI, -0.5, &a, &b)); /* behind us */
  keys.cdelt[0] = 0;
  g_assert_null(astro_wcs_new(&keys, &error));
  g_assert_nonnull(error);
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/wcs/directions", test_directions);
  g_test_add_func("/wcs/orientation", test_orientation);
  g_test_add_func("/wcs/errors", test_errors);
  return g_test_run();
}
