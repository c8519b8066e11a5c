/* Transforms the lines of a pass by FFTW in one precision. A task copies some lines to contiguous
 * memory, transforms them there, and copies them to their place, so that lines across the block
 * cost little more than lines along it, and moving the origin costs nothing. */
#pragma once

#include "core/lib/fft/check.h"
#include "core/lib/transpose/kernels.h"

G_BEGIN_DECLS

typedef struct AstroFftLines AstroFftLines;

typedef struct {
  /* For passes like this one, with any outer and inner. along: inner is always 1. */
  AstroFftLines *(*create)(const AstroFftPass *pass, gboolean along,
                           const AstroTransposeKernels *kernels, GError **error);
  /* out may be in if both hold the same number of samples. Lines along the block that are all zeros
   * are not written but marked in blank_out ([outer], or NULL); lines across take the rows of the
   * block that are marked in blank_in ([outer][n_in], or NULL) as zeros without reading them. Lines
   * along the block take untouched tiles as zeros (touched NULL: all are touched), and lines
   * without a touched tile are not written. */
  void (*run)(AstroFftLines *lines, const AstroFftPass *pass, gconstpointer in, gpointer out,
              const guint8 *blank_in, guint8 *blank_out, const AstroFftTouched *touched,
              guint threads);
  void (*destroy)(AstroFftLines *lines);
} AstroFftPrecision;

extern const AstroFftPrecision astro_fft_single, astro_fft_double;

G_END_DECLS
