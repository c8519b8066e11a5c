/* Weighted fits of polynomials: exact ones come back, weights count, and points that are too few or
 * without weight are told. */
#include <math.h>

#include "core/kit/polynomial.h"
#include "tests/tests.h"

static void test_exact(void)
{
  static const double x[] = { -0.01, -0.003, 0, 0.004, 0.01 }, weights[] = { 1, 2, 0, 4, 0.5 };
  static const double wanted[] = { 2, -30, 400 };
  for (guint terms = 1; terms <= 3; terms++) {
    AstroPolynomial fit;
    double values[5], got[3];
    for (guint i = 0; i < 5; i++)
      values[i] = weights[i] > 0 ? astro_polynomial_at(wanted, terms, x[i]) : NAN;
    g_assert_true(astro_polynomial_init(&fit, x, weights, 5, terms));
    astro_polynomial_solve(&fit, values, got);
    for (guint k = 0; k < terms; k++)
      g_assert_cmpfloat_with_epsilon(got[k], wanted[k], 1e-8 * wanted[k] * wanted[k]);
    astro_polynomial_clear(&fit);
  }
}

/* One term is the weighted mean; two are the line by the textbook's formula. */
static void test_weights(void)
{
  static const double x[] = { 0, 1, 3 }, weights[] = { 1, 2, 5 }, values[] = { 4, 1, 7 };
  double w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0, got[2];
  AstroPolynomial fit;
  for (guint i = 0; i < 3; i++) {
    w += weights[i];
    wx += weights[i] * x[i];
    wxx += weights[i] * x[i] * x[i];
    wy += weights[i] * values[i];
    wxy += weights[i] * x[i] * values[i];
  }
  g_assert_true(astro_polynomial_init(&fit, x, weights, 3, 1));
  astro_polynomial_solve(&fit, values, got);
  g_assert_cmpfloat_with_epsilon(got[0], wy / w, 1e-14);
  astro_polynomial_clear(&fit);
  g_assert_true(astro_polynomial_init(&fit, x, weights, 3, 2));
  astro_polynomial_solve(&fit, values, got);
  g_assert_cmpfloat_with_epsilon(got[1], (w * wxy - wx * wy) / (w * wxx - wx * wx), 1e-13);
  g_assert_cmpfloat_with_epsilon(got[0], (wy - got[1] * wx) / w, 1e-13);
  astro_polynomial_clear(&fit);
}

static void test_too_few(void)
{
  static const double x[] = { 1, 1, 2 }, same[] = { 1, 1, 0 }, none[] = { 0, 0, 0 };
  AstroPolynomial fit;
  g_assert_false(astro_polynomial_init(&fit, x, same, 3, 2));
  astro_polynomial_clear(&fit);
  g_assert_false(astro_polynomial_init(&fit, x, none, 3, 1));
  astro_polynomial_clear(&fit);
  g_assert_true(astro_polynomial_init(&fit, x, same, 3, 1));
  astro_polynomial_clear(&fit);
}

static void add_tests(void)
{
  g_test_add_func("/polynomial/exact", test_exact);
  g_test_add_func("/polynomial/weights", test_weights);
  g_test_add_func("/polynomial/too-few", test_too_few);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
