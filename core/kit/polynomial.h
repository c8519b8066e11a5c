/* Fits polynomials of a few terms to weighted values by least squares. The same points are fitted
 * many times with other values, so what depends on the points alone is worked out once. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ASTRO_POLYNOMIAL_MOST_TERMS 3

typedef struct {
  guint n, terms;
  double *x;       /* [n] */
  double *weights; /* [n]; values of points with weight 0 are not read and may be NaN */
  double *solve;   /* [terms][n]: a coefficient is the sum over points of this times the value */
} AstroPolynomial;

/* terms: 1 to ASTRO_POLYNOMIAL_MOST_TERMS. FALSE if fewer than `terms` different x have weight:
 * the polynomial must not be used then, only cleared. */
gboolean astro_polynomial_init(AstroPolynomial *fit, const double *x, const double *weights,
                               guint n, guint terms);
void astro_polynomial_clear(AstroPolynomial *fit);

/* Coefficients of 1, x, x^2 for n values. */
void astro_polynomial_solve(const AstroPolynomial *fit, const double *values, double *coefficients);
double astro_polynomial_at(const double *coefficients, guint terms, double x);

G_END_DECLS
