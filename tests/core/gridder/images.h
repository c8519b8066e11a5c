/* Grids to images, as the elements after the gridder make them, in double precision and in the
 * simplest way. */
#pragma once

#include <fftw3.h>
#include <math.h>

#include "core/gridder/gridder.h"

/* The direction cosine of a pixel, from the centre of the image. */
static inline double test_offset(const AstroGrid *grid, guint pixel)
{
  return ((double)pixel - grid->image_size / 2) * grid->pixel;
}

static inline double test_n_minus_1(const AstroGrid *grid, guint x, guint y)
{
  const double l = grid->centre_l + test_offset(grid, x), m = grid->centre_m + test_offset(grid, y),
               r2 = l * l + m * m;
  return -r2 / (1 + sqrt(1 - r2));
}

/* A product's grid, its origin in the middle on both sides. */
static inline void test_fourier(const AstroGrid *grid, gconstpointer values, gboolean is_double,
                                gsize from, double (*out)[2])
{
  const gsize n = grid->size;
  fftw_complex *all = (fftw_complex *)out;
  fftw_plan plan = fftw_plan_dft_2d((int)n, (int)n, all, all, FFTW_FORWARD, FFTW_ESTIMATE);
  for (gsize i = 0; i < n * n; i++)
    for (guint part = 0; part < 2; part++) {
      const gsize at = 2 * (from + i) + part;
      const double value =
          is_double ? ((const double *)values)[at] : (double)((const float *)values)[at];
      out[i][part] = (i / n + i) & 1 ? -value : value;
    }
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  for (gsize i = 0; i < n * n; i++)
    for (guint part = 0; part < 2; part++)
      out[i][part] *= (i / n + i) & 1 ? -1 : 1;
}

static inline double *test_corrections(const AstroGrid *g, double w_step)
{
  const guint k = g->image_size;
  double *corrections = g_new(double, k *k), *axis = g_new(double, k);
  for (guint x = 0; x < k; x++)
    axis[x] = astro_spread_correction(g, test_offset(g, x));
  for (guint y = 0; y < k; y++)
    for (guint x = 0; x < k; x++)
      corrections[y * k + x] =
          axis[x] * axis[y] * astro_spread_correction_w(g, w_step, test_n_minus_1(g, x, y));
  g_free(axis);
  return corrections;
}

/* Adds the image of a plane, real, products one after the other, l and m rising. corrections begins
 * as NULL and is kept for all planes. */
static inline void test_add_plane(const AstroGrid *g, gconstpointer values, gboolean is_double,
                                  guint products, double w, double w_step, double **corrections,
                                  double *image)
{
  const guint k = g->image_size, margin = g->size / 2 - k / 2;
  double(*out)[2] = fftw_malloc(sizeof *out * g->size * g->size);
  if (!*corrections)
    *corrections = test_corrections(g, w_step);
  for (guint p = 0; p < products; p++) {
    test_fourier(g, values, is_double, (gsize)p * g->size * g->size, out);
    for (guint y = 0; y < k; y++)
      for (guint x = 0; x < k; x++) {
        const double angle = -2 * G_PI * w * test_n_minus_1(g, x, y);
        const double *c = out[(gsize)(y + margin) * g->size + x + margin];
        image[((gsize)p * k + y) * k + x] +=
            (c[0] * cos(angle) - c[1] * sin(angle)) / (*corrections)[y * k + x];
      }
  }
  fftw_free(out);
}
