/* The kernels of planes of a model. */
#include "config.h"
#include "core/gridder/degrid/kernels.h"

#include "core/backend/level.h"
#include "core/lib/fft/columns.h"
#include "core/lib/spread/strip-levels.h"

#include <string.h>

#define KERNELS(REAL, rotate, put)                                                                 \
  static void rotate(const AstroImageStrip *strip, double w, gconstpointer from, gpointer sample)  \
  {                                                                                                \
    enum { COLUMNS = ASTRO_FFT_COLUMNS_BYTES / sizeof(REAL) };                                     \
    const REAL *pixels = from;                                                                     \
    REAL *to = sample;                                                                             \
    double re[COLUMNS], im[COLUMNS];                                                               \
    strip_phases(strip, -w, re, im);                                                               \
    if (strip->n < COLUMNS)                                                                        \
      memset(sample, 0, 2 * ASTRO_FFT_COLUMNS_BYTES);                                              \
    for (gsize i = 0; i < strip->n; i++) {                                                         \
      to[i] = (REAL)im[i] * pixels[i];                                                             \
      to[COLUMNS + i] = (REAL)re[i] * pixels[i];                                                   \
    }                                                                                              \
  }                                                                                                \
  static void put(gconstpointer sample, gpointer cells, guint n)                                   \
  {                                                                                                \
    enum { COLUMNS = ASTRO_FFT_COLUMNS_BYTES / sizeof(REAL) };                                     \
    const REAL *from = sample;                                                                     \
    REAL *to = cells;                                                                              \
    for (guint i = 0; i < n; i++) {                                                                \
      to[2 * i] = from[COLUMNS + i];                                                               \
      to[2 * i + 1] = from[i];                                                                     \
    }                                                                                              \
  }

KERNELS(float, rotate_single, put_single)
KERNELS(double, rotate_double, put_double)

const AstroDegridKernels LEVEL_NAMED(astro_degrid_kernels) = {
  .variant = LEVEL_VARIANT,
  .rotate = { rotate_single, rotate_double },
  .correct = strip_corrections,
  .put = { put_single, put_double },
};
