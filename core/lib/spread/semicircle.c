/* Chooses and evaluates the exponential of a semicircle. */
#include "config.h"
#include "core/lib/spread/semicircle.h"

#include <math.h>

#define SUPPORTS (ASTRO_SEMICIRCLE_MAX - ASTRO_SEMICIRCLE_MIN + 1)

/* For each padding and support, from the smallest on: the relative error along one axis, root mean
 * square over the image and over positions between cells, measured in double precision; and the
 * beta that minimises it. A shape made for one padding is at least as accurate with more. */
static const struct {
  double padding;
  struct {
    double error, beta;
  } shapes[SUPPORTS];
} table[] = {
  { 1.20,
    { { 7.13e-03, 6.558 },
      { 2.04e-03, 8.561 },
      { 5.86e-04, 10.496 },
      { 1.70e-04, 12.400 },
      { 4.96e-05, 14.287 },
      { 1.44e-05, 16.161 },
      { 4.19e-06, 18.027 },
      { 1.21e-06, 19.886 },
      { 3.47e-07, 21.741 },
      { 9.62e-08, 23.594 },
      { 2.52e-08, 25.447 },
      { 5.98e-09, 27.303 },
      { 1.25e-09, 29.161 } } },
  { 1.25,
    { { 5.14e-03, 6.802 },
      { 1.30e-03, 8.845 },
      { 3.30e-04, 10.827 },
      { 8.54e-05, 12.781 },
      { 2.20e-05, 14.718 },
      { 5.66e-06, 16.643 },
      { 1.45e-06, 18.559 },
      { 3.73e-07, 20.470 },
      { 9.48e-08, 22.376 },
      { 2.36e-08, 24.280 },
      { 5.58e-09, 26.184 },
      { 1.20e-09, 28.091 },
      { 2.27e-10, 30.001 } } },
  { 1.30,
    { { 3.88e-03, 7.025 },
      { 8.79e-04, 9.106 },
      { 2.01e-04, 11.131 },
      { 4.71e-05, 13.131 },
      { 1.09e-05, 15.115 },
      { 2.54e-06, 17.086 },
      { 5.86e-07, 19.050 },
      { 1.36e-07, 21.008 },
      { 3.12e-08, 22.962 },
      { 7.05e-09, 24.913 },
      { 1.53e-09, 26.864 },
      { 3.04e-10, 28.818 },
      { 5.31e-11, 30.774 } } },
  { 1.35,
    { { 3.03e-03, 7.229 },
      { 6.27e-04, 9.346 },
      { 1.31e-04, 11.412 },
      { 2.80e-05, 13.455 },
      { 5.94e-06, 15.481 },
      { 1.26e-06, 17.496 },
      { 2.66e-07, 19.504 },
      { 5.61e-08, 21.506 },
      { 1.18e-08, 23.504 },
      { 2.45e-09, 25.499 },
      { 4.93e-10, 27.493 },
      { 9.17e-11, 29.490 },
      { 1.50e-11, 31.491 } } },
  { 1.40,
    { { 2.43e-03, 7.417 },
      { 4.66e-04, 9.568 },
      { 8.99e-05, 11.673 },
      { 1.77e-05, 13.755 },
      { 3.46e-06, 15.821 },
      { 6.78e-07, 17.877 },
      { 1.32e-07, 19.925 },
      { 2.58e-08, 21.968 },
      { 4.99e-09, 24.007 },
      { 9.63e-10, 26.044 },
      { 1.81e-10, 28.079 },
      { 3.18e-11, 30.115 },
      { 4.93e-12, 32.156 } } },
  { 1.45,
    { { 1.99e-03, 7.590 },
      { 3.56e-04, 9.774 },
      { 6.42e-05, 11.915 },
      { 1.17e-05, 14.034 },
      { 2.14e-06, 16.137 },
      { 3.89e-07, 18.230 },
      { 7.09e-08, 20.317 },
      { 1.29e-08, 22.398 },
      { 2.32e-09, 24.476 },
      { 4.18e-10, 26.550 },
      { 7.33e-11, 28.129 },
      { 1.23e-11, 30.698 },
      { 1.83e-12, 32.775 } } },
  { 1.50,
    { { 1.66e-03, 7.750 },
      { 2.80e-04, 9.966 },
      { 4.75e-05, 12.140 },
      { 8.13e-06, 14.294 },
      { 1.39e-06, 16.432 },
      { 2.37e-07, 18.560 },
      { 4.04e-08, 20.682 },
      { 6.88e-09, 22.799 },
      { 1.17e-09, 24.913 },
      { 1.97e-10, 27.023 },
      { 3.22e-11, 28.647 },
      { 5.23e-12, 31.241 },
      { 7.49e-13, 33.353 } } },
  { 1.55,
    { { 1.41e-03, 7.898 },
      { 2.24e-04, 10.145 },
      { 3.60e-05, 12.351 },
      { 5.83e-06, 14.537 },
      { 9.38e-07, 16.708 },
      { 1.51e-07, 18.869 },
      { 2.43e-08, 21.024 },
      { 3.90e-09, 23.174 },
      { 6.25e-10, 25.321 },
      { 9.92e-11, 26.954 },
      { 1.53e-11, 29.132 },
      { 2.35e-12, 31.307 },
      { 3.34e-13, 33.893 } } },
  { 1.60,
    { { 1.21e-03, 8.037 },
      { 1.83e-04, 10.312 },
      { 2.80e-05, 12.549 },
      { 4.30e-06, 14.764 },
      { 6.57e-07, 16.966 },
      { 1.00e-07, 19.159 },
      { 1.53e-08, 21.345 },
      { 2.33e-09, 23.526 },
      { 3.54e-10, 25.704 },
      { 5.30e-11, 27.377 },
      { 7.77e-12, 29.586 },
      { 1.13e-12, 31.788 },
      { 1.60e-13, 34.401 } } },
  { 1.65,
    { { 1.06e-03, 8.166 },
      { 1.52e-04, 10.468 },
      { 2.22e-05, 12.733 },
      { 3.25e-06, 14.978 },
      { 4.74e-07, 17.209 },
      { 6.90e-08, 19.430 },
      { 1.00e-08, 21.646 },
      { 1.45e-09, 23.856 },
      { 2.10e-10, 26.064 },
      { 2.98e-11, 27.775 },
      { 4.17e-12, 30.012 },
      { 5.81e-13, 32.246 },
      { 8.14e-14, 34.874 } } },
  { 1.70,
    { { 9.34e-04, 8.288 },
      { 1.29e-04, 10.615 },
      { 1.80e-05, 12.907 },
      { 2.51e-06, 15.179 },
      { 3.51e-07, 17.436 },
      { 4.89e-08, 19.686 },
      { 6.80e-09, 21.929 },
      { 9.43e-10, 24.167 },
      { 1.31e-10, 26.403 },
      { 1.77e-11, 28.149 },
      { 2.36e-12, 30.413 },
      { 3.15e-13, 32.669 },
      { 4.24e-14, 34.921 } } },
  { 1.75,
    { { 8.33e-04, 8.402 },
      { 1.10e-04, 10.753 },
      { 1.48e-05, 13.071 },
      { 1.98e-06, 15.368 },
      { 2.66e-07, 17.651 },
      { 3.55e-08, 19.927 },
      { 4.75e-09, 22.196 },
      { 6.32e-10, 24.461 },
      { 8.40e-11, 26.722 },
      { 1.09e-11, 28.502 },
      { 1.40e-12, 30.791 },
      { 1.79e-13, 33.076 },
      { 2.33e-14, 35.358 } } },
  { 1.80,
    { { 7.50e-04, 8.510 },
      { 9.56e-05, 10.884 },
      { 1.23e-05, 13.225 },
      { 1.59e-06, 15.546 },
      { 2.05e-07, 17.855 },
      { 2.64e-08, 20.154 },
      { 3.40e-09, 22.448 },
      { 4.36e-10, 24.737 },
      { 5.58e-11, 27.023 },
      { 6.96e-12, 28.834 },
      { 8.60e-13, 31.148 },
      { 1.06e-13, 33.452 },
      { 1.38e-14, 35.756 } } },
  { 1.90,
    { { 6.22e-04, 8.708 },
      { 7.42e-05, 11.124 },
      { 8.96e-06, 13.510 },
      { 1.08e-06, 15.875 },
      { 1.30e-07, 18.228 },
      { 1.56e-08, 20.573 },
      { 1.87e-09, 22.912 },
      { 2.24e-10, 25.247 },
      { 2.68e-11, 27.578 },
      { 3.10e-12, 29.445 },
      { 3.59e-13, 31.802 },
      { 4.16e-14, 34.161 },
      { 5.98e-15, 36.468 } } },
  { 2.00,
    { { 5.28e-04, 8.887 },
      { 5.95e-05, 11.341 },
      { 6.78e-06, 13.766 },
      { 7.68e-07, 16.171 },
      { 8.71e-08, 18.564 },
      { 9.86e-09, 20.950 },
      { 1.11e-09, 23.329 },
      { 1.26e-10, 25.705 },
      { 1.41e-11, 28.077 },
      { 1.54e-12, 29.995 },
      { 1.68e-13, 32.397 },
      { 1.84e-14, 34.786 },
      { 3.63e-15, 37.184 } } },
};

