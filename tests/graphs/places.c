/* Places as people read them: with the digits that the beam allows, and no useless zeros. */
#include "graphs/places.h"
#include "core/kit/units.h"
#include "tests/tests.h"

#define ARCSEC (ASTRO_DEGREE / 3600)

static void test_offsets(void)
{
  static const struct {
    double l, m, beam; /* arcsec */
    const char *expected;
  } cases[] = {
    { 0.004, 0.003, 406, "l 0.004000, m 0.003000" },
    { -1e-9, -0.00123456, 406, "l 0.000000, m -0.001235" },
    { 0.002, 0.0015, 4.1, "l 0.00200000, m 0.00150000" },
    { 0.3, 0, 3600 * 10, "l 0.3000, m 0.0000" },
    /* M87's core seen by the VLBA, and a smaller beam: places are angles. */
    { -1.3e-10, 1.5e-9, 0.0005, "-0.027 mas east, 0.309 mas north" },
    { 1e-11, -1e-15, 0.00002, "2.06 uas east, 0.00 uas north" },
    { 1e-6, -1e-7, 0.5, "206 mas east, -21 mas north" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = astro_places_offset(cases[i].l, cases[i].m, cases[i].beam * ARCSEC);
    g_assert_cmpstr(text, ==, cases[i].expected);
  }
}

static void test_directions(void)
{
  static const struct {
    double ra, dec, beam; /* degrees, arcsec */
    const char *expected;
  } cases[] = {
    { 187.70593076, 12.39112333, 0.0005, "12:30:49.4233824, +12:23:28.043988" },
    { 187.70593076, 12.39112333, 30, "12:30:49.423, +12:23:28.0" },
    { 260.80055, -30.51422, 406, "17:23:12.13, -30:30:51" },
    { -15, -0.0001, 30, "23:00:00.000, -00:00:00.4" },
    { 359.999999999, 89.9999999999, 30, "00:00:00.000, +90:00:00.0" },
    { 14.9999999999, 0, 30, "01:00:00.000, +00:00:00.0" },
    { 360, 59.99999, 36000, "00:00:00, +60:00:00" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text =
        astro_places_direction(cases[i].ra, cases[i].dec, cases[i].beam * ARCSEC);
    g_assert_cmpstr(text, ==, cases[i].expected);
  }
}

static void test_beams(void)
{
  static const struct {
    double major, minor, angle; /* arcsec, degrees */
    const char *expected;
  } cases[] = {
    { 425.66, 406.05, 56.4, "426 x 406 arcsec, position angle 56 degrees" },
    { 5.457, 4.112, 81.5, "5.46 x 4.11 arcsec, position angle 82 degrees" },
    { 0.0012, 0.00043, -12, "1.20 x 0.430 mas, position angle -12 degrees" },
    { 2e-5, 1.5e-5, 0, "20.0 x 15.0 uas, position angle 0 degrees" },
    { 7200, 5400, 0, "2.00 x 1.50 degrees, position angle 0 degrees" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = astro_places_beam(cases[i].major * ARCSEC, cases[i].minor * ARCSEC,
                                              cases[i].angle * ASTRO_DEGREE);
    g_assert_cmpstr(text, ==, cases[i].expected);
  }
}

static void test_angles(void)
{
  static const struct {
    double arcsec;
    const char *expected;
  } cases[] = { { 45, "45 arcsec" },
                { 1.7, "1.7 arcsec" },
                { 0.00012, "0.12 mas" },
                { 2e-5, "20 uas" },
                { 5400, "1.5 degrees" } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = astro_places_angle(cases[i].arcsec * ARCSEC);
    g_assert_cmpstr(text, ==, cases[i].expected);
  }
}

static void add_tests(void)
{
  g_test_add_func("/places/offsets", test_offsets);
  g_test_add_func("/places/directions", test_directions);
  g_test_add_func("/places/beams", test_beams);
  g_test_add_func("/places/angles", test_angles);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
