/* The kernels of planes of a model, for each instruction set and precision. */
#pragma once

#include "core/backend/cpu.h"
#include "core/lib/spread/series.h"
#include "core/lib/spread/strip.h"

G_BEGIN_DECLS

typedef struct {
  AstroVariant variant;
  /* A strip's pixels times exp(2 pi i w (n - 1)), as one sample of columns that are transformed
   * (core/lib/fft/columns.h): the imaginary parts first, then the real ones, since a forward
   * transform with the two exchanged is a backward one. Columns beyond the strip are zeros. Indexed
   * by is_double. */
  void (*rotate[2])(const AstroImageStrip *strip, double w, gconstpointer pixels, gpointer sample);
  /* corrections = by times the series at n - 1, for all pixels of a strip of any length; the
   * arrays have room for whole vectors. */
  void (*correct)(const AstroImageStrip *strip, const double *by, const AstroImageSeries *series,
                  double *corrections);
  /* Copies the first n columns of such a sample, with the parts exchanged, to complex numbers. */
  void (*put[2])(gconstpointer sample, gpointer cells, guint n);
} AstroDegridKernels;

/* The best for this machine. */
const AstroDegridKernels *astro_degrid_kernels_pick(void);

extern const AstroDegridKernels astro_degrid_kernels_c, astro_degrid_kernels_avx2,
    astro_degrid_kernels_avx512;

G_END_DECLS
