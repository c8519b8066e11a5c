/* Two leaves of points against each other, a vector of pairs at a time. */
#include "config.h"
#include "core/histogram/kernels.h"

#include "core/backend/level.h"
#include "core/histogram/vector-sums.h"

#include <string.h>

#define EDGES_AT_ONCE 4
#define PLACES_AT_ONCE 4
/* Vectors that are counted in sums of their own, so that no addition waits for the one before.
 * AVX-512 has the registers for two, which are all the points of a leaf in single precision. */
#define SETS (LEVEL_REGISTERS / 16)

/* Counts the lanes with a negative number. */
INLINE Ints count_negative(Ints counts, Floats numbers)
{
#ifdef ASTRO_LEVEL_AVX512
  const FloatsMask mask = floats_below(numbers, (Floats){ 0 });
  return (Ints)_mm512_mask_add_epi32((__m512i)counts, mask, (__m512i)counts, _mm512_set1_epi32(1));
#else
  typedef guint32 Bits __attribute__((vector_size(LEVEL_BYTES)));
  return counts + (Ints)((Bits)numbers >> 31);
#endif
}

/* How far gaps are from 0, up to a sign that nearer() does not look at, and the lesser of two. */
INLINE Floats distance(Floats gap)
{
#ifdef ASTRO_LEVEL_AVX512
  return gap;
#else
  return floats_magnitude(gap);
#endif
}

INLINE Floats nearer(Floats a, Floats b)
{
#ifdef ASTRO_LEVEL_AVX512
  return _mm512_range_ps(a, b, 0x0a);
#else
  return floats_least(a, b);
#endif
}

/* ---- counts in single precision ---- */

/* The terms of (square of the chord - lowest edge) that depend on a's point alone. Vectors may be
 * stored up to the end of the last point. */
typedef struct {
  float x[LEAF_POINTS + LEVEL_FLOATS], y[LEAF_POINTS + LEVEL_FLOATS], z[LEAF_POINTS + LEVEL_FLOATS],
      square[LEAF_POINTS + LEVEL_FLOATS];
} Rows;

static void make_rows(Rows *rows, const LeafOffsets *a, const LeafShift *shift)
{
  const Floats sx = floats_all(shift->twice_x), sy = floats_all(shift->twice_y),
               sz = floats_all(shift->twice_z), square = floats_all(shift->square),
               minus_two = floats_all(-2);
  for (guint i = 0; i < LEAF_POINTS; i += LEVEL_FLOATS) {
    const Floats x = floats_load(a->x + i), y = floats_load(a->y + i), z = floats_load(a->z + i);
    Floats sum = floats_load(a->square + i) + square;
    sum = floats_multiply_add(sx, x, sum);
    sum = floats_multiply_add(sy, y, sum);
    sum = floats_multiply_add(sz, z, sum);
    floats_store(rows->x + i, floats_multiply_add(minus_two, x, -sx));
    floats_store(rows->y + i, floats_multiply_add(minus_two, y, -sy));
    floats_store(rows->z + i, floats_multiply_add(minus_two, z, -sz));
    floats_store(rows->square + i, sum);
  }
}

/* Moves the rows together whose pairs with b lie on both sides of the lowest edge, and returns how
 * many there are; *n_below: rows that lie below it with all of b. */
static guint keep_rows(Rows *rows, const LeafShift *shift, guint *n_below)
{
  guint n = 0;
  *n_below = 0;
#ifdef ASTRO_LEVEL_AVX512 /* which stores the lanes of a mask side by side */
  const Floats above = floats_all(shift->above), below = floats_all(shift->below);
  for (guint i = 0; i < LEAF_POINTS; i += LEVEL_FLOATS) {
    const Floats x = floats_load(rows->x + i), y = floats_load(rows->y + i),
                 z = floats_load(rows->z + i), square = floats_load(rows->square + i);
    const __mmask16 is_below = floats_below(square, below);
    const __mmask16 keep = floats_at_least(above, square) & (__mmask16)~is_below;
    floats_store(rows->x + n, _mm512_maskz_compress_ps(keep, x));
    floats_store(rows->y + n, _mm512_maskz_compress_ps(keep, y));
    floats_store(rows->z + n, _mm512_maskz_compress_ps(keep, z));
    floats_store(rows->square + n, _mm512_maskz_compress_ps(keep, square));
    n += (guint)__builtin_popcount(keep);
    *n_below += (guint)__builtin_popcount(is_below);
  }
#else
  for (guint i = 0; i < LEAF_POINTS; i++) {
    const float square = rows->square[i];
    rows->x[n] = rows->x[i];
    rows->y[n] = rows->y[i];
    rows->z[n] = rows->z[i];
    rows->square[n] = square;
    n += square >= shift->below && square <= shift->above;
    *n_below += square < shift->below;
  }
#endif
  return n;
}

