/* Eight pairs at a time in single precision, four in double. */

#include "core/histogram/rows.h"

#include <immintrin.h>
#include <math.h>

#define EDGES_AT_ONCE 4
#define PLACES_AT_ONCE 4 /* of weighted.h */

static void make_rows(Rows *rows, const LeafOffsets *a, const LeafShift *shift)
{
  const __m256 two = _mm256_set1_ps(2);
  __m256 sx = _mm256_set1_ps(shift->twice_x), sy = _mm256_set1_ps(shift->twice_y),
         sz = _mm256_set1_ps(shift->twice_z), square = _mm256_set1_ps(shift->square);
  for (guint i = 0; i < LEAF_POINTS; i += 8) {
    __m256 x = _mm256_loadu_ps(a->x + i), y = _mm256_loadu_ps(a->y + i),
           z = _mm256_loadu_ps(a->z + i);
    __m256 sum = _mm256_add_ps(_mm256_loadu_ps(a->square + i), square);
    sum = _mm256_fmadd_ps(sx, x, sum);
    sum = _mm256_fmadd_ps(sy, y, sum);
    sum = _mm256_fmadd_ps(sz, z, sum);
    _mm256_storeu_ps(rows->x + i, _mm256_fnmsub_ps(two, x, sx));
    _mm256_storeu_ps(rows->y + i, _mm256_fnmsub_ps(two, y, sy));
    _mm256_storeu_ps(rows->z + i, _mm256_fnmsub_ps(two, z, sz));
    _mm256_storeu_ps(rows->square + i, sum);
  }
}

static inline guint64 sum_counts(__m256i counts)
{
  __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(counts), _mm256_extracti128_si256(counts, 1));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, _MM_SHUFFLE(1, 0, 3, 2)));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, _MM_SHUFFLE(2, 3, 0, 1)));
  return (guint32)_mm_cvtsi128_si32(sum);
}

/* n is known where this is inlined, so that the counters stay in registers. Returns the distance to
 * the nearest limit, in 8 parts. */
static inline __attribute__((always_inline)) __m256 count_single(const Rows *rows, guint n_a,
                                                                 const LeafOffsets *b,
                                                                 const float *limits,
                                                                 guint64 *below, const guint n)
{
  const __m256 sign = _mm256_set1_ps(-0.0f);
  __m256 nearest = _mm256_set1_ps(INFINITY);
  __m256i counts[EDGES_AT_ONCE];
  __m256 limit[EDGES_AT_ONCE];
  for (guint k = 0; k < n; k++) {
    limit[k] = _mm256_set1_ps(limits[k]);
    counts[k] = _mm256_setzero_si256();
  }
  for (guint i = 0; i < n_a; i++) {
    __m256 rx = _mm256_set1_ps(rows->x[i]), ry = _mm256_set1_ps(rows->y[i]),
           rz = _mm256_set1_ps(rows->z[i]), rs = _mm256_set1_ps(rows->square[i]);
    for (guint j = 0; j < LEAF_POINTS; j += 8) {
      __m256 t = _mm256_add_ps(_mm256_loadu_ps(b->square + j), rs);
      t = _mm256_fmadd_ps(rx, _mm256_loadu_ps(b->x + j), t);
      t = _mm256_fmadd_ps(ry, _mm256_loadu_ps(b->y + j), t);
      t = _mm256_fmadd_ps(rz, _mm256_loadu_ps(b->z + j), t);
      for (guint k = 0; k < n; k++) {
        __m256 gap = _mm256_sub_ps(t, limit[k]);
        /* the sign bit tells: a gap that rounds to 0 is within doubt */
        counts[k] = _mm256_add_epi32(counts[k], _mm256_srli_epi32(_mm256_castps_si256(gap), 31));
        nearest = _mm256_min_ps(nearest, _mm256_andnot_ps(sign, gap));
      }
    }
  }
  for (guint k = 0; k < n; k++)
    below[k] = sum_counts(counts[k]);
  return nearest;
}

typedef __m256 (*CountSingle)(const Rows *rows, guint n_a, const LeafOffsets *b,
                              const float *limits, guint64 *below);

#define COUNT_SINGLE(n)                                                                            \
  static __m256 count_single_##n(const Rows *rows, guint n_a, const LeafOffsets *b,                \
                                 const float *limits, guint64 *below)                              \
  {                                                                                                \
    return count_single(rows, n_a, b, limits, below, n);                                           \
  }
COUNT_SINGLE(1)
COUNT_SINGLE(2)
COUNT_SINGLE(3)
COUNT_SINGLE(4)

static const CountSingle count_single_table[EDGES_AT_ONCE] = { count_single_1, count_single_2,
                                                               count_single_3, count_single_4 };

