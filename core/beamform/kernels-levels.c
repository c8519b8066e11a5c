/* The beamformer's inner loops, as one text for all levels. */
#include "config.h"
#include "core/beamform/kernels.h"

#include "core/backend/level.h"
#include "core/kit/shuffle.h"
#include "core/kit/vector.h"

#define INLINE static inline __attribute__((always_inline))
/* Whatever the optimization, or sums would not stay in registers. */
#define UNROLL _Pragma("GCC unroll 8")

#define STRIP ASTRO_BEAMFORM_STRIP
#define VECTORS 2
#define TILE (VECTORS * LEVEL_FLOATS)
#define TILES (STRIP / TILE)
/* Sums of ROWS beams, two vectors of samples and two of a weight fill the registers. */
#if LEVEL_REGISTERS >= 32
#define ROWS 6
#else
#define ROWS 2
#endif

/* ---- from samples to strips ---- */

typedef gint16 Shorts __attribute__((vector_size(LEVEL_BYTES / 2)));

INLINE float *place(float *strip, gsize tile_floats, guint station, guint vector)
{
  return strip + vector / VECTORS * tile_floats + station * 2 * TILE +
         vector % VECTORS * LEVEL_FLOATS;
}

static void spread_ci8(float *strip, gsize tile_floats, guint station, gconstpointer samples)
{
  for (guint v = 0; v < STRIP / LEVEL_FLOATS; v++) {
    Shorts pairs;
    __builtin_memcpy(&pairs, (const gint16 *)samples + v * LEVEL_FLOATS, sizeof pairs);
    float *at = place(strip, tile_floats, station, v);
    const Ints re = __builtin_convertvector((Shorts)(pairs << 8) >> 8, Ints),
               im = __builtin_convertvector(pairs >> 8, Ints);
    floats_store(at, __builtin_convertvector(re, Floats));
    floats_store(at + TILE, __builtin_convertvector(im, Floats));
  }
}

static void spread_ci16(float *strip, gsize tile_floats, guint station, gconstpointer samples)
{
  for (guint v = 0; v < STRIP / LEVEL_FLOATS; v++) {
    Ints pairs;
    __builtin_memcpy(&pairs, (const gint32 *)samples + v * LEVEL_FLOATS, sizeof pairs);
    float *at = place(strip, tile_floats, station, v);
    floats_store(at, __builtin_convertvector((Ints)(pairs << 16) >> 16, Floats));
    floats_store(at + TILE, __builtin_convertvector(pairs >> 16, Floats));
  }
}

/* Places of the two vectors that a shuffle picks from. */
#define COUNT_4(place, of) place(0, of), place(1, of), place(2, of), place(3, of)
#define COUNT_8(place, of)                                                                         \
  COUNT_4(place, of), place(4, of), place(5, of), place(6, of), place(7, of)
#define COUNT_16(place, of)                                                                        \
  COUNT_8(place, of), place(8, of), place(9, of), place(10, of), place(11, of), place(12, of),     \
      place(13, of), place(14, of), place(15, of)
#if LEVEL_FLOATS == 16
#define COUNT COUNT_16
#elif LEVEL_FLOATS == 8
#define COUNT COUNT_8
#else
#define COUNT COUNT_4
#endif
#define EVERY_SECOND(i, first) 2 * (i) + (first)
#define BY_TURNS(i, first) (first) + (i) / 2 + (i) % 2 * LEVEL_FLOATS

static void spread_cf32(float *strip, gsize tile_floats, guint station, gconstpointer samples)
{
  const Ints even = { COUNT(EVERY_SECOND, 0) }, odd = { COUNT(EVERY_SECOND, 1) };
  for (guint v = 0; v < STRIP / LEVEL_FLOATS; v++) {
    const float *from = (const float *)samples + 2 * v * LEVEL_FLOATS;
    const Floats a = floats_load(from), b = floats_load(from + LEVEL_FLOATS);
    float *at = place(strip, tile_floats, station, v);
    floats_store(at, ASTRO_SHUFFLE_TWO(a, b, even));
    floats_store(at + TILE, ASTRO_SHUFFLE_TWO(a, b, odd));
  }
}

