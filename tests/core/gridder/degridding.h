/* Shared by tests of degridding: models, and what the gridder makes of visibilities. */
#pragma once

#include "tests/core/gridder/gridder.h"

static inline gsize test_pixels_of(const TestSetting *s)
{
  return (gsize)s->grid.image_size * s->grid.image_size * s->rows.products;
}

/* A model of sources in a tenth of the pixels, its edges among them. */
static inline double *test_random_model(const TestSetting *s, GRand *random, guint channels)
{
  const gsize n = test_pixels_of(s) * channels, size = s->grid.image_size;
  double *model = g_new0(double, n);
  for (gsize i = 0; i < n / 10; i++)
    model[g_rand_int_range(random, 0, (gint)n)] = g_rand_double_range(random, -1, 1);
  for (gsize i = 0; i < size; i++) {
    model[i] = model[(size - 1) * size + i] = g_rand_double_range(random, -1, 1);
    model[i * size] = model[i * size + size - 1] = g_rand_double_range(random, -1, 1);
  }
  return model;
}

static inline gpointer test_in_precision(const double *values, gsize n, gboolean is_double)
{
  if (is_double)
    return g_memdup2(values, n * sizeof *values);
  float *single = g_new(float, n);
  for (gsize i = 0; i < n; i++)
    single[i] = (float)values[i];
  return single;
}

/* The gridder's image of the visibilities, x reversed as in images. */
static inline double *test_image_of(TestSetting *s)
{
  const guint size = s->grid.image_size;
  TestPlanes run = { 0 };
  double *image = g_new0(double, test_pixels_of(s)), *reversed = g_new0(double, test_pixels_of(s));
  g_autofree double *corrections = NULL;
  test_planes_begin(s, &run);
  for (guint plane = 0; plane < run.planes; plane++) {
    gpointer grid = test_planes_next(s, &run);
    test_add_plane(&s->grid, grid, s->config.is_double, s->rows.products, run.w, run.w_step,
                   &corrections, image);
    test_free(grid);
  }
  test_planes_end(s, &run);
  /* Pixel x of an image is at l = (size / 2 - x) pixel; the first one, at + size / 2, is not in
   * the tests' own images. */
  for (gsize row = 0; row < (gsize)size * s->rows.products; row++)
    for (guint x = 1; x < size; x++)
      reversed[row * size + x] = image[row * size + size - x];
  g_free(image);
  return reversed;
}

/* With the centre elsewhere the gridder's rows have been turned to it in u and v beforehand. */
static inline void test_turn_to_centre(TestSetting *s)
{
  for (guint64 row = 0; row < s->rows.rows; row++)
    for (guint c = 0; c < s->rows.channels; c++) {
      const double turns =
          -(s->uvw[3 * row] * s->grid.centre_l + s->uvw[3 * row + 1] * s->grid.centre_m) *
          s->wavenumbers[c];
      const double re = cos(2 * G_PI * turns), im = sin(2 * G_PI * turns);
      for (guint p = 0; p < s->rows.products; p++) {
        double *v = s->values + 2 * ((row * s->rows.channels + c) * s->rows.products + p);
        const double was = v[0];
        v[0] = was * re - v[1] * im;
        v[1] = was * im + v[1] * re;
      }
    }
}
