/* The kernels of power, one text for all levels. */
#include "config.h"
#include "core/backend/level.h"
#include "core/kit/vector.h"
#include "core/power/kernels.h"

#if defined ASTRO_LEVEL_AVX512 || defined ASTRO_LEVEL_AVX2
#include "core/lib/formats/many.h"
#else
#include "core/lib/formats/one.h"
#endif

/* ---- samples to planes ---- */

/* Every second number of two vectors, from the first or the second on. */
#if defined ASTRO_LEVEL_AVX512
#define EVERY_SECOND(a, b, from)                                                                   \
  __builtin_shufflevector(a, b, from, from + 2, from + 4, from + 6, from + 8, from + 10,           \
                          from + 12, from + 14, from + 16, from + 18, from + 20, from + 22,        \
                          from + 24, from + 26, from + 28, from + 30)
#elif defined ASTRO_LEVEL_AVX2
#define EVERY_SECOND(a, b, from)                                                                   \
  __builtin_shufflevector(a, b, from, from + 2, from + 4, from + 6, from + 8, from + 10,           \
                          from + 12, from + 14)
#endif

#ifdef EVERY_SECOND
#define LOAD(from)                                                                                 \
  static void apart_##from(gconstpointer in, guint n, AstroPowerPlane *planes, guint row)          \
  {                                                                                                \
    for (guint i = 0; i < n; i += LEVEL_FLOATS) {                                                  \
      const Floats a = single_from_##from(in, 2 * i),                                              \
                   b = single_from_##from(in, 2 * i + LEVEL_FLOATS);                               \
      floats_store(&planes[0][row][i], EVERY_SECOND(a, b, 0));                                     \
      floats_store(&planes[1][row][i], EVERY_SECOND(a, b, 1));                                     \
    }                                                                                              \
  }                                                                                                \
  static void paired_##from(gconstpointer in, guint n, AstroPowerPlane *planes, guint row)         \
  {                                                                                                \
    for (guint i = 0; i < n; i += LEVEL_FLOATS) {                                                  \
      const Floats a = single_from_##from(in, 4 * i),                                              \
                   b = single_from_##from(in, 4 * i + LEVEL_FLOATS),                               \
                   c = single_from_##from(in, 4 * i + 2 * LEVEL_FLOATS),                           \
                   d = single_from_##from(in, 4 * i + 3 * LEVEL_FLOATS);                           \
      const Floats re_first = EVERY_SECOND(a, b, 0), re_last = EVERY_SECOND(c, d, 0),              \
                   im_first = EVERY_SECOND(a, b, 1), im_last = EVERY_SECOND(c, d, 1);              \
      floats_store(&planes[0][row][i], EVERY_SECOND(re_first, re_last, 0));                        \
      floats_store(&planes[1][row][i], EVERY_SECOND(im_first, im_last, 0));                        \
      floats_store(&planes[2][row][i], EVERY_SECOND(re_first, re_last, 1));                        \
      floats_store(&planes[3][row][i], EVERY_SECOND(im_first, im_last, 1));                        \
    }                                                                                              \
  }
#else
#define LOAD(from)                                                                                 \
  static void apart_##from(gconstpointer in, guint n, AstroPowerPlane *planes, guint row)          \
  {                                                                                                \
    for (guint i = 0; i < n; i++)                                                                  \
      for (guint part = 0; part < 2; part++)                                                       \
        planes[part][row][i] = single_from_##from(in, 2 * i + part);                               \
  }                                                                                                \
  static void paired_##from(gconstpointer in, guint n, AstroPowerPlane *planes, guint row)         \
  {                                                                                                \
    for (guint i = 0; i < n; i++)                                                                  \
      for (guint part = 0; part < 4; part++)                                                       \
        planes[part][row][i] = single_from_##from(in, 4 * i + part);                               \
  }
#endif

LOAD(i4)
LOAD(i8)
LOAD(i16)
LOAD(f16)
LOAD(f32)

/* ---- planes to sums ---- */

typedef float HalfOfFloats __attribute__((vector_size(LEVEL_BYTES / 2)));

static inline Doubles widened(const float *from)
{
  HalfOfFloats half;
  __builtin_memcpy(&half, from, sizeof half);
  return __builtin_convertvector(half, Doubles);
}