static void blank(float *strip, gsize tile_floats, guint station, const guint8 *good)
{
  for (guint i = 0; i < STRIP; i++)
    if (!good[i]) {
      float *at = strip + i / TILE * tile_floats + station * 2 * TILE + i % TILE;
      at[0] = at[TILE] = 0;
    }
}

/* ---- sums ---- */

/* Sums of one tile for n beams, a constant at the call. */
INLINE void sum_tile(float *sums, const float *tile, const float *weights, guint stations,
                     const guint n)
{
  Floats re[ROWS][VECTORS], im[ROWS][VECTORS];
  UNROLL for (guint r = 0; r < n; r++) UNROLL for (guint v = 0; v < VECTORS; v++)
  {
    re[r][v] = im[r][v] = (Floats){ 0 };
  }
  for (guint s = 0; s < stations; s++, tile += 2 * TILE, weights += 2 * n) {
    Floats x[VECTORS], y[VECTORS];
    UNROLL for (guint v = 0; v < VECTORS; v++)
    {
      x[v] = floats_load(tile + v * LEVEL_FLOATS);
      y[v] = floats_load(tile + TILE + v * LEVEL_FLOATS);
    }
    UNROLL for (guint r = 0; r < n; r++)
    {
      const Floats a = floats_all(weights[2 * r]), b = floats_all(weights[2 * r + 1]);
      UNROLL for (guint v = 0; v < VECTORS; v++)
      {
        re[r][v] = floats_multiply_add(a, x[v], re[r][v]);
        im[r][v] = floats_multiply_add(a, y[v], im[r][v]);
      }
      UNROLL for (guint v = 0; v < VECTORS; v++)
      {
        re[r][v] = floats_multiply_subtract(y[v], b, re[r][v]);
        im[r][v] = floats_multiply_add(b, x[v], im[r][v]);
      }
    }
  }
  UNROLL for (guint r = 0; r < n; r++) UNROLL for (guint v = 0; v < VECTORS; v++)
  {
    floats_store(sums + r * 2 * STRIP + v * LEVEL_FLOATS, re[r][v]);
    floats_store(sums + r * 2 * STRIP + STRIP + v * LEVEL_FLOATS, im[r][v]);
  }
}

static void sum_rest(float *sums, const float *tile, const float *weights, guint stations, guint n)
{
  switch (n) {
#define REST(n)                                                                                    \
  case n:                                                                                          \
    sum_tile(sums, tile, weights, stations, n);                                                    \
    break;
    REST(1)
#if ROWS > 2
    REST(2)
    REST(3)
    REST(4)
    REST(5)
#endif
#undef REST
  }
}

static void sum(float *sums, const float *strip, gsize tile_floats, const float *weights,
                guint stations, guint beams)
{
  for (guint t = 0; t < TILES; t++, strip += tile_floats) {
    const float *of = weights;
    float *to = sums + t * TILE;
    guint beam = 0;
    for (; beam + ROWS <= beams; beam += ROWS) {
      sum_tile(to + (gsize)beam * 2 * STRIP, strip, of, stations, ROWS);
      of += (gsize)stations * ROWS * 2;
    }
    sum_rest(to + (gsize)beam * 2 * STRIP, strip, of, stations, beams - beam);
  }
}

/* ---- from sums to samples ---- */

static void finish(float *samples, const float *sums, const float *factors)
{
  const Ints first = { COUNT(BY_TURNS, 0) }, second = { COUNT(BY_TURNS, LEVEL_FLOATS / 2) };
  for (guint i = 0; i < STRIP; i += LEVEL_FLOATS) {
    const Floats factor = floats_load(factors + i), re = floats_load(sums + i) * factor,
                 im = floats_load(sums + STRIP + i) * factor;
    floats_store(samples + 2 * i, ASTRO_SHUFFLE_TWO(re, im, first));
    floats_store(samples + 2 * i + LEVEL_FLOATS, ASTRO_SHUFFLE_TWO(re, im, second));
  }
}

const AstroBeamformKernels LEVEL_NAMED(astro_beamform_kernels) = {
  LEVEL_VARIANT,
  ROWS,
  TILE,
  { [ASTRO_BEAMFORM_SPREAD_CI8] = spread_ci8,
    [ASTRO_BEAMFORM_SPREAD_CI16LE] = spread_ci16,
    [ASTRO_BEAMFORM_SPREAD_CF32LE] = spread_cf32 },
  blank,
  sum,
  finish,
};
