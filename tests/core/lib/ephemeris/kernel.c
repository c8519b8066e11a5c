#include "tests/core/lib/ephemeris/kernel.h"
#include "tests/tests.h"

#include <erfa.h>

#define FROM 489888000.0 /* s after J2000: July 2015 */

/* ERFA's ephemeris, with the Moon's part of it as a slow circle. */
static void place_of(guint body, double seconds, double place[3])
{
  double heliocentric[2][3], barycentric[2][3];
  const double circle[3] = { 4600 * cos(seconds / 4e5), 4600 * sin(seconds / 4e5), 100 };
  eraEpv00(2451545.0, seconds / 86400, heliocentric, barycentric);
  for (guint i = 0; i < 3; i++) {
    const double earth = barycentric[0][i] * 149597870.7;
    place[i] = body == 0   ? earth - circle[i]
               : body == 1 ? circle[i]
                           : earth - heliocentric[0][i] * 149597870.7;
  }
}

/* Everything of ERFA's ephemeris that can be compared is in the kernel made of it. */
static void test_positions(void)
{
  g_autofree guint8 *bytes = g_malloc(TEST_KERNEL_BYTES);
  g_autoptr(GError) error = NULL;
  test_make_kernel(bytes, FROM, place_of);
  g_autoptr(AstroKernel) kernel =
      astro_kernel_from_bytes("test.bsp", bytes, TEST_KERNEL_BYTES, &error);
  g_assert_no_error(error);
  for (guint i = 0; i <= 240; i++) {
    AstroPlanets found, expected;
    const double jd = 2451545.0 + FROM / 86400, days = i / 10.0;
    astro_planets_at(kernel, jd, days, &found, &error);
    g_assert_no_error(error);
    g_assert_true(astro_planets_at(NULL, jd, days, &expected, NULL));
    for (guint k = 0; k < 3; k++) {
      g_assert_cmpfloat(fabs(found.earth[k] - expected.earth[k]), <, 1);
      g_assert_cmpfloat(fabs(found.sun[k] - expected.sun[k]), <, 1);
      g_assert_cmpfloat(fabs(found.velocity[k] - expected.velocity[k]), <, 0.05);
    }
  }
}

static void test_span(void)
{
  g_autofree guint8 *bytes = g_malloc(TEST_KERNEL_BYTES);
  g_autoptr(GError) error = NULL;
  AstroPlanets planets;
  test_make_kernel(bytes, FROM, place_of);
  g_autoptr(AstroKernel) kernel =
      astro_kernel_from_bytes("test.bsp", bytes, TEST_KERNEL_BYTES, NULL);
  g_assert_false(astro_planets_at(kernel, 2451545.0 + FROM / 86400, 24.1, &planets, &error));
  g_test_message("%s", error->message);
  g_assert_nonnull(strstr(error->message, "covers the Julian dates 2457215.0 to 2457239.0"));
}

/* A file that is changed at a place, and words of the error. */
static const struct {
  gsize at;
  gboolean is_int;
  double value;
  const char *word;
} bad[] = {
  { 0, TRUE, 0, "does not begin as an SPK file" },
  { 88, TRUE, 0, "little-endian" },
  { 8, TRUE, 3, "another form" },
  { 76, TRUE, 9999, "does not end in it" },
  { 76, TRUE, -1, "no segment of the barycentre" },
  { 1024, FALSE, 2, "does not end in it" },
  { 1024, FALSE, NAN, "impossible length" },
  { 1024 + 16, FALSE, 26, "impossible length" },
  { 1024 + 16, FALSE, 2, "no segment of the Sun" },
  { 1024 + 24 + 16 + 12, TRUE, 3, "type 3" },
  { 1024 + 24 + 16 + 16, TRUE, 0, "beyond its end" },
  { 1024 + 24 + 16 + 16, TRUE, G_MAXINT32, "beyond its end" },
  { 1024 + 24 + 16 + 20, TRUE, G_MAXINT32, "beyond its end" },
  { 1024 + 24 + 16 + 20, TRUE, G_MININT32, "beyond its end" },
  { 3072 + 8 * (TEST_KERNEL_SEGMENT - 2), FALSE, 1e9, "impossible size" },
  { 3072 + 8 * (TEST_KERNEL_SEGMENT - 1), FALSE, 4, "shorter than its records" },
  { 3072 + 8 * (TEST_KERNEL_SEGMENT - 3), FALSE, 0, "impossible times" },
};

static void test_refused(void)
{
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autofree guint8 *bytes = g_malloc(TEST_KERNEL_BYTES);
    g_autoptr(GError) error = NULL;
    test_make_kernel(bytes, FROM, place_of);
    if (bad[i].is_int)
      test_put_int(bytes + bad[i].at, (gint32)bad[i].value);
    else
      test_put_double(bytes + bad[i].at, bad[i].value);
    g_assert_null(astro_kernel_from_bytes("test.bsp", bytes, TEST_KERNEL_BYTES, &error));
    g_test_message("%s", error->message);
    g_assert_nonnull(strstr(error->message, bad[i].word));
  }
}

static void add_tests(void)
{
  g_test_add_func("/kernel/positions", test_positions);
  g_test_add_func("/kernel/span", test_span);
  g_test_add_func("/kernel/refused", test_refused);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