/* n and has_lowest are known where this is inlined, so that the counters stay in registers.
 * has_lowest: the first limit is 0. Returns the distance to the nearest limit, in each lane. */
INLINE Floats count_single(const Rows *rows, guint n_a, const LeafOffsets *b, const float *limits,
                           guint64 *below, const guint n, const gboolean has_lowest)
{
  Floats nearest[SETS], limit[EDGES_AT_ONCE];
  Ints counts[SETS][EDGES_AT_ONCE] = { 0 };
  UNROLL for (guint set = 0; set < SETS; set++) nearest[set] = floats_all(INFINITY);
  UNROLL for (guint k = 0; k < n; k++) limit[k] = floats_all(limits[k]);
  for (guint i = 0; i < n_a; i++) {
    const Floats rx = floats_all(rows->x[i]), ry = floats_all(rows->y[i]),
                 rz = floats_all(rows->z[i]), rs = floats_all(rows->square[i]);
    for (guint first = 0; first < LEAF_POINTS; first += SETS * LEVEL_FLOATS)
      UNROLL for (guint set = 0; set < SETS; set++)
      {
        const guint j = first + set * LEVEL_FLOATS;
        Floats t = floats_load(b->square + j) + rs;
        t = floats_multiply_add(rx, floats_load(b->x + j), t);
        t = floats_multiply_add(ry, floats_load(b->y + j), t);
        t = floats_multiply_add(rz, floats_load(b->z + j), t);
        Floats closest = nearest[set];
        UNROLL for (guint k = 0; k < n; k++)
        {
          /* The sign tells: a gap that rounds to 0 is within doubt. */
          const Floats gap = has_lowest && k == 0 ? t : t - limit[k];
          counts[set][k] = count_negative(counts[set][k], gap);
          closest = k == 0 ? distance(gap) : nearer(closest, distance(gap));
        }
        nearest[set] = nearer(nearest[set], closest);
      }
  }
  UNROLL for (guint set = 1; set < SETS; set++)
  {
    UNROLL for (guint k = 0; k < n; k++) counts[0][k] += counts[set][k];
    nearest[0] = floats_least(nearest[0], nearest[set]);
  }
  UNROLL for (guint k = 0; k < n; k++) below[k] = sum_ints(counts[0][k]);
  return nearest[0];
}

typedef Floats (*CountSingle)(const Rows *rows, guint n_a, const LeafOffsets *b,
                              const float *limits, guint64 *below);

#define COUNT_SINGLE(n, has_lowest)                                                                \
  static Floats count_single_##n##_##has_lowest(const Rows *rows, guint n_a, const LeafOffsets *b, \
                                                const float *limits, guint64 *below)               \
  {                                                                                                \
    return count_single(rows, n_a, b, limits, below, n, has_lowest);                               \
  }
COUNT_SINGLE(1, 0)
COUNT_SINGLE(2, 0)
COUNT_SINGLE(3, 0)
COUNT_SINGLE(4, 0)
COUNT_SINGLE(1, 1)
COUNT_SINGLE(2, 1)
COUNT_SINGLE(3, 1)
COUNT_SINGLE(4, 1)

static const CountSingle count_single_table[2][EDGES_AT_ONCE] = {
  { count_single_1_0, count_single_2_0, count_single_3_0, count_single_4_0 },
  { count_single_1_1, count_single_2_1, count_single_3_1, count_single_4_1 },
};

static gboolean below_single(const LeafOffsets *a, guint n_a, const LeafOffsets *b, guint n_b,
                             const LeafShift *shift, const float *limits, guint n_limits,
                             float doubt, guint64 *below)
{
  Rows rows;
  guint n_below = 0;
  make_rows(&rows, a, shift);
  if (n_limits == 1)
    n_a = keep_rows(&rows, shift, &n_below);
  Floats nearest = floats_all(INFINITY);
  for (guint k = 0; k < n_limits; k += EDGES_AT_ONCE) {
    const guint n = MIN(n_limits - k, EDGES_AT_ONCE);
    const CountSingle count_edges = count_single_table[k == 0][n - 1];
    nearest = floats_least(nearest, count_edges(&rows, n_a, b, limits + k, below + k));
  }
  below[0] += (guint64)n_below * n_b;
  return !floats_lanes(floats_at_least(floats_all(doubt), nearest));
}

/* ---- counts and weights in double precision, by the bin rule ---- */

