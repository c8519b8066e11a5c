/* One text for all instruction sets: the including file defines LANES, Vector and its square root,
 * and names the table (KERNELS) and the instruction set (NAME, LEVEL). */
#include <string.h>

#include "core/fft/columns.h"
#include "core/image/kernels.h"

typedef double Unaligned __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

#define STORE(to, value) (*(Unaligned *)(to) = (value))
#define LOAD(from) ((Vector) * (const Unaligned *)(from))
G_STATIC_ASSERT(ASTRO_IMAGE_STRIP % LANES == 0);

static inline Vector counting(void)
{
  Vector v;
  for (guint i = 0; i < LANES; i++)
    v[i] = i;
  return v;
}

/* The nearest whole number, by what is lost next to one so large that it has no fraction. */
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

/* A quarter of the angle is small enough for the series of sine and cosine; doubling it twice gives
 * the angle. */
static void phases(const AstroImageStrip *strip, double w, double *re, double *im)
{
  static const double sine[] = {
    -1.0 / 6,        1.0 / 120,        -1.0 / 5040,         1.0 / 362880,
    -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000
  };
  static const double cosine[] = { -1.0 / 2,           1.0 / 24,
                                   -1.0 / 720,         1.0 / 40320,
                                   -1.0 / 3628800,     1.0 / 479001600,
                                   -1.0 / 87178291200, 1.0 / 20922789888000 };
  const Vector count = counting();

  for (gsize i = 0; i < strip->n; i += LANES) {
    Vector turns = w * n_minus_1(strip, i, count);
    Vector x = (turns - nearest(turns)) * (-2 * G_PI / 4), x2 = x * x;
    Vector s = sine[6] + (Vector){}, c = cosine[7] + (Vector){};
    for (guint k = 6; k-- > 0;)
      s = s * x2 + sine[k];
    for (guint k = 7; k-- > 0;)
      c = c * x2 + cosine[k];
    s = x + x * x2 * s;
    c = 1 + x2 * c;
    for (guint k = 0; k < 2; k++) {
      Vector twice = 2 * s * c;
      c = 1 - 2 * s * s;
      s = twice;
    }
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

#define INLINE inline __attribute__((always_inline))

/* By precision of samples and of pixels. Fewer columns than there are
 * in a vector go through one. */
#define ADD_ROWS(name, SAMPLE, PIXEL)                                                              \
  static INLINE void name##_row(PIXEL *pixels, const SAMPLE *samples, const SAMPLE *a,             \
                                const SAMPLE *b, SAMPLE re, SAMPLE im, const SAMPLE *corrections,  \
                                const gboolean first, const gboolean last)                         \
  {                                                                                                \
    enum { COLUMNS = ASTRO_FFT_COLUMNS_BYTES / sizeof(SAMPLE) };                                   \
    for (guint i = 0; i < COLUMNS; i++) {                                                          \
      PIXEL sum = re * (samples[i] * a[i]) + im * (samples[COLUMNS + i] * b[i]);                   \
      sum += first ? 0 : pixels[i];                                                                \
      pixels[i] = last ? sum * (PIXEL)corrections[i] : sum;                                        \
    }                                                                                              \
  }                                                                                                \
                                                                                                   \
  static INLINE void name##_rows(const AstroImageRows *rows, const gboolean first,                 \
                                 const gboolean last)                                              \
  {                                                                                                \
    enum { COLUMNS = ASTRO_FFT_COLUMNS_BYTES / sizeof(SAMPLE) };                                   \
    const SAMPLE *phases = rows->phases, *corrections = rows->corrections;                         \
    const SAMPLE *samples = rows->samples;                                                         \
    const guint a = rows->imaginary ? COLUMNS : 0, b = COLUMNS - a;                                \
    const SAMPLE re = (SAMPLE)rows->scale, im = rows->imaginary ? re : -re;                        \
    guint8 *pixels = rows->pixels;                                                                 \
                                                                                                   \
    for (guint i = 0; i < rows->rows; i++) {                                                       \
      PIXEL part[COLUMNS], *here = (PIXEL *)pixels;                                                \
      if (rows->columns < COLUMNS)                                                                 \
        here = memcpy(part, pixels, rows->columns * sizeof(PIXEL));                                \
      name##_row(here, samples, phases + a, phases + b, re, im, corrections, first, last);         \
      if (rows->columns < COLUMNS)                                                                 \
        memcpy(pixels, part, rows->columns * sizeof(PIXEL));                                       \
      samples += 2 * COLUMNS;                                                                      \
      phases += rows->step * 2 * COLUMNS;                                                          \
      corrections += last ? rows->step * COLUMNS : 0;                                              \
      pixels += rows->pitch;                                                                       \
    }                                                                                              \
  }                                                                                                \
                                                                                                   \
  static void name(const AstroImageRows *rows)                                                     \
  {                                                                                                \
    if (rows->first && rows->corrections)                                                          \
      name##_rows(rows, TRUE, TRUE);                                                               \
    else if (rows->first)                                                                          \
      name##_rows(rows, TRUE, FALSE);                                                              \
    else if (rows->corrections)                                                                    \
      name##_rows(rows, FALSE, TRUE);                                                              \
    else                                                                                           \
      name##_rows(rows, FALSE, FALSE);                                                             \
  }

ADD_ROWS(add_single_to_single, float, float)
ADD_ROWS(add_single_to_double, float, double)
ADD_ROWS(add_double_to_single, double, float)
ADD_ROWS(add_double_to_double, double, double)

const AstroImageKernels KERNELS = { { NAME, LEVEL },
                                    phases,
                                    add_single,
                                    add_double,
                                    corrections,
                                    { { add_single_to_single, add_single_to_double },
                                      { add_double_to_single, add_double_to_double } } };
