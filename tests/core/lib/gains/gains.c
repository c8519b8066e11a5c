/* Tables of gains: where they are interpolated, and where nothing is known. */
#include "core/lib/gains/gains.h"
#include "tests/near.h"
#include "tests/tests.h"

/* Two stations, two groups of 1 MHz, and intervals of 10 s about 5, 15 and 35 s. */
static AstroGains *new_table(AstroGainsType type)
{
  g_autoptr(AstroObservation) observation = astro_observation_new(2);
  g_free(observation->names[0]);
  g_free(observation->names[1]);
  observation->names[0] = g_strdup("A");
  observation->names[1] = g_strdup("B");
  observation->start_mjd = 60000;
  AstroGains *gains = astro_gains_new(observation, type, 1, 2);
  gains->low = 100e6;
  gains->high = 102e6;
  gains->step = 1e6;
  static const double begins[] = { 0, 10, 30 };
  for (guint k = 0; k < 3; k++) {
    const complex double values[4] = { cexp(I * (0.2 + 0.4 * k)), 2 * cexp(I * (3 + 0.2 * k)),
                                       1 + k, 3 + k };
    const float snr[4] = { 10, 10, 10, k == 1 ? 0 : 10 };
    astro_gains_add(gains, begins[k], begins[k] + 10, values, snr, NULL);
  }
  return gains;
}

static void check(const AstroGains *gains, guint station, double seconds, double megahertz,
                  complex double expected)
{
  AstroGainsAt at;
  astro_gains_at(gains, station, seconds, megahertz * 1e6, &at);
  g_assert_true(at.has[0]);
  test_near_complex(at.jones[0], expected, 1e-12);
}

static void check_unknown(const AstroGains *gains, guint station, double seconds, double megahertz)
{
  AstroGainsAt at;
  astro_gains_at(gains, station, seconds, megahertz * 1e6, &at);
  g_assert_false(at.has[0]);
}

static void test_interpolate(void)
{
  g_autoptr(AstroGains) gains = new_table(ASTRO_GAINS_GAIN);
  check(gains, 0, 5, 100.5, cexp(0.2 * I));
  check(gains, 0, 0, 100, cexp(0.2 * I)); /* within the first half of the interval and group */
  check(gains, 0, 7.5, 100.2, cexp(0.3 * I));
  check(gains, 0, 25, 100.5, cexp(0.8 * I)); /* between intervals */
  check(gains, 0, 40, 100.5, cexp(1.0 * I));
  check(gains, 0, 5, 101, 1.5 * cexp(1.6 * I));
  /* Past 180 degrees the shorter way is taken. */
  check(gains, 0, 10, 101.5, 2 * cexp(3.1 * I));
  check(gains, 0, 12.5, 101.7, 2 * cexp(3.15 * I));
}

static void test_unknown(void)
{
  g_autoptr(AstroGains) gains = new_table(ASTRO_GAINS_GAIN);
  check_unknown(gains, 0, -0.1, 100.5);
  check_unknown(gains, 0, 40.1, 100.5);
  check_unknown(gains, 0, 5, 99.9);
  check_unknown(gains, 0, 5, 102.1);
  /* Station B has no solution in the second group of the second interval. */
  check(gains, 1, 9, 101.5, 3);
  check_unknown(gains, 1, 12, 101.5);
  check_unknown(gains, 1, 25, 101.5);
  check(gains, 1, 32, 101.5, 5);
  check(gains, 1, 15, 100.9, 2);
  gains->is_constant = TRUE;
  check(gains, 0, 1e6, 100.5, cexp(0.2 * I));
}

static void test_delay(void)
{
  g_autoptr(AstroObservation) observation = astro_observation_new(1);
  g_autoptr(AstroGains) gains = astro_gains_new(observation, ASTRO_GAINS_DELAY, 1, 1);
  gains->low = 100e6;
  gains->high = 110e6;
  gains->step = 10e6;
  const complex double value = I;
  const float snr = 5;
  const double delay = 30e-9;
  astro_gains_add(gains, 0, 10, &value, &snr, &delay);
  check(gains, 0, 5, 107, I * cexp(-2 * G_PI * I * 30e-9 * 2e6));
}

static void test_match(void)
{
  g_autoptr(AstroGains) gains = new_table(ASTRO_GAINS_GAIN);
  g_autoptr(AstroObservation) other = astro_observation_new(3);
  static const char *const names[] = { "B", "C", "A" };
  gint stations[3];
  for (guint i = 0; i < 3; i++) {
    g_free(other->names[i]);
    other->names[i] = g_strdup(names[i]);
  }
  g_assert_true(astro_gains_match(gains, other, 1, stations, NULL));
  g_assert_cmpint(stations[0], ==, 1);
  g_assert_cmpint(stations[1], ==, -1);
  g_assert_cmpint(stations[2], ==, 0);
  other->start_mjd = 60001;
  other->start_ns = 5 * G_GUINT64_CONSTANT(1000000000);
  test_near(astro_gains_time(gains, other, 7), 86412, 1e-9);
  g_autoptr(GError) error = NULL, none = NULL;
  g_assert_false(astro_gains_match(gains, other, 2, stations, &error));
  g_assert_nonnull(strstr(error->message, "pols=1, and the stream has pols=2"));
  for (guint i = 0; i < 3; i++)
    other->names[i][0] = (char)('X' + i);
  g_assert_false(astro_gains_match(gains, other, 1, stations, &none));
  g_assert_nonnull(strstr(none->message, "none of the observation's, X to Z"));
}

static void test_sum(void)
{
  g_autoptr(AstroGains) a = new_table(ASTRO_GAINS_GAIN), b = new_table(ASTRO_GAINS_GAIN);
  g_autofree char *one = astro_gains_sum(a), *same = astro_gains_sum(b);
  g_assert_cmpstr(one, ==, same);
  g_array_index(b->snr, float, 2) = 0;
  g_autofree char *other = astro_gains_sum(b);
  g_assert_cmpstr(one, !=, other);
}

static void add_tests(void)
{
  g_test_add_func("/gains/interpolate", test_interpolate);
  g_test_add_func("/gains/unknown", test_unknown);
  g_test_add_func("/gains/delay", test_delay);
  g_test_add_func("/gains/match", test_match);
  g_test_add_func("/gains/sum", test_sum);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
