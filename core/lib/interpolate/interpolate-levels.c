/* Interpolation of samples in floats, rotated by phases that change linearly, for one instruction
 * set. */
#include "config.h"
#include "core/lib/interpolate/kernels.h"

#include "core/backend/level.h"

#include <math.h>

#define LANES LEVEL_FLOATS
#define VECTORS 4 /* per component in registers: enough to hide the latency of an addition */
#define STRIP (VECTORS * LANES)
G_STATIC_ASSERT(ASTRO_DELAY_GRAIN % STRIP == 0);

typedef float Vector __attribute__((vector_size(4 * LANES)));
typedef float Unaligned __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

/* Each word holds a sample; words may be at any address. */
#define LOAD(name, Sample, of_re, of_im)                                                           \
  static void name(gconstpointer in, guint n, float *restrict re, float *restrict im)              \
  {                                                                                                \
    typedef Sample Anywhere __attribute__((aligned(1), may_alias));                                \
    const Anywhere *from = in;                                                                     \
    for (guint i = 0; i < n; i++) {                                                                \
      const Sample sample = from[i];                                                               \
      re[i] = (float)(of_re);                                                                      \
      im[i] = (float)(of_im);                                                                      \
    }                                                                                              \
  }

LOAD(load_ci4, gint8, sample >> 4, (gint8)((guint8)sample << 4) >> 4)
LOAD(load_ci8, gint16, (gint8)sample, sample >> 8)
LOAD(load_ci16, gint32, (gint16)sample, sample >> 16)

static void load_cf32(gconstpointer in, guint n, float *restrict re, float *restrict im)
{
  typedef float Anywhere __attribute__((aligned(1), may_alias));
  const Anywhere *from = in;
  for (guint i = 0; i < n; i++) {
    re[i] = from[2 * i];
    im[i] = from[2 * i + 1];
  }
}

#define LOAD_REAL(name, Sample)                                                                    \
  static void name(gconstpointer in, guint n, float *restrict re, float *restrict im)              \
  {                                                                                                \
    typedef Sample Anywhere __attribute__((aligned(1), may_alias));                                \
    const Anywhere *from = in;                                                                     \
    for (guint i = 0; i < n; i++)                                                                  \
      re[i] = (float)from[i];                                                                      \
  }

LOAD_REAL(load_i8, gint8)
LOAD_REAL(load_i16, gint16)
LOAD_REAL(load_f32, float)

typedef struct {
  double re, im;
} Phasor;

static Phasor phasor_of(double cycles)
{
  double angle = 2 * G_PI * (cycles - floor(cycles));
  return (Phasor){ cos(angle), sin(angle) };
}

