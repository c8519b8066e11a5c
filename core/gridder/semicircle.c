#include "config.h"
#include "core/gridder/semicircle.h"

#include <math.h>

#define SUPPORTS (ASTRO_SEMICIRCLE_MAX - ASTRO_SEMICIRCLE_MIN + 1)

/* For each padding and support, from the least on: the root mean square over the image and over
 * positions between cells of the error of one axis, relative, measured in double, and the beta for
 * which it is least. A shape made for a padding is at least as good with more. */
static const struct {
  double padding;
  struct {
    double error, beta;
  } shapes[SUPPORTS];
} table[] = {
  { 1.20,
    { { 7.15e-03, 6.524 },
      { 2.05e-03, 8.522 },
      { 5.92e-04, 10.556 },
      { 1.67e-04, 12.443 },
      { 5.10e-05, 14.368 },
      { 1.36e-05, 16.163 },
      { 4.49e-06, 17.959 },
      { 1.11e-06, 19.957 },
      { 2.98e-07, 21.771 },
      { 9.46e-08, 23.586 },
      { 2.84e-08, 24.887 },
      { 9.18e-09, 26.664 },
      { 2.18e-09, 28.735 } } },
  { 1.25,
    { { 5.13e-03, 6.786 },
      { 1.29e-03, 8.859 },
      { 3.27e-04, 10.857 },
      { 8.32e-05, 12.799 },
      { 2.19e-05, 14.778 },
      { 5.47e-06, 16.625 },
      { 1.56e-06, 18.661 },
      { 3.38e-07, 20.527 },
      { 8.41e-08, 22.393 },
      { 2.38e-08, 24.259 },
      { 6.09e-09, 25.598 },
      { 1.64e-09, 27.709 },
      { 3.41e-10, 29.556 } } },
  { 1.30,
    { { 3.87e-03, 7.037 },
      { 8.76e-04, 9.086 },
      { 1.99e-04, 11.136 },
      { 4.61e-05, 13.127 },
      { 1.07e-05, 15.157 },
      { 2.52e-06, 17.052 },
      { 6.10e-07, 19.140 },
      { 1.23e-07, 21.054 },
      { 2.85e-08, 22.967 },
      { 7.19e-09, 24.379 },
      { 1.68e-09, 26.254 },
      { 3.65e-10, 28.419 },
      { 7.25e-11, 30.314 } } },
  { 1.40,
    { { 2.43e-03, 7.432 },
      { 4.64e-04, 9.593 },
      { 9.04e-05, 11.633 },
      { 1.78e-05, 13.713 },
      { 3.36e-06, 15.834 },
      { 7.09e-07, 17.813 },
      { 1.32e-07, 19.994 },
      { 2.37e-08, 21.993 },
      { 4.81e-09, 23.993 },
      { 9.58e-10, 25.467 },
      { 1.95e-10, 27.709 },
      { 3.24e-11, 29.688 },
      { 6.12e-12, 31.667 } } },
  { 1.50,
    { { 1.67e-03, 7.791 },
      { 2.79e-04, 9.948 },
      { 4.79e-05, 12.189 },
      { 8.47e-06, 14.368 },
      { 1.36e-06, 16.420 },
      { 2.58e-07, 18.473 },
      { 3.94e-08, 20.735 },
      { 6.47e-09, 22.808 },
      { 1.17e-09, 24.881 },
      { 2.05e-10, 26.410 },
      { 3.22e-11, 28.735 },
      { 4.97e-12, 30.788 },
      { 8.95e-13, 32.840 } } },
  { 1.75,
    { { 8.37e-04, 8.437 },
      { 1.10e-04, 10.771 },
      { 1.47e-05, 13.060 },
      { 1.97e-06, 15.394 },
      { 2.74e-07, 17.593 },
      { 3.69e-08, 19.994 },
      { 4.58e-09, 22.216 },
      { 6.26e-10, 24.437 },
      { 8.75e-11, 26.120 },
      { 1.11e-11, 28.588 },
      { 1.36e-12, 30.788 },
      { 1.89e-13, 32.987 },
      { 2.91e-14, 35.186 } } },
  { 2.00,
    { { 5.30e-04, 8.859 },
      { 5.97e-05, 11.310 },
      { 6.90e-06, 13.713 },
      { 7.64e-07, 16.163 },
      { 9.37e-08, 18.473 },
      { 9.91e-09, 20.994 },
      { 1.09e-09, 23.326 },
      { 1.29e-10, 25.659 },
      { 1.49e-11, 27.709 },
      { 1.52e-12, 30.018 },
      { 1.71e-13, 32.327 },
      { 2.28e-14, 34.636 },
      { 8.69e-15, 37.322 } } },
};

