/* Shared by tests of W-projection: random visibilities, cases of gridding, and the distance between
 * two grids. */
#pragma once

#include "core/gridder/wprojection/wprojection.h"
#include "tests/tests.h"

#include <complex.h>
#include <math.h>

typedef double complex Complex;

static inline double test_uniform(GRand *rand)
{
  return g_rand_double_range(rand, -1, 1);
}

static inline void test_put(gpointer values, gsize at, gboolean is_double, Complex value)
{
  if (is_double)
    ((Complex *)values)[at] = value;
  else
    ((float complex *)values)[at] = (float complex)value;
}

static inline Complex test_get(gconstpointer values, gsize at, gboolean is_double)
{
  return is_double ? ((const Complex *)values)[at] : ((const float complex *)values)[at];
}

typedef struct {
  AstroGridRows rows;
  double *uvw, *wavenumbers;
  gpointer values;
} TestRows;

/* Tracks that cross the grid's middle or its border, with channels that move slowly over it. */
static inline void test_random_rows(TestRows *rows, GRand *rand, guint64 n, guint channels,
                                    guint products, gboolean is_double, double reach, double w_max)
{
  gsize length = n * channels * products;
  rows->uvw = g_new(double, 3 * n);
  rows->wavenumbers = g_new(double, channels);
  rows->values = g_malloc(length * 2 * (is_double ? sizeof(double) : sizeof(float)));
  for (guint i = 0; i < channels; i++)
    rows->wavenumbers[i] = 1 + 0.002 * i;
  for (guint64 i = 0; i < n; i++) {
    if (i % 5) {
      for (guint k = 0; k < 3; k++)
        rows->uvw[3 * i + k] = rows->uvw[3 * (i - 1) + k] * (1 + 0.004 * test_uniform(rand));
    } else {
      rows->uvw[3 * i] = reach * test_uniform(rand);
      rows->uvw[3 * i + 1] = reach * test_uniform(rand);
      rows->uvw[3 * i + 2] = w_max * g_rand_double(rand);
    }
    for (guint k = 0; k < channels * products; k++)
      test_put(rows->values, i * channels * products + k, is_double,
               i % 7 == 3 ? 0 : test_uniform(rand) + I * test_uniform(rand));
  }
  rows->rows = (AstroGridRows){ n,         channels,          products,    is_double,
                                rows->uvw, rows->wavenumbers, rows->values };
}

static inline void test_clear_rows(TestRows *rows)
{
  g_free(rows->uvw);
  g_free(rows->wavenumbers);
  g_free(rows->values);
}

/* |a - b| / |b - origin|, origin NULL: 0. */
static inline double test_relative_error(gconstpointer a, gboolean a_is_double, const Complex *b,
                                         const Complex *origin, gsize n)
{
  double difference = 0, power = 0;
  for (gsize i = 0; i < n; i++) {
    Complex d = test_get(a, i, a_is_double) - b[i], p = b[i] - (origin ? origin[i] : 0);
    difference += creal(d * conj(d));
    power += creal(p * conj(p));
  }
  g_assert_cmpfloat(power, >, 0);
  return sqrt(difference / power);
}

typedef struct {
  guint support, products, oversampling, size;
  gboolean interpolated, is_double;
} TestCase;

/* Supports: multiples of the kernels' vectors and neighbours of those. */
static const guint test_supported[] = { 4,  5,  6,  7,  8,  9,  10, 13, 15,  16,  17,  20,  23, 24,
                                        25, 31, 32, 33, 48, 63, 64, 65, 100, 127, 128, 255, 256 };

/* A case with the i-th support, in single or double precision. */
static inline TestCase test_case_of(guint i, gboolean is_double)
{
  static const guint products[] = { 4, 1, 2, 3, 5 };
  const guint support = test_supported[i];
  return (TestCase){ .support = support,
                     .products = products[(i + (is_double ? 2 : 0)) % 5],
                     .oversampling = support > 64 ? 2 : 5,
                     .size = support + 8 + 4 * (i % 3) + (support > 100 ? 40 : 90),
                     .is_double = is_double };
}
