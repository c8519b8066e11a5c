/* Kaiser-Bessel and prolate spheroidal tapers. */
#include "config.h"
#include "core/lib/spread/taper.h"

#include <math.h>

/* The modified Bessel function I0. */
static double bessel_i0(double x)
{
  double term = 1, sum = 1;
  for (guint k = 1; term > 1e-17 * sum; k++) {
    term *= x * x / (4.0 * k * k);
    sum += term;
  }
  return sum;
}

#define COEFFICIENTS 48

/* The prolate spheroidal wave function of order 0 as a sum of normalised Legendre polynomials of
 * even degree: the eigenvector with the smallest eigenvalue of a tridiagonal matrix, by inverse
 * iteration. */
static void spheroidal_coefficients(double c, double *d)
{
  double diagonal[COEFFICIENTS], beside[COEFFICIENTS];
  for (guint i = 0; i < COEFFICIENTS; i++) {
    double k = 2.0 * i;
    diagonal[i] = k * (k + 1) + c * c * (2 * k * (k + 1) - 1) / ((2 * k + 3) * (2 * k - 1));
    beside[i] = c * c * (k + 2) * (k + 1) / ((2 * k + 3) * sqrt((2 * k + 1) * (2 * k + 5)));
    d[i] = exp(-(double)i);
  }
  for (guint iteration = 0; iteration < 40; iteration++) {
    double pivot[COEFFICIENTS], norm = 0;
    pivot[0] = diagonal[0];
    for (guint i = 1; i < COEFFICIENTS; i++) {
      double ratio = beside[i - 1] / pivot[i - 1];
      pivot[i] = diagonal[i] - ratio * beside[i - 1];
      d[i] -= ratio * d[i - 1];
    }
    for (guint i = COEFFICIENTS; i-- > 0;) {
      d[i] = (d[i] - (i + 1 < COEFFICIENTS ? beside[i] * d[i + 1] : 0)) / pivot[i];
      norm += d[i] * d[i];
    }
    for (guint i = 0; i < COEFFICIENTS; i++)
      d[i] /= sqrt(norm);
  }
}

static double legendre_sum(const double *d, double x)
{
  double before = 1, now = x, sum = d[0] * sqrt(0.5);
  for (guint k = 2; k < 2 * COEFFICIENTS; k++) {
    double next = ((2.0 * k - 1) * x * now - (k - 1.0) * before) / k;
    before = now;
    now = next;
    if (k % 2 == 0)
      sum += d[k / 2] * sqrt(k + 0.5) * now;
  }
  return sum;
}

static void kaiser_bessel(double beta, double *x, guint n)
{
  const double middle = bessel_i0(beta);
  for (guint i = 0; i < n; i++)
    x[i] = bessel_i0(beta * sqrt(1 - 4 * x[i] * x[i])) / middle;
}

static void spheroidal(double beta, double *x, guint n)
{
  double d[COEFFICIENTS];
  spheroidal_coefficients(beta, d);
  const double middle = legendre_sum(d, 0);
  for (guint i = 0; i < n; i++)
    x[i] = legendre_sum(d, 2 * x[i]) / middle;
}

void astro_tapers(AstroSpreadKind kind, double beta, double *x, guint n)
{
  (kind == ASTRO_SPREAD_SPHEROIDAL ? spheroidal : kaiser_bessel)(beta, x, n);
}

double astro_taper(AstroSpreadKind kind, double beta, double x)
{
  if (!(fabs(x) <= 0.5))
    return 0;
  astro_tapers(kind, beta, &x, 1);
  return x;
}
