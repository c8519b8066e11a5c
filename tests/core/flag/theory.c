/* The distribution of the spectral kurtosis: moments and quantiles, against noise. */
#include "core/flag/theory.h"
#include "tests/core/flag/flag.h"

/* Fast numbers between 0 and 1, as many are needed. */
static double next_uniform(guint64 *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return (double)((*state >> 11) + 1) * 0x1p-53;
}

static double noise_kurtosis(guint64 *state, guint m)
{
  double sum = 0, squares = 0;
  for (guint i = 0; i < m; i++) {
    const double power = -log(next_uniform(state));
    sum += power;
    squares += power * power;
  }
  return (m + 1.) / (m - 1.) * (m * squares / (sum * sum) - 1);
}

/* Nita and Gary 2010: for large M the variance is 4/M, the skewness 10/sqrt(M), and the excess
 * 246/M; for M = 2 both powers are in proportion u to 1 - u with u uniform, so that the moments
 * follow from those of u. */
static void test_moments(void)
{
  const AstroFlagMoments large = astro_flag_moments(1e6), two = astro_flag_moments(2);
  g_assert_cmpfloat_with_epsilon(large.variance * 1e6, 4, 1e-4);
  g_assert_cmpfloat_with_epsilon(large.third / pow(large.variance, 1.5) * 1e3, 10, 1e-3);
  g_assert_cmpfloat_with_epsilon((large.fourth / pow(large.variance, 2) - 3) * 1e6, 246, 0.1);
  /* SK = 3 (2u - 1)^2, and (2u - 1)^2 has the moments 1/3, 1/5, 1/7, 1/9. */
  const double a = 3. / 3, b = 9. / 5, c = 27. / 7, d = 81. / 9;
  g_assert_cmpfloat_with_epsilon(two.variance, b - a * a, 1e-12);
  g_assert_cmpfloat_with_epsilon(two.third, c - 3 * a * b + 2 * a * a * a, 1e-12);
  g_assert_cmpfloat_with_epsilon(two.fourth, d - 4 * a * c + 6 * a * a * b - 3 * a * a * a * a,
                                 1e-12);
}

static void count(guint m, guint trials, double false_alarm, guint64 *low, guint64 *high)
{
  const AstroFlagLimits limits = astro_flag_limits(m, false_alarm);
  guint64 state = 88172645463325252 + m;
  *low = *high = 0;
  for (guint i = 0; i < trials; i++) {
    const double kurtosis = noise_kurtosis(&state, m);
    *low += kurtosis < limits.low;
    *high += kurtosis > limits.high;
  }
}

/* From 1024 samples on both tails have half of the false alarms; below, the upper one, and the
 * lower one has fewer. */
static void test_false_alarms(void)
{
  guint64 low, high;
  count(1024, 20000, 0.02, &low, &high);
  test_flag_expect(low, 20000, 0.01, 0.01);
  test_flag_expect(high, 20000, 0.01, 0.01);
  count(4096, 5000, 0.1, &low, &high);
  test_flag_expect(low, 5000, 0.05, 0.01);
  test_flag_expect(high, 5000, 0.05, 0.01);
  count(64, 200000, 0.002, &low, &high);
  test_flag_expect(high, 200000, 0.001, 0.05);
  g_assert_cmpuint(low, >, 60);
  g_assert_cmpuint(low, <, 200);
}

/* The table interpolates between nodes, and its limits close in on 1. */
static void test_table(void)
{
  AstroFlagLimitTable *table = astro_flag_limit_table_new(1e-3);
  AstroFlagLimits last = { 0, G_MAXDOUBLE };
  for (guint32 m = 64; m < 3000000; m += 1 + m / 3) {
    const AstroFlagLimits exact = astro_flag_limits(m, 1e-3),
                          found = astro_flag_limit_table_find(table, m);
    g_assert_cmpfloat(fabs(found.low - exact.low), <, 1e-3 * (1 - exact.low));
    g_assert_cmpfloat(fabs(found.high - exact.high), <, 1e-3 * (exact.high - 1));
    g_assert_cmpfloat(found.low, >, last.low);
    g_assert_cmpfloat(found.high, <, last.high);
    last = found;
  }
  const AstroFlagLimits most = astro_flag_limit_table_find(table, G_MAXUINT32);
  g_assert_cmpfloat(most.low, >, last.low);
  astro_flag_limit_table_free(table);
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/flag/theory/moments", test_moments);
  g_test_add_func("/flag/theory/false-alarms", test_false_alarms);
  g_test_add_func("/flag/theory/table", test_table);
  return g_test_run();
}
