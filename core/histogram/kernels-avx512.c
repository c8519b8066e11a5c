/* Sixteen pairs at a time in single precision, eight in double. */

#include "core/histogram/kernels.h"

#include <immintrin.h>
#include <math.h>

#define EDGES_AT_ONCE 4
#define PLACES_AT_ONCE 4 /* of weighted.h */

/* The terms of (square of the chord - lowest edge) that depend on a's point alone. */
typedef struct {
  float x[LEAF_POINTS + 16], y[LEAF_POINTS + 16], z[LEAF_POINTS + 16], square[LEAF_POINTS + 16];
} Rows;

static void make_rows(Rows *rows, const LeafOffsets *a, const LeafShift *shift)
{
  const __m512 two = _mm512_set1_ps(2);
  __m512 sx = _mm512_set1_ps(shift->twice_x), sy = _mm512_set1_ps(shift->twice_y),
         sz = _mm512_set1_ps(shift->twice_z), square = _mm512_set1_ps(shift->square);
  for (guint i = 0; i < LEAF_POINTS; i += 16) {
    __m512 x = _mm512_loadu_ps(a->x + i), y = _mm512_loadu_ps(a->y + i),
           z = _mm512_loadu_ps(a->z + i);
    __m512 sum = _mm512_add_ps(_mm512_loadu_ps(a->square + i), square);
    sum = _mm512_fmadd_ps(sx, x, sum);
    sum = _mm512_fmadd_ps(sy, y, sum);
    sum = _mm512_fmadd_ps(sz, z, sum);
    _mm512_storeu_ps(rows->x + i, _mm512_fnmsub_ps(two, x, sx));
    _mm512_storeu_ps(rows->y + i, _mm512_fnmsub_ps(two, y, sy));
    _mm512_storeu_ps(rows->z + i, _mm512_fnmsub_ps(two, z, sz));
    _mm512_storeu_ps(rows->square + i, sum);
  }
}

/* Moves rows together that the lowest edge cuts through b for, and returns how many; *n_below:
 * those that lie below it with all of b. */
static guint keep_rows(Rows *rows, const LeafShift *shift, guint *n_below)
{
  const __m512 above = _mm512_set1_ps(shift->above), below = _mm512_set1_ps(shift->below);
  guint n = 0;
  *n_below = 0;
  for (guint i = 0; i < LEAF_POINTS; i += 16) {
    __m512 x = _mm512_loadu_ps(rows->x + i), y = _mm512_loadu_ps(rows->y + i),
           z = _mm512_loadu_ps(rows->z + i), square = _mm512_loadu_ps(rows->square + i);
    __mmask16 is_below = _mm512_cmp_ps_mask(square, below, _CMP_LT_OQ);
    __mmask16 keep = _mm512_mask_cmp_ps_mask((__mmask16)~is_below, square, above, _CMP_LE_OQ);
    _mm512_storeu_ps(rows->x + n, _mm512_maskz_compress_ps(keep, x));
    _mm512_storeu_ps(rows->y + n, _mm512_maskz_compress_ps(keep, y));
    _mm512_storeu_ps(rows->z + n, _mm512_maskz_compress_ps(keep, z));
    _mm512_storeu_ps(rows->square + n, _mm512_maskz_compress_ps(keep, square));
    n += (guint)__builtin_popcount(keep);
    *n_below += (guint)__builtin_popcount(is_below);
  }
  return n;
}

/* n and has_lowest are known where this is inlined, so that the counters stay in registers.
 * has_lowest: the first limit is 0. Returns the distance to the nearest limit, in 16 parts. */
static inline __attribute__((always_inline)) __m512
count_single(const Rows *rows, guint n_a, const LeafOffsets *b, const float *limits, guint64 *below,
             const guint n, const gboolean has_lowest)
{
  const __m512i one = _mm512_set1_epi32(1);
  __m512 nearest[2] = { _mm512_set1_ps(INFINITY), _mm512_set1_ps(INFINITY) };
  __m512i counts[2][EDGES_AT_ONCE];
  __m512 x[2], y[2], z[2], square[2], limit[EDGES_AT_ONCE];
  for (guint h = 0; h < 2; h++) {
    x[h] = _mm512_loadu_ps(b->x + 16 * h);
    y[h] = _mm512_loadu_ps(b->y + 16 * h);
    z[h] = _mm512_loadu_ps(b->z + 16 * h);
    square[h] = _mm512_loadu_ps(b->square + 16 * h);
    for (guint k = 0; k < n; k++)
      counts[h][k] = _mm512_setzero_si512();
  }
  for (guint k = 0; k < n; k++)
    limit[k] = _mm512_set1_ps(limits[k]);
  for (guint i = 0; i < n_a; i++) {
    __m512 rx = _mm512_set1_ps(rows->x[i]), ry = _mm512_set1_ps(rows->y[i]),
           rz = _mm512_set1_ps(rows->z[i]), rs = _mm512_set1_ps(rows->square[i]);
    for (guint h = 0; h < 2; h++) {
      __m512 t = _mm512_add_ps(square[h], rs);
      t = _mm512_fmadd_ps(rx, x[h], t);
      t = _mm512_fmadd_ps(ry, y[h], t);
      t = _mm512_fmadd_ps(rz, z[h], t);
      for (guint k = 0; k < n; k++) {
        __m512 gap = has_lowest && k == 0 ? t : _mm512_sub_ps(t, limit[k]);
        __mmask16 is_below = _mm512_cmp_ps_mask(t, limit[k], _CMP_LT_OQ);
        counts[h][k] = _mm512_mask_add_epi32(counts[h][k], is_below, counts[h][k], one);
        nearest[h] = _mm512_range_ps(nearest[h], gap, 0x0a); /* the smaller magnitude */
      }
    }
  }
  for (guint k = 0; k < n; k++)
    below[k] = (guint64)_mm512_reduce_add_epi32(_mm512_add_epi32(counts[0][k], counts[1][k]));
  return _mm512_min_ps(nearest[0], nearest[1]);
}