/* Three axes, and small images, of which much is edge, where the error is greatest. */
#define MARGIN 4.5

/* What rounding leaves in the middle of an image, measured. */
#define ROUNDING(is_double) ((is_double) ? 7.5e-17 : 4e-8)

/* What one support and padding cost, in nanoseconds a pixel of the image, measured: planes, whose
 * number grows with the padding, each transformed and added to the image; and two visibilities a
 * pixel, each spread over support planes. */
static double cost(double padding, guint support, gboolean is_double)
{
  const guint block = is_double ? 4 : 8, vectors = (support + 2 * block - 2) / block;
  const double plane = (is_double ? 10.5 : 5) * padding * padding + 6;
  return plane * (8 * padding + support) + 2 * support * (0.57 * support * vectors + 7);
}

/* Division by the transform blows up what rounding left at the edges of the image: by how much,
 * root mean square over three axes. */
static double amplification(guint support, double beta, double padding)
{
  const guint points = 16;
  double sum = 0;
  for (guint i = 0; i < points; i++) {
    const double at = astro_semicircle_transform(support, beta, (i + 0.5) / points / (2 * padding));
    sum += 1 / (at * at);
  }
  const double middle = astro_semicircle_transform(support, beta, 0);
  return pow(sum / points * middle * middle, 1.5);
}

gboolean astro_semicircle_choose(AstroSemicircle *shape, double accuracy, double padding,
                                 guint support, gboolean is_double)
{
  double least = INFINITY;
  for (guint i = 0; i < G_N_ELEMENTS(table); i++) {
    const double actual = padding > 0 ? padding : table[i].padding;
    if (table[i].padding > actual + 1e-9)
      continue;
    for (guint k = 0; k < SUPPORTS; k++) {
      const guint cells = ASTRO_SEMICIRCLE_MIN + k;
      const double price = cost(actual, cells, is_double), beta = table[i].shapes[k].beta;
      const double error = table[i].shapes[k].error * MARGIN;
      if (error > accuracy || price >= least || (support && cells != support) ||
          hypot(error, amplification(cells, beta, actual) * ROUNDING(is_double)) > accuracy)
        continue;
      least = price;
      *shape = (AstroSemicircle){ cells, beta, actual };
    }
  }
  return least < INFINITY;
}

double astro_semicircle(double beta, double z)
{
  return z * z < 1 ? exp(beta * (sqrt(1 - z * z) - 1)) : 0;
}

/* With z = sin t the integrand has no singular ends, and the midpoint rule converges as fast as for
 * periodic functions. */
double astro_semicircle_transform(guint support, double beta, double frequency)
{
  const guint points = 64 + 4 * support;
  double sum = 0;
  for (guint i = 0; i < points; i++) {
    const double t = G_PI_2 * (i + 0.5) / points;
    sum += cos(t) * exp(beta * (cos(t) - 1)) * cos(G_PI * frequency * support * sin(t));
  }
  return sum * support * G_PI_2 / points;
}

/* Through the Chebyshev points, then as powers of x. */
void astro_semicircle_fit(guint support, double beta, guint tap, guint degree, double *powers)
{
  const guint n = degree + 1;
  double before[ASTRO_SEMICIRCLE_TERMS] = { 1 }, now[ASTRO_SEMICIRCLE_TERMS] = { 0, 1 };
  for (guint k = 0; k < n; k++)
    powers[k] = 0;
  for (guint k = 0; k < n; k++) {
    double c = 0;
    for (guint i = 0; i < n; i++) {
      const double angle = G_PI * (i + 0.5) / n;
      const double d = (cos(angle) + 1) / 2 + tap - support / 2.0;
      c += astro_semicircle(beta, 2 * d / support) * cos(k * angle) * (k ? 2.0 : 1.0) / n;
    }
    for (guint i = 0; i < n; i++)
      powers[i] += c * before[i];
    double next[ASTRO_SEMICIRCLE_TERMS] = { 0 };
    for (guint i = 0; i < n; i++)
      next[i] = (i ? 2 * now[i - 1] : 0) - before[i];
    for (guint i = 0; i < n; i++) {
      before[i] = now[i];
      now[i] = next[i];
    }
  }
}