/* The sums over rows, from lane i on, of a vector of Reals. */
#define ADD_ROWS(Reals, load)                                                                      \
  for (guint r = 0; r < rows; r++) {                                                               \
    const Reals xr = load(&planes[0][r][i]), xi = load(&planes[1][r][i]);                          \
    const Reals xx = xr * xr + xi * xi;                                                            \
    sum[ASTRO_POWER_XX] += xx;                                                                     \
    if (squares)                                                                                   \
      sum[ASTRO_POWER_XX2] += xx * xx;                                                             \
    if (kind == ASTRO_POWER_ONE)                                                                   \
      continue;                                                                                    \
    const Reals yr = load(&planes[2][r][i]), yi = load(&planes[3][r][i]);                          \
    const Reals yy = yr * yr + yi * yi;                                                            \
    sum[ASTRO_POWER_YY] += yy;                                                                     \
    if (squares) {                                                                                 \
      sum[ASTRO_POWER_YY2] += yy * yy;                                                             \
      sum[ASTRO_POWER_TOTAL2] += (xx + yy) * (xx + yy);                                            \
      sum[ASTRO_POWER_DIFFERENCE2] += (xx - yy) * (xx - yy);                                       \
    }                                                                                              \
    if (kind == ASTRO_POWER_PAIR)                                                                  \
      continue;                                                                                    \
    const Reals re = xr * yr + xi * yi, im = xi * yr - xr * yi;                                    \
    sum[ASTRO_POWER_RE] += re;                                                                     \
    sum[ASTRO_POWER_IM] += im;                                                                     \
    if (squares) {                                                                                 \
      sum[ASTRO_POWER_RE2] += re * re;                                                             \
      sum[ASTRO_POWER_IM2] += im * im;                                                             \
    }                                                                                              \
  }

/* Inlined where kind and squares are constants, so that only what is asked for is computed. */
static inline __attribute__((always_inline)) void add_wide(AstroPowerSums sums,
                                                           const AstroPowerPlane *planes,
                                                           guint rows, guint n, AstroPowerKind kind,
                                                           gboolean squares)
{
  for (guint i = 0; i < n; i += LEVEL_DOUBLES) {
    Doubles sum[ASTRO_POWER_SUMS] = { { 0 } };
    ADD_ROWS(Doubles, widened)
    for (guint s = 0; s < ASTRO_POWER_SUMS; s++)
      if (astro_power_keeps(kind, squares, s))
        doubles_store(&sums[s][i], doubles_load(&sums[s][i]) + sum[s]);
  }
}

static inline __attribute__((always_inline)) void add_small(AstroPowerSums sums,
                                                            const AstroPowerPlane *planes,
                                                            guint rows, guint n,
                                                            AstroPowerKind kind)
{
  const gboolean squares = FALSE;
  for (guint i = 0; i < n; i += LEVEL_FLOATS) {
    Floats sum[ASTRO_POWER_SUMS] = { { 0 } };
    ADD_ROWS(Floats, floats_load)
    for (guint s = 0; s < ASTRO_POWER_SUMS; s++) {
      if (!astro_power_keeps(kind, squares, s))
        continue;
      float of[LEVEL_FLOATS];
      floats_store(of, sum[s]);
      for (guint half = 0; half < LEVEL_FLOATS; half += LEVEL_DOUBLES)
        doubles_store(&sums[s][i + half], doubles_load(&sums[s][i + half]) + widened(of + half));
    }
  }
}

#define ADD(name, call, ...)                                                                       \
  static void name(AstroPowerSums sums, const AstroPowerPlane *planes, guint rows, guint n)        \
  {                                                                                                \
    call(sums, planes, rows, n, __VA_ARGS__);                                                      \
  }
ADD(small_one, add_small, ASTRO_POWER_ONE)
ADD(small_pair, add_small, ASTRO_POWER_PAIR)
ADD(small_cross, add_small, ASTRO_POWER_CROSS)
ADD(wide_one, add_wide, ASTRO_POWER_ONE, FALSE)
ADD(wide_pair, add_wide, ASTRO_POWER_PAIR, FALSE)
ADD(wide_cross, add_wide, ASTRO_POWER_CROSS, FALSE)
ADD(squares_one, add_wide, ASTRO_POWER_ONE, TRUE)
ADD(squares_pair, add_wide, ASTRO_POWER_PAIR, TRUE)
ADD(squares_cross, add_wide, ASTRO_POWER_CROSS, TRUE)

#define OF_FORMATS(name)                                                                           \
  {                                                                                                \
    [ASTRO_FORMAT_CI4] = name##_i4, [ASTRO_FORMAT_CI8] = name##_i8,                                \
    [ASTRO_FORMAT_CI16LE] = name##_i16, [ASTRO_FORMAT_CF16LE] = name##_f16,                        \
    [ASTRO_FORMAT_CF32LE] = name##_f32,                                                            \
  }
#define OF_KINDS(name)                                                                             \
  {                                                                                                \
    name##_one, name##_pair, name##_cross                                                          \
  }

const AstroPowerKernels LEVEL_NAMED(astro_power_kernels) = {
  .variant = LEVEL_VARIANT,
  .direct = &LEVEL_NAMED(astro_power_direct),
  .lanes = LEVEL_FLOATS,
  .apart = OF_FORMATS(apart),
  .paired = OF_FORMATS(paired),
  .small = OF_KINDS(small),
  .wide = OF_KINDS(wide),
  .squares = OF_KINDS(squares),
};
