/* Measures how far results are from correct ones. */
#pragma once

#include <glib.h>
#include <math.h>

/* |a - b| / |b| over arrays of floats or doubles, which must not be all zeros; NaN if a has one. */
static inline double test_distance(gconstpointer a, gconstpointer b, gsize bytes,
                                   gboolean is_double)
{
  const gsize n = bytes / (is_double ? sizeof(double) : sizeof(float));
  double error = 0, norm = 0;
  for (gsize i = 0; i < n; i++) {
    const double x = is_double ? ((const double *)a)[i] : (double)((const float *)a)[i];
    const double y = is_double ? ((const double *)b)[i] : (double)((const float *)b)[i];
    error += (x - y) * (x - y);
    norm += y * y;
  }
  g_assert_cmpfloat(norm, >, 0);
  return sqrt(error / norm);
}

static inline double test_bytes_distance(const GByteArray *a, const GByteArray *b,
                                         gboolean is_double)
{
  g_assert_cmpuint(a->len, ==, b->len);
  return test_distance(a->data, b->data, b->len, is_double);
}
