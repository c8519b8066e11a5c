/* Weighted least squares with polynomials that are orthogonal over the points, since powers of
 * nearly equal frequencies are nearly the same. */
#include "config.h"
#include "core/kit/polynomial.h"

#include <math.h>
#include <string.h>

/* A power of x has to have this part of its square left when lower powers are taken out; less is
 * rounding alone, and the points are too few. */
#define LEAST_NEW 1e-18

/* Orthogonal polynomials: their values at the points, and their coefficients. */
typedef struct {
  double *values[ASTRO_POLYNOMIAL_MOST_TERMS];
  double coefficients[ASTRO_POLYNOMIAL_MOST_TERMS][ASTRO_POLYNOMIAL_MOST_TERMS];
  double square[ASTRO_POLYNOMIAL_MOST_TERMS];
} Basis;

static double product(const AstroPolynomial *fit, const double *a, const double *b)
{
  double sum = 0;
  for (guint i = 0; i < fit->n; i++)
    sum += fit->weights[i] * a[i] * b[i];
  return sum;
}

/* The next polynomial is x^k without what lower ones can express. Doing that twice takes out the
 * rounding error of the first time. */
static gboolean extend(const AstroPolynomial *fit, Basis *basis, guint k)
{
  double *own = basis->values[k];
  for (guint i = 0; i < fit->n; i++)
    own[i] = pow(fit->x[i], k);
  const double whole = product(fit, own, own);
  basis->coefficients[k][k] = 1;
  for (guint pass = 0; pass < 2; pass++)
    for (guint lower = 0; lower < k; lower++) {
      const double part = product(fit, own, basis->values[lower]) / basis->square[lower];
      for (guint i = 0; i < fit->n; i++)
        own[i] -= part * basis->values[lower][i];
      for (guint j = 0; j <= lower; j++)
        basis->coefficients[k][j] -= part * basis->coefficients[lower][j];
    }
  basis->square[k] = product(fit, own, own);
  return basis->square[k] > LEAST_NEW * whole;
}

static void fill_solution(AstroPolynomial *fit, const Basis *basis)
{
  for (guint k = 0; k < fit->terms; k++)
    for (guint i = 0; i < fit->n; i++) {
      const double part = fit->weights[i] * basis->values[k][i] / basis->square[k];
      for (guint j = 0; j <= k; j++)
        fit->solve[j * fit->n + i] += basis->coefficients[k][j] * part;
    }
}

static guint points_with_weight(const AstroPolynomial *fit)
{
  guint points = 0;
  for (guint i = 0; i < fit->n; i++)
    points += fit->weights[i] > 0;
  return points;
}

gboolean astro_polynomial_init(AstroPolynomial *fit, const double *x, const double *weights,
                               guint n, guint terms)
{
  *fit = (AstroPolynomial){ .n = n,
                            .terms = terms,
                            .x = g_memdup2(x, n * sizeof *x),
                            .weights = g_memdup2(weights, n * sizeof *weights),
                            .solve = g_new0(double, (gsize)terms *n) };
  g_autofree double *values = g_new(double, (gsize)terms *n);
  Basis basis = { .coefficients = { { 0 } } };
  gboolean is_new = points_with_weight(fit) >= terms;
  for (guint k = 0; k < terms && is_new; k++) {
    basis.values[k] = values + (gsize)k * n;
    is_new = extend(fit, &basis, k);
  }
  if (is_new)
    fill_solution(fit, &basis);
  return is_new;
}

void astro_polynomial_clear(AstroPolynomial *fit)
{
  g_clear_pointer(&fit->x, g_free);
  g_clear_pointer(&fit->weights, g_free);
  g_clear_pointer(&fit->solve, g_free);
}

void astro_polynomial_solve(const AstroPolynomial *fit, const double *values, double *coefficients)
{
  for (guint k = 0; k < fit->terms; k++) {
    double sum = 0;
    for (guint i = 0; i < fit->n; i++)
      if (fit->weights[i] > 0)
        sum += fit->solve[k * fit->n + i] * values[i];
    coefficients[k] = sum;
  }
}

double astro_polynomial_at(const double *coefficients, guint terms, double x)
{
  double value = 0;
  for (guint k = terms; k-- > 0;)
    value = value * x + coefficients[k];
  return value;
}