INLINE Doubles chord_square(Doubles x, Doubles y, Doubles z, const LeafPositions *b, guint j)
{
  const Doubles dx = x - doubles_load(b->x + j), dy = y - doubles_load(b->y + j),
                dz = z - doubles_load(b->z + j);
  return (dx * dx + dy * dy) + dz * dz;
}

static void below_exact(const LeafPositions *a, guint n_a, const LeafPositions *b,
                        const double *edges, guint n_edges, guint64 *below)
{
  for (guint k = 0; k < n_edges; k += EDGES_AT_ONCE) {
    const guint n = MIN(n_edges - k, EDGES_AT_ONCE);
    Doubles edge[EDGES_AT_ONCE];
    Longs counts[EDGES_AT_ONCE] = { 0 };
    UNROLL for (guint e = 0; e < EDGES_AT_ONCE; e++) edge[e] =
        doubles_all(edges[k + MIN(e, n - 1)]);
    for (guint i = 0; i < n_a; i++) {
      const Doubles x = doubles_all(a->x[i]), y = doubles_all(a->y[i]), z = doubles_all(a->z[i]);
      for (guint j = 0; j < LEAF_POINTS; j += LEVEL_DOUBLES) {
        const Doubles square = chord_square(x, y, z, b, j);
        UNROLL for (guint e = 0; e < EDGES_AT_ONCE; e++) counts[e] =
            count(counts[e], doubles_below(square, edge[e]));
      }
    }
    UNROLL for (guint e = 0; e < EDGES_AT_ONCE; e++) if (e < n) below[k + e] = sum_longs(counts[e]);
  }
}

/* Places between edges[0] and edges[1], and so on; n of them, known where this is inlined. */
INLINE void weigh_places(const LeafPositions *a, const double *weight_a, guint n_a,
                         const LeafPositions *b, const double *weight_b, const double *edges,
                         guint64 *counts, double *sums, const guint n)
{
  Doubles low = doubles_all(edges[0]), high[PLACES_AT_ONCE], weights[PLACES_AT_ONCE] = { 0 };
  Longs pairs[PLACES_AT_ONCE] = { 0 };
  UNROLL for (guint p = 0; p < n; p++) high[p] = doubles_all(edges[p + 1]);
  for (guint i = 0; i < n_a; i++) {
    const Doubles x = doubles_all(a->x[i]), y = doubles_all(a->y[i]), z = doubles_all(a->z[i]),
                  weight = doubles_all(weight_a[i]);
    for (guint j = 0; j < LEAF_POINTS; j += LEVEL_DOUBLES) {
      const Doubles square = chord_square(x, y, z, b, j),
                    product = weight * doubles_load(weight_b + j);
      DoublesMask is_above = doubles_at_least(square, low);
      UNROLL for (guint p = 0; p < n; p++)
      {
        const DoublesMask is_here = is_above & doubles_below(square, high[p]);
        is_above &= ~is_here;
        pairs[p] = count(pairs[p], is_here);
        weights[p] = add_where(weights[p], is_here, product);
      }
    }
  }
  UNROLL for (guint p = 0; p < n; p++)
  {
    counts[p] = sum_longs(pairs[p]);
    sums[p] = sum_doubles(weights[p]);
  }
}

static void weighted(const LeafPositions *a, const double *weight_a, guint n_a,
                     const LeafPositions *b, const double *weight_b, const double *edges,
                     guint n_edges, guint64 *counts, double *sums)
{
  for (guint k = 0; k <= n_edges; k += PLACES_AT_ONCE) {
    const guint n = MIN(n_edges + 1 - k, PLACES_AT_ONCE);
    double around[PLACES_AT_ONCE + 1], here_sums[PLACES_AT_ONCE];
    guint64 here[PLACES_AT_ONCE];
    for (guint p = 0; p <= PLACES_AT_ONCE; p++)
      around[p] = k + p == 0 ? 0 : k + p <= n_edges ? edges[k + p - 1] : INFINITY;
    if (n <= 2) /* most leaves are cut by one edge */
      weigh_places(a, weight_a, n_a, b, weight_b, around, here, here_sums, 2);
    else
      weigh_places(a, weight_a, n_a, b, weight_b, around, here, here_sums, PLACES_AT_ONCE);
    memcpy(counts + k, here, n * sizeof *here);
    memcpy(sums + k, here_sums, n * sizeof *here_sums);
  }
}

const HistogramKernels LEVEL_NAMED(astro_histogram_kernels) = {
  .below_single = below_single,
  .below = below_exact,
  .weighted = weighted,
  .space = LEVEL_NAMED(astro_histogram_space),
  .fields = LEVEL_NAMED(astro_histogram_fields),
};
