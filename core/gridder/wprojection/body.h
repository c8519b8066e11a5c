/* One source for both precisions. The file that includes it defines the lanes of a vector (LANES),
 * how many vectors side by side are summed in registers (ABREAST), the type of reals (REAL), an
 * integer of the same size (INTEGER) and the prefix of the functions (SPREAD).
 *
 * Taps and cells are complex, real part first. The sums of tap x value are kept apart for the real
 * and the imaginary part of values; the swap of real and imaginary parts that the second needs is
 * done once, when it is added to the grid. */
#define JOINED(a, b) a##b
#define NAMED(prefix, name) JOINED(prefix, name)
#define Vector NAMED(SPREAD, _vector)
#define Unaligned NAMED(SPREAD, _unaligned)
#define Index NAMED(SPREAD, _index)
#define VECTOR (LANES * sizeof(REAL))

#ifndef NEIGHBOURS_2
#define NEIGHBOURS_2 1, 0
#define NEIGHBOURS_4 NEIGHBOURS_2, 3, 2
#define NEIGHBOURS_8 NEIGHBOURS_4, 5, 4, 7, 6
#define NEIGHBOURS_16 NEIGHBOURS_8, 9, 8, 11, 10, 13, 12, 15, 14
#define SIGNS_2 -1, 1
#define SIGNS_4 SIGNS_2, SIGNS_2
#define SIGNS_8 SIGNS_4, SIGNS_4
#define SIGNS_16 SIGNS_8, SIGNS_8
#endif

typedef REAL Vector __attribute__((vector_size(VECTOR)));
typedef REAL Unaligned __attribute__((vector_size(VECTOR), aligned(sizeof(REAL)), may_alias));
typedef INTEGER Index __attribute__((vector_size(VECTOR)));

/* Times i: neighbours swapped, with the sign of the new real parts changed. */
static inline Vector NAMED(SPREAD, _times_i)(Vector x)
{
  const Index neighbours = { NAMED(NEIGHBOURS_, LANES) };
  const Vector signs = { NAMED(SIGNS_, LANES) };
  return ASTRO_SHUFFLE(x, neighbours) * signs;
}

/* Unrolled at every level of optimization, or sums would not stay in registers. */
static inline __attribute__((always_inline)) void
NAMED(SPREAD, _block)(const AstroWProjectionWork *work, gsize column, const guint products,
                      const guint rows, const guint abreast)
{
  Vector by_real[16][4] = { 0 }, by_imaginary[16][4] = { 0 };
  const REAL *value = work->values;
  gsize from = work->taps_row + column;

  for (gsize i = 0; i < work->n; i++, value += work->value_stride) {
    const REAL *taps = (const REAL *)work->taps[i] + from;
    Vector tap[16];
#pragma GCC unroll 16
    for (guint k = 0; k < rows * abreast; k++) {
      const REAL *at = taps + k / abreast * work->taps_stride + k % abreast * LANES;
      tap[k] = *(const Unaligned *)at;
      __builtin_prefetch(at + abreast * LANES);
    }
#pragma GCC unroll 4
    for (guint p = 0; p < products; p++)
#pragma GCC unroll 16
      for (guint k = 0; k < rows * abreast; k++) {
        by_real[k][p] += tap[k] * value[2 * p];
        by_imaginary[k][p] += tap[k] * value[2 * p + 1];
      }
  }
#pragma GCC unroll 4
  for (guint p = 0; p < products; p++)
#pragma GCC unroll 16
    for (guint k = 0; k < rows * abreast; k++) {
      REAL *cells = (REAL *)work->grid + p * work->product_stride +
                    k / abreast * work->grid_stride + column + k % abreast * LANES;
      if (k < abreast || k / abreast < work->rows)
        *(Unaligned *)cells += by_real[k][p] + NAMED(SPREAD, _times_i)(by_imaginary[k][p]);
    }
}

static inline __attribute__((always_inline)) void
NAMED(SPREAD, _rows)(const AstroWProjectionWork *work, const guint products, const guint rows)
{
  guint left = work->vectors_8 * 16 / LANES;
  gsize column = 0;
#if ABREAST == 3
  for (; left > 4 || left == 3; left -= 3, column += 3 * LANES)
    NAMED(SPREAD, _block)(work, column, products, rows, 3);
  for (; left > 1; left -= 2, column += 2 * LANES)
    NAMED(SPREAD, _block)(work, column, products, rows, 2);
#endif
  for (; left; left--, column += LANES)
    NAMED(SPREAD, _block)(work, column, products, rows, 1);
}

static void NAMED(SPREAD, _1)(const AstroWProjectionWork *work)
{
  NAMED(SPREAD, _rows)(work, 1, ASTRO_WPROJECTION_ROWS(ASTRO_WPROJECTION_1));
}

static void NAMED(SPREAD, _2)(const AstroWProjectionWork *work)
{
  NAMED(SPREAD, _rows)(work, 2, ASTRO_WPROJECTION_ROWS(ASTRO_WPROJECTION_2));
}

static void NAMED(SPREAD, _4)(const AstroWProjectionWork *work)
{
  NAMED(SPREAD, _rows)(work, 4, ASTRO_WPROJECTION_ROWS(ASTRO_WPROJECTION_4));
}

#undef JOINED
#undef NAMED
#undef Vector
#undef Unaligned
#undef Index
#undef VECTOR
#undef LANES
#undef REAL
#undef INTEGER
#undef SPREAD
