/* The kernels of imaging: phases of pixels, their products with transformed grids, and corrections.
 */
#include "config.h"
#include "core/image/kernels.h"

#include "core/backend/level.h"
#include "core/lib/fft/columns.h"
#include "core/lib/spread/strip-levels.h"

#include <math.h>

#define LANES STRIP_LANES
G_STATIC_ASSERT(ASTRO_IMAGE_STRIP % LANES == 0);

static void add_single(double *sums, const float *in, gsize n, const double *re, const double *im,
                       double a)
{
  for (gsize i = 0; i < n; i++)
    sums[i] += a * (in[2 * i] * re[i] - in[2 * i + 1] * im[i]);
}

static void add_double(double *sums, const double *in, gsize n, const double *re, const double *im,
                       double a)
{
  for (gsize i = 0; i < n; i++)
    sums[i] += a * (in[2 * i] * re[i] - in[2 * i + 1] * im[i]);
}

#define ROTATE_ROWS(name, REAL)                                                                    \
  static void name(const AstroImageRows *rows)                                                     \
  {                                                                                                \
    typedef REAL Columns __attribute__((vector_size(ASTRO_FFT_COLUMNS_BYTES), may_alias));         \
    typedef REAL Sums                                                                              \
        __attribute__((vector_size(ASTRO_FFT_COLUMNS_BYTES), aligned(sizeof(REAL)), may_alias));   \
    const Columns *samples = rows->samples, *phases = rows->phases;                                \
    const guint a = rows->imaginary ? 1 : 0, b = 1 - a;                                            \
    const REAL re = (REAL)rows->scale, im = rows->imaginary ? re : -re;                            \
                                                                                                   \
    for (guint i = 0; i < rows->rows; i++) {                                                       \
      Sums *sums = (Sums *)((guint8 *)rows->sums + i * rows->sums_step);                           \
      Columns part = re * (samples[0] * phases[a]) + im * (samples[1] * phases[b]);                \
      if (!rows->first)                                                                            \
        part += (Columns)*sums;                                                                    \
      *sums = (Sums)part;                                                                          \
      samples += 2;                                                                                \
      phases += 2 * rows->phases_step;                                                             \
    }                                                                                              \
  }

ROTATE_ROWS(rotate_single, float)
ROTATE_ROWS(rotate_double, double)

#define ADD_ROW(name, SUM, PIXEL)                                                                  \
  static void name(gpointer to, gconstpointer from, gsize n, const double *by, gboolean first)     \
  {                                                                                                \
    const SUM *sums = from;                                                                        \
    PIXEL *pixels = to;                                                                            \
    for (gsize i = 0; first && i < n; i++)                                                         \
      pixels[i] = (PIXEL)sums[i];                                                                  \
    for (gsize i = 0; !first && i < n; i++)                                                        \
      pixels[i] += (PIXEL)sums[i];                                                                 \
    for (gsize i = 0; by && i < n; i++)                                                            \
      pixels[i] = (PIXEL)(pixels[i] * by[i]);                                                      \
  }

ADD_ROW(add_single_to_single, float, float)
ADD_ROW(add_single_to_double, float, double)
ADD_ROW(add_double_to_single, double, float)
ADD_ROW(add_double_to_double, double, double)

const AstroImageKernels LEVEL_NAMED(astro_image_kernels) = {
  .variant = LEVEL_VARIANT,
  .phases = strip_phases,
  .add_single = add_single,
  .add_double = add_double,
  .corrections = strip_corrections,
  .rotate_rows = { rotate_single, rotate_double },
  .add_row = { { add_single_to_single, add_single_to_double },
               { add_double_to_single, add_double_to_double } },
};
