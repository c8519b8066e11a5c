/* The kernels of imaging: phases of pixels, their products with transformed grids, and corrections.
 */
#include "config.h"
#include "core/image/kernels.h"

#include "core/backend/level.h"
#include "core/kit/turn.h"
#include "core/lib/fft/columns.h"

#include <math.h>
#if LEVEL_BYTES > 16
#include <immintrin.h>
#endif

#define LANES LEVEL_DOUBLES

typedef double Vector __attribute__((vector_size(8 * LANES)));
typedef double Unaligned __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

#define STORE(to, value) (*(Unaligned *)(to) = (value))
#define LOAD(from) ((Vector) * (const Unaligned *)(from))
G_STATIC_ASSERT(ASTRO_IMAGE_STRIP % LANES == 0);

static inline Vector root(Vector x)
{
#if LEVEL_BYTES == 64
  return (Vector)_mm512_sqrt_pd((__m512d)x);
#elif LEVEL_BYTES == 32
  return (Vector)_mm256_sqrt_pd((__m256d)x);
#else
  return (Vector){ sqrt(x[0]), sqrt(x[1]) };
#endif
}

static inline Vector counting(void)
{
  Vector v;
  for (guint i = 0; i < LANES; i++)
    v[i] = i;
  return v;
}

/* Rounds to the nearest integer: adding a number so large that it has no fraction removes the
 * fraction. */
static inline Vector nearest(Vector x)
{
  const double large = 0x1.8p52;
  return (x + large) - large;
}

/* n - 1 of pixels first to first + LANES - 1. */
static inline Vector n_minus_1(const AstroImageStrip *strip, gsize first, Vector count)
{
  Vector l = strip->l + ((double)first + count) * strip->pixel;
  Vector r2 = l * l + strip->m * strip->m;
  return -r2 / (1 + root(1 - r2));
}

static void phases(const AstroImageStrip *strip, double w, double *re, double *im)
{
  const Vector count = counting();

  for (gsize i = 0; i < strip->n; i += LANES) {
    Vector cycles = w * n_minus_1(strip, i, count), c, s;
    ASTRO_TURN_BY_QUARTER(Vector, (cycles - nearest(cycles)) * (-2 * G_PI / 4), c, s);
    STORE(re + i, c);
    STORE(im + i, s);
  }
}

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

/* Clenshaw's recurrence. */
static inline Vector series_at(const AstroImageSeries *series, Vector x)
{
  Vector at = (2 * x - (series->least + series->greatest)) / (series->greatest - series->least);
  Vector next = {}, after = {};
  for (guint k = series->n; k-- > 1;) {
    Vector now = series->terms[k] + 2 * at * next - after;
    after = next;
    next = now;
  }
  return series->terms[0] + at * next - after;
}

static void corrections(const AstroImageStrip *strip, const double *by,
                        const AstroImageSeries *series, double *corrections)
{
  const Vector count = counting();

  for (gsize i = 0; i < strip->n; i++)
    corrections[i] = by[i];
  if (series->n)
    for (gsize i = 0; i < strip->n; i += LANES)
      STORE(corrections + i, LOAD(corrections + i) * series_at(series, n_minus_1(strip, i, count)));
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
  .phases = phases,
  .add_single = add_single,
  .add_double = add_double,
  .corrections = corrections,
  .rotate_rows = { rotate_single, rotate_double },
  .add_row = { { add_single_to_single, add_single_to_double },
               { add_double_to_single, add_double_to_double } },
};