static Phasor product(Phasor a, Phasor b)
{
  return (Phasor){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}

/* The phasors within a strip, by doubling. */
static void fill_strip(Phasor step, float re[STRIP], float im[STRIP])
{
  re[0] = 1;
  im[0] = 0;
  for (guint have = 1; have < STRIP; have *= 2, step = product(step, step))
    for (guint i = 0; i < have; i++) {
      re[have + i] = (float)(re[i] * step.re - im[i] * step.im);
      im[have + i] = (float)(re[i] * step.im + im[i] * step.re);
    }
}

typedef struct {
  Vector re, im;
} Vectors;

static inline Vectors phasors_at(const float *re, const float *im, Phasor at)
{
  const Vector within_re = *(const Unaligned *)re, within_im = *(const Unaligned *)im;
  return (Vectors){ (float)at.re * within_re - (float)at.im * within_im,
                    (float)at.re * within_im + (float)at.im * within_re };
}

/* Adds the products of n_taps and samples to strips of sums. A load across two cache lines takes
 * longer than an addition: each load serves a tap of every vector that is in reach. */
static inline __attribute__((always_inline)) void
add_products(const float *re, const float *im, const float *taps_re, const float *taps_im,
             guint n_taps, Vector sum_re[VECTORS], Vector sum_im[VECTORS])
{
  const guint reach = n_taps / LANES; /* vectors over which the taps of one vector reach */
  for (guint k = 0; k < LANES; k++)
#pragma GCC unroll 20
    for (guint from = 0; from < VECTORS + reach - 1; from++) {
      const Vector x = *(const Unaligned *)&re[k + from * LANES];
      const Vector y = *(const Unaligned *)&im[k + from * LANES];
#pragma GCC unroll 16
      for (guint r = 0; r < reach; r++)
        if (from >= r && from - r < VECTORS) {
          sum_re[from - r] += taps_re[k + r * LANES] * x;
          sum_im[from - r] += taps_im[k + r * LANES] * y;
        }
    }
}

static void interpolate(const float *re, const float *im, const float taps[ASTRO_FRACTION_TAPS],
                        double phase, double rate, guint n, float *out_re, float *out_im)
{
  float strip_re[STRIP], strip_im[STRIP];
  Phasor at = phasor_of(phase), onward = phasor_of(rate * STRIP);
  fill_strip(phasor_of(rate), strip_re, strip_im);

  for (guint start = 0; start < n; start += STRIP, at = product(at, onward)) {
    Vector sum_re[VECTORS] = { 0 }, sum_im[VECTORS] = { 0 };
    add_products(re + start, im + start, taps, taps, ASTRO_FRACTION_TAPS, sum_re, sum_im);
#pragma GCC unroll 4
    for (guint v = 0; v < VECTORS; v++) {
      const Vectors by = phasors_at(strip_re + v * LANES, strip_im + v * LANES, at);
      *(Unaligned *)&out_re[start + v * LANES] += sum_re[v] * by.re - sum_im[v] * by.im;
      *(Unaligned *)&out_im[start + v * LANES] += sum_re[v] * by.im + sum_im[v] * by.re;
    }
  }
}

static void interpolate_real(const float *in, const float taps[2 * ASTRO_FRACTION_REAL_TAPS],
                             double phase, double rate, guint n, float *out)
{
  float strip_re[STRIP], strip_im[STRIP];
  Phasor at = phasor_of(phase), onward = phasor_of(rate * STRIP);
  fill_strip(phasor_of(rate), strip_re, strip_im);

  for (guint start = 0; start < n; start += STRIP, at = product(at, onward)) {
    Vector sum_re[VECTORS] = { 0 }, sum_im[VECTORS] = { 0 };
    add_products(in + start, in + start, taps, taps + ASTRO_FRACTION_REAL_TAPS,
                 ASTRO_FRACTION_REAL_TAPS, sum_re, sum_im);
#pragma GCC unroll 4
    for (guint v = 0; v < VECTORS; v++) {
      const Vectors by = phasors_at(strip_re + v * LANES, strip_im + v * LANES, at);
      *(Unaligned *)&out[start + v * LANES] += sum_re[v] * by.re - sum_im[v] * by.im;
    }
  }
}

static void rotate(float *re, float *im, double phase, double rate, guint n)
{
  float strip_re[STRIP], strip_im[STRIP];
  Phasor at = phasor_of(phase), onward = phasor_of(rate * STRIP);
  fill_strip(phasor_of(rate), strip_re, strip_im);

  for (guint start = 0; start < n; start += STRIP, at = product(at, onward))
#pragma GCC unroll 4
    for (guint v = 0; v < VECTORS; v++) {
      Unaligned *to_re = (Unaligned *)&re[start + v * LANES];
      Unaligned *to_im = (Unaligned *)&im[start + v * LANES];
      const Vectors by = phasors_at(strip_re + v * LANES, strip_im + v * LANES, at);
      Vector x = *to_re, y = *to_im;
      *to_re = x * by.re - y * by.im;
      *to_im = x * by.im + y * by.re;
    }
}

const AstroDelayKernels LEVEL_NAMED(astro_delay_kernels) = {
  LEVEL_VARIANT,
  {
      [ASTRO_FORMAT_CI4] = load_ci4,
      [ASTRO_FORMAT_CI8] = load_ci8,
      [ASTRO_FORMAT_CI16LE] = load_ci16,
      [ASTRO_FORMAT_CF32LE] = load_cf32,
      [ASTRO_FORMAT_I8] = load_i8,
      [ASTRO_FORMAT_I16LE] = load_i16,
      [ASTRO_FORMAT_F32LE] = load_f32,
  },
  interpolate,
  interpolate_real,
  rotate,
};
