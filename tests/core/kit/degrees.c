/* Sines, cosines and angles of core/kit/degrees.h against those of long double. */
#include "core/kit/degrees.h"
#include "tests/tests.h"

#define PI_L 3.14159265358979323846264338327950288L

/* How many units of its last place x is off. */
static double units_off(double x, long double expected)
{
  const double size = fabs(x);
  return (double)fabsl((x - expected) / (nextafter(size, INFINITY) - size));
}

/* The sine of an angle and `more` quarters. It is reduced to the nearest quarter exactly, as pi in
 * long double is not exact. */
static long double exact_sine(double degrees, gint64 more)
{
  const double quarters = rint(degrees / 90);
  const long double rest = (degrees - 90 * quarters) * PI_L / 180;
  const gint64 quarter = ((gint64)quarters + more) & 3;
  const long double sine = quarter % 2 ? cosl(rest) : sinl(rest);
  return quarter < 2 ? sine : -sine;
}

static void test_sines(void)
{
  for (guint i = 0; i < 200000; i++) {
    const double degrees =
        g_random_double_range(-1, 1) * (double[]){ 1e-6, 1, 91, 360, 1e6 }[i % 5];
    double sine, cosine;
    astro_sin_cos(degrees, &sine, &cosine);
    g_assert_cmpfloat(units_off(sine, exact_sine(degrees, 0)), <, 2);
    g_assert_cmpfloat(units_off(cosine, exact_sine(degrees, 1)), <, 2);
  }
}

static void test_quarters(void)
{
  static const double sines[] = { 0, 1, 0, -1 };
  for (gint k = -12; k <= 12; k++) {
    double sine, cosine;
    astro_sin_cos(90 * k, &sine, &cosine);
    g_assert_cmpfloat(sine, ==, sines[k & 3]);
    g_assert_cmpfloat(cosine, ==, sines[(k + 1) & 3]);
  }
  double sine, cosine, same_sine, same_cosine;
  astro_sin_cos(fmod(1e300, 360), &sine, &cosine);
  astro_sin_cos(1e300, &same_sine, &same_cosine);
  g_assert_cmpfloat(sine, ==, same_sine);
  g_assert_cmpfloat(cosine, ==, same_cosine);
}

static void test_angles(void)
{
  for (guint i = 0; i < 200000; i++) {
    const double y = g_random_double_range(-1, 1) * (i % 3 ? 1 : 1e-9),
                 x = g_random_double_range(-1, 1) * (i % 5 ? 1 : 1e-9);
    g_assert_cmpfloat(units_off(astro_angle(y, x), atan2l(y, x) * 180 / PI_L), <, 6);
    const double sine = i % 7 ? y : 1 - fabs(y);
    g_assert_cmpfloat(units_off(astro_angle_of_sine(sine), asinl(sine) * 180 / PI_L), <, 6);
  }
  static const double ends[][3] = { { 0, 0, 0 },    { 0, 1, 0 },    { 1, 0, 90 },
                                    { 0, -1, 180 }, { -1, 0, -90 }, { 1, 1, 45 } };
  for (guint i = 0; i < G_N_ELEMENTS(ends); i++)
    g_assert_cmpfloat(astro_angle(ends[i][0], ends[i][1]), ==, ends[i][2]);
  g_assert_cmpfloat(astro_angle_of_sine(-1), ==, -90);
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/degrees/sines", test_sines);
  g_test_add_func("/degrees/quarters", test_quarters);
  g_test_add_func("/degrees/angles", test_angles);
  return g_test_run();
}
