/* What imaging needs from an instruction set: rows of pixels in double precision, a strip at a
 * time. Strips are as long as asked for, and arrays have room for ASTRO_IMAGE_STRIP. */
#pragma once

#include "core/backend/cpu.h"
#include "core/image/series.h"

G_BEGIN_DECLS

#define ASTRO_IMAGE_STRIP 512

/* A strip: l of its first pixel and from pixel to pixel, m of its row, from the phase centre. */
typedef struct {
  double l, pixel, m;
  gsize n;
} AstroImageStrip;

/* Rows of a few columns, as transforms of columns leave them (core/lib/fft/columns.h): of samples
 * and of phases, the real parts of all columns, then the imaginary parts; sums of all columns. All
 * are of one precision. */
typedef struct {
  guint rows;
  gconstpointer samples, phases;
  gpointer sums;
  gssize phases_step; /* from row to row, rows */
  gsize sums_step;    /* bytes */
  double scale;
  gboolean imaginary, first; /* the part that is wanted; sums hold nothing yet */
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
  /* by x the series at n - 1; a series without terms is 1. */
  void (*corrections)(const AstroImageStrip *strip, const double *by,
                      const AstroImageSeries *series, double *corrections);
  /* sums += scale times a part of samples times phases, single or double. */
  void (*turn_rows[2])(const AstroImageRows *rows);
  /* pixels += sums, times corrections unless there are none; first: pixels hold nothing yet. By
   * precision, of sums and of pixels. */
  void (*add_row[2][2])(gpointer pixels, gconstpointer sums, gsize n, const double *corrections,
                        gboolean first);
} AstroImageKernels;

extern const AstroImageKernels astro_image_kernels_c, astro_image_kernels_avx2,
    astro_image_kernels_avx512;

G_END_DECLS
