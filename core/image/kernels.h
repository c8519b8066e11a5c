/* The kernels of imaging for each instruction set. They handle strips of a row's pixels in double
 * precision, of any length up to ASTRO_IMAGE_STRIP, for which arrays must have room. */
#pragma once

#include "core/backend/cpu.h"
#include "core/lib/spread/series.h"
#include "core/lib/spread/strip.h"

G_BEGIN_DECLS

#define ASTRO_IMAGE_STRIP 512

/* Rows of a few columns as transforms of columns leave them (core/lib/fft/columns.h): samples and
 * phases have the real parts of all columns, then the imaginary parts; sums have all columns. All
 * have the same precision. */
typedef struct {
  guint rows;
  gconstpointer samples, phases;
  gpointer sums;
  gssize phases_step; /* from row to row, in rows */
  gsize sums_step;    /* from row to row, in bytes */
  double scale;
  gboolean imaginary, first; /* which part to use; sums are uninitialised */
} AstroImageRows;

typedef struct {
  AstroVariant variant;
  /* exp(-2 pi i w (n - 1)) */
  void (*phases)(const AstroImageStrip *strip, double w, double *re, double *im);
  /* sums += a times the real part of in times (re + i im); in is complex, single or double. */
  void (*add_single)(double *sums, const float *in, gsize n, const double *re, const double *im,
                     double a);
  void (*add_double)(double *sums, const double *in, gsize n, const double *re, const double *im,
                     double a);
  /* corrections = by times the series at n - 1; a series without terms is 1. */
  void (*corrections)(const AstroImageStrip *strip, const double *by,
                      const AstroImageSeries *series, double *corrections);
  /* sums += scale times the chosen part of samples times phases, in single or double precision. */
  void (*rotate_rows[2])(const AstroImageRows *rows);
  /* pixels += sums, then times corrections unless NULL; first: pixels are uninitialised. Indexed by
   * the precision of sums and of pixels. */
  void (*add_row[2][2])(gpointer pixels, gconstpointer sums, gsize n, const double *corrections,
                        gboolean first);
} AstroImageKernels;

extern const AstroImageKernels astro_image_kernels_c, astro_image_kernels_avx2,
    astro_image_kernels_avx512;

G_END_DECLS