typedef __m512 (*CountSingle)(const Rows *rows, guint n_a, const LeafOffsets *b,
                              const float *limits, guint64 *below);

#define COUNT_SINGLE(n, has_lowest)                                                                \
  static __m512 count_single_##n##_##has_lowest(const Rows *rows, guint n_a, const LeafOffsets *b, \
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
  __m512 nearest = _mm512_set1_ps(INFINITY);
  for (guint k = 0; k < n_limits; k += EDGES_AT_ONCE) {
    guint n = MIN(n_limits - k, EDGES_AT_ONCE);
    __m512 found = count_single_table[k == 0][n - 1](&rows, n_a, b, limits + k, below + k);
    nearest = _mm512_min_ps(nearest, found);
  }
  below[0] += (guint64)n_below * n_b;
  return !_mm512_cmp_ps_mask(nearest, _mm512_set1_ps(doubt), _CMP_LE_OQ);
}

static inline __attribute__((always_inline)) __m512d chord_square(__m512d x, __m512d y, __m512d z,
                                                                  const LeafPositions *b, guint j)
{
  __m512d dx = _mm512_sub_pd(x, _mm512_loadu_pd(b->x + j)),
          dy = _mm512_sub_pd(y, _mm512_loadu_pd(b->y + j)),
          dz = _mm512_sub_pd(z, _mm512_loadu_pd(b->z + j));
  return _mm512_add_pd(_mm512_add_pd(_mm512_mul_pd(dx, dx), _mm512_mul_pd(dy, dy)),
                       _mm512_mul_pd(dz, dz));
}

static void below_exact(const LeafPositions *a, guint n_a, const LeafPositions *b,
                        const double *edges, guint n_edges, guint64 *below)
{
  const __m512i one = _mm512_set1_epi64(1);
  for (guint k = 0; k < n_edges; k += EDGES_AT_ONCE) {
    guint n = MIN(n_edges - k, EDGES_AT_ONCE);
    __m512d edge[EDGES_AT_ONCE];
    __m512i counts[EDGES_AT_ONCE];
    for (guint e = 0; e < EDGES_AT_ONCE; e++) {
      edge[e] = _mm512_set1_pd(edges[k + MIN(e, n - 1)]);
      counts[e] = _mm512_setzero_si512();
    }
    for (guint i = 0; i < n_a; i++) {
      __m512d x = _mm512_set1_pd(a->x[i]), y = _mm512_set1_pd(a->y[i]), z = _mm512_set1_pd(a->z[i]);
      for (guint j = 0; j < LEAF_POINTS; j += 8) {
        __m512d square = chord_square(x, y, z, b, j);
        for (guint e = 0; e < EDGES_AT_ONCE; e++) {
          __mmask8 is_below = _mm512_cmp_pd_mask(square, edge[e], _CMP_LT_OQ);
          counts[e] = _mm512_mask_add_epi64(counts[e], is_below, counts[e], one);
        }
      }
    }
    for (guint e = 0; e < n; e++)
      below[k + e] = (guint64)_mm512_reduce_add_epi64(counts[e]);
  }
}

/* Places between edges[0] and edges[1], and so on; n of them, known where this is inlined. */
static inline __attribute__((always_inline)) void
weigh_places(const LeafPositions *a, const double *weight_a, guint n_a, const LeafPositions *b,
             const double *weight_b, const double *edges, guint64 *counts, double *sums,
             const guint n)
{
  const __m512i one = _mm512_set1_epi64(1);
  __m512d low = _mm512_set1_pd(edges[0]), high[PLACES_AT_ONCE], weights[PLACES_AT_ONCE];
  __m512i pairs[PLACES_AT_ONCE];
  for (guint p = 0; p < n; p++) {
    high[p] = _mm512_set1_pd(edges[p + 1]);
    weights[p] = _mm512_setzero_pd();
    pairs[p] = _mm512_setzero_si512();
  }
  for (guint i = 0; i < n_a; i++) {
    __m512d x = _mm512_set1_pd(a->x[i]), y = _mm512_set1_pd(a->y[i]), z = _mm512_set1_pd(a->z[i]),
            weight = _mm512_set1_pd(weight_a[i]);
    for (guint j = 0; j < LEAF_POINTS; j += 8) {
      __m512d square = chord_square(x, y, z, b, j);
      __m512d product = _mm512_mul_pd(weight, _mm512_loadu_pd(weight_b + j));
      __mmask8 is_above = _mm512_cmp_pd_mask(square, low, _CMP_GE_OQ);
      for (guint p = 0; p < n; p++) {
        __mmask8 is_here = _mm512_mask_cmp_pd_mask(is_above, square, high[p], _CMP_LT_OQ);
        is_above &= ~is_here;
        pairs[p] = _mm512_mask_add_epi64(pairs[p], is_here, pairs[p], one);
        weights[p] = _mm512_mask_add_pd(weights[p], is_here, weights[p], product);
      }
    }
  }
  for (guint p = 0; p < n; p++) {
    counts[p] = (guint64)_mm512_reduce_add_epi64(pairs[p]);
    sums[p] = _mm512_reduce_add_pd(weights[p]);
  }
}

#include "core/histogram/weighted.h"

const HistogramKernels astro_histogram_kernels_avx512 = {
  .below_single = below_single,
  .below = below_exact,
  .weighted = weighted,
};
