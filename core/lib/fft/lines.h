/* The lines of a pass, transformed by FFTW in one precision. A task copies some lines next to one
 * another, transforms them there, and copies them to where they belong, so that lines across the
 * block cost little more than lines along it, and moving the origin costs nothing. */
#pragma once

#include "core/lib/fft/check.h"
#include "core/lib/transpose/kernels.h"

G_BEGIN_DECLS

typedef struct AstroFftLines AstroFftLines;

typedef struct {
  /* For passes like this one, whatever their outer and inner. along: inner is always 1. */
  AstroFftLines *(*create)(const AstroFftPass *pass, gboolean along,
                           const AstroTransposeKernels *kernels, GError **error);
  /* out may be in where both hold the same samples. Lines along the block of nothing but zeros are
   * not written but noted in blank_out ([outer], or NULL), and lines across take samples of
   * blank_in ([outer][n_in], or NULL), a row of the block each, for zeros without reading them.
   * Lines along the block take what is not touched (NULL: all is) for zeros, and those of nothing
   * else are not written. */
  void (*run)(AstroFftLines *lines, const AstroFftPass *pass, gconstpointer in, gpointer out,
              const guint8 *blank_in, guint8 *blank_out, const AstroFftTouched *touched,
              guint threads);
  void (*destroy)(AstroFftLines *lines);
} AstroFftPrecision;

extern const AstroFftPrecision astro_fft_single, astro_fft_double;

G_END_DECLS
