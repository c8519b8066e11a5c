/* Phases of the pixels of a strip, for sources that are built once for each instruction set
 * (core/backend/level.h, which they include first). */
#pragma once

#include "core/kit/turn.h"
#include "core/kit/vector-size.h"
#include "core/lib/spread/series.h"
#include "core/lib/spread/strip.h"

#include <math.h>
#if LEVEL_BYTES > 16
#include <immintrin.h>
#endif

#define STRIP_LANES LEVEL_DOUBLES

typedef double StripVector __attribute__((vector_size(8 * STRIP_LANES)));
typedef double StripUnaligned __attribute__((vector_size(8 * STRIP_LANES), aligned(8), may_alias));

#define STRIP_LOAD(from) ((StripVector) * (const StripUnaligned *)(from))
#define STRIP_STORE(to, value) (*(StripUnaligned *)(to) = (value))

static inline StripVector strip_root(StripVector x)
{
#if LEVEL_BYTES == 64
  return (StripVector)_mm512_sqrt_pd((__m512d)x);
#elif LEVEL_BYTES == 32
  return (StripVector)_mm256_sqrt_pd((__m256d)x);
#else
  return (StripVector){ sqrt(x[0]), sqrt(x[1]) };
#endif
}

static inline StripVector strip_counting(void)
{
  StripVector v;
  for (guint i = 0; i < STRIP_LANES; i++)
    v[i] = i;
  return v;
}

/* Rounds to the nearest integer: adding a number so large that it has no fraction removes the
 * fraction. */
static inline StripVector strip_nearest(StripVector x)
{
  const double large = 0x1.8p52;
  return (x + large) - large;
}

/* n - 1 of pixels first to first + STRIP_LANES - 1. */
static inline StripVector strip_n_minus_1(const AstroImageStrip *strip, gsize first,
                                          StripVector count)
{
  StripVector l = strip->l + ((double)first + count) * strip->pixel;
  StripVector r2 = l * l + strip->m * strip->m;
  return -r2 / (1 + strip_root(1 - r2));
}

/* exp(-2 pi i w (n - 1)); re and im have room for whole vectors. */
static inline void strip_phases(const AstroImageStrip *strip, double w, double *re, double *im)
{
  const StripVector count = strip_counting();

  for (gsize i = 0; i < strip->n; i += STRIP_LANES) {
    StripVector cycles = w * strip_n_minus_1(strip, i, count), c, s;
    ASTRO_TURN_BY_QUARTER(StripVector, (cycles - strip_nearest(cycles)) * (-2 * G_PI / 4), c, s);
    STRIP_STORE(re + i, c);
    STRIP_STORE(im + i, s);
  }
}

/* Clenshaw's recurrence. */
static inline StripVector strip_series_at(const AstroImageSeries *series, StripVector x)
{
  StripVector at =
      (2 * x - (series->least + series->greatest)) / (series->greatest - series->least);
  StripVector next = {}, after = {};
  for (guint k = series->n; k-- > 1;) {
    StripVector now = series->terms[k] + 2 * at * next - after;
    after = next;
    next = now;
  }
  return series->terms[0] + at * next - after;
}

/* corrections = by times the series at n - 1; a series without terms is 1. */
static inline void strip_corrections(const AstroImageStrip *strip, const double *by,
                                     const AstroImageSeries *series, double *corrections)
{
  const StripVector count = strip_counting();

  for (gsize i = 0; i < strip->n; i++)
    corrections[i] = by[i];
  if (series->n)
    for (gsize i = 0; i < strip->n; i += STRIP_LANES)
      STRIP_STORE(corrections + i, STRIP_LOAD(corrections + i) *
                                       strip_series_at(series, strip_n_minus_1(strip, i, count)));
}