/* The error of all three axes relative to one: each adds as much, and that in w up to 1.3 times as
 * much if the image is off the phase centre. A larger part of small images is near the edge, where
 * the error is largest, and they have so few pixels that it scatters. */
static double margin(guint image_size)
{
  return 2.3 + 70.0 / MAX(image_size, 16);
}

/* The rounding error in the middle of an image, measured. */
#define ROUNDING(is_double) ((is_double) ? 7.5e-17 : 4e-8)

/* The cost of a support and padding, in nanoseconds of one core per pixel of the image, measured:
 * for planes, whose number grows with the padding, each transformed and added to the image; and for
 * visibilities, each spread over `support` planes. Their number is unknown; a rule of thumb is two
 * per pixel of an image of 1024 x 1024, and twice as many visibilities for four times the pixels.
 */
static double cost(const AstroSemicircleWanted *wanted, double padding, guint support)
{
  const guint block = wanted->is_double ? 4 : 8, vectors = (support + 2 * block - 2) / block;
  const double visibilities = 2 * 1024.0 / wanted->image_size;
  const double plane = (wanted->is_double ? 5.5 : 3.1) * padding * padding + 3.6;
  const double spread = 0.43 * support * vectors + (wanted->is_double ? 15 : 7) / wanted->products;
  return plane * (8 * padding + support) + visibilities * support * spread;
}

/* Division by the transform amplifies the rounding error towards the edges of the image: by this
 * factor, root mean square over three axes. */
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

gboolean astro_semicircle_choose(AstroSemicircle *shape, const AstroSemicircleWanted *wanted)
{
  double least = INFINITY;
  for (guint i = 0; i < G_N_ELEMENTS(table); i++) {
    const double actual = wanted->padding > 0 ? wanted->padding : table[i].padding;
    if (table[i].padding > actual + 1e-9)
      continue;
    for (guint k = 0; k < SUPPORTS; k++) {
      const guint cells = ASTRO_SEMICIRCLE_MIN + k;
      const double price = cost(wanted, actual, cells), beta = table[i].shapes[k].beta;
      const double error = table[i].shapes[k].error * margin(wanted->image_size);
      const double rounding = ROUNDING(wanted->is_double);
      if (error > wanted->accuracy || price >= least ||
          (wanted->support && cells != wanted->support) ||
          hypot(error, amplification(cells, beta, actual) * rounding) > wanted->accuracy)
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

/* With z = sin t the integrand is not singular at the ends, and the midpoint rule converges as fast
 * as for periodic functions. */
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

/* Interpolates at the Chebyshev points, then converts to powers of x. */
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