static gboolean below_single(const LeafOffsets *a, guint n_a, const LeafOffsets *b, guint n_b,
                             const LeafShift *shift, const float *limits, guint n_limits,
                             float doubt, guint64 *below)
{
  Rows rows;
  guint n_below = 0;
  make_rows(&rows, a, shift);
  if (n_limits == 1)
    n_a = keep_rows(&rows, shift, &n_below);
  __m256 nearest = _mm256_set1_ps(INFINITY);
  for (guint k = 0; k < n_limits; k += EDGES_AT_ONCE) {
    guint n = MIN(n_limits - k, EDGES_AT_ONCE);
    __m256 found = count_single_table[n - 1](&rows, n_a, b, limits + k, below + k);
    nearest = _mm256_min_ps(nearest, found);
  }
  below[0] += (guint64)n_below * n_b;
  return !_mm256_movemask_ps(_mm256_cmp_ps(nearest, _mm256_set1_ps(doubt), _CMP_LE_OQ));
}

static inline __attribute__((always_inline)) __m256d chord_square(__m256d x, __m256d y, __m256d z,
                                                                  const LeafPositions *b, guint j)
{
  __m256d dx = _mm256_sub_pd(x, _mm256_loadu_pd(b->x + j)),
          dy = _mm256_sub_pd(y, _mm256_loadu_pd(b->y + j)),
          dz = _mm256_sub_pd(z, _mm256_loadu_pd(b->z + j));
  return _mm256_add_pd(_mm256_add_pd(_mm256_mul_pd(dx, dx), _mm256_mul_pd(dy, dy)),
                       _mm256_mul_pd(dz, dz));
}

static inline double sum_doubles(__m256d v)
{
  __m128d sum = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
  return _mm_cvtsd_f64(sum) + _mm_cvtsd_f64(_mm_unpackhi_pd(sum, sum));
}

static inline guint64 sum_counts64(__m256i v)
{
  __m128i sum = _mm_add_epi64(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  return (guint64)_mm_cvtsi128_si64(sum) + (guint64)_mm_extract_epi64(sum, 1);
}

static void below_exact(const LeafPositions *a, guint n_a, const LeafPositions *b,
                        const double *edges, guint n_edges, guint64 *below)
{
  for (guint k = 0; k < n_edges; k += EDGES_AT_ONCE) {
    guint n = MIN(n_edges - k, EDGES_AT_ONCE);
    __m256d edge[EDGES_AT_ONCE];
    __m256i counts[EDGES_AT_ONCE];
    for (guint e = 0; e < EDGES_AT_ONCE; e++) {
      edge[e] = _mm256_set1_pd(edges[k + MIN(e, n - 1)]);
      counts[e] = _mm256_setzero_si256();
    }
    for (guint i = 0; i < n_a; i++) {
      __m256d x = _mm256_set1_pd(a->x[i]), y = _mm256_set1_pd(a->y[i]), z = _mm256_set1_pd(a->z[i]);
      for (guint j = 0; j < LEAF_POINTS; j += 4) {
        __m256d square = chord_square(x, y, z, b, j);
        for (guint e = 0; e < EDGES_AT_ONCE; e++) {
          __m256d is_below = _mm256_cmp_pd(square, edge[e], _CMP_LT_OQ);
          counts[e] = _mm256_sub_epi64(counts[e], _mm256_castpd_si256(is_below));
        }
      }
    }
    for (guint e = 0; e < n; e++)
      below[k + e] = sum_counts64(counts[e]);
  }
}

/* Places between edges[0] and edges[1], and so on; n of them, known where this is inlined. */
static inline __attribute__((always_inline)) void
weigh_places(const LeafPositions *a, const double *weight_a, guint n_a, const LeafPositions *b,
             const double *weight_b, const double *edges, guint64 *counts, double *sums,
             const guint n)
{
  __m256d low = _mm256_set1_pd(edges[0]), high[PLACES_AT_ONCE], weights[PLACES_AT_ONCE];
  __m256i pairs[PLACES_AT_ONCE];
  for (guint p = 0; p < n; p++) {
    high[p] = _mm256_set1_pd(edges[p + 1]);
    weights[p] = _mm256_setzero_pd();
    pairs[p] = _mm256_setzero_si256();
  }
  for (guint i = 0; i < n_a; i++) {
    __m256d x = _mm256_set1_pd(a->x[i]), y = _mm256_set1_pd(a->y[i]), z = _mm256_set1_pd(a->z[i]),
            weight = _mm256_set1_pd(weight_a[i]);
    for (guint j = 0; j < LEAF_POINTS; j += 4) {
      __m256d square = chord_square(x, y, z, b, j);
      __m256d product = _mm256_mul_pd(weight, _mm256_loadu_pd(weight_b + j));
      __m256d is_above = _mm256_cmp_pd(square, low, _CMP_GE_OQ);
      for (guint p = 0; p < n; p++) {
        __m256d is_here = _mm256_and_pd(is_above, _mm256_cmp_pd(square, high[p], _CMP_LT_OQ));
        is_above = _mm256_andnot_pd(is_here, is_above);
        pairs[p] = _mm256_sub_epi64(pairs[p], _mm256_castpd_si256(is_here));
        weights[p] = _mm256_add_pd(weights[p], _mm256_and_pd(is_here, product));
      }
    }
  }
  for (guint p = 0; p < n; p++) {
    counts[p] = sum_counts64(pairs[p]);
    sums[p] = sum_doubles(weights[p]);
  }
}

#include "core/histogram/weighted.h"

const HistogramKernels astro_histogram_kernels_avx2 = {
  .below_single = below_single,
  .below = below_exact,
  .weighted = weighted,
};
