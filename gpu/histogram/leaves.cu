/* Pairs of leaves, a warp each: in single precision unless a pair is so near an edge that it cannot
 * tell, else in double precision by the bin rule. */
#include "gpu/histogram/histogram.h"

/* A lane has 4 points of one leaf and 8 of the other: 12 loads for 32 pairs. */
enum {
  THREADS = 256,
  WARPS = THREADS / WARP,
  ROWS = 4,
  COLUMNS = 8,
  EDGES = HISTOGRAM_SINGLE_EDGES
};

/* A pair of leaves, for the lanes of a warp: twice the vector from b's middle to a's, and its
 * square less the lowest edge; the other edges less the lowest. Pairs nearer an edge than doubt are
 * doubtful. */
struct Leaves {
  float4 shift;
  float limits[EDGES - 1], doubt;
  guint32 a, b; /* leaves */
  guint32 n;    /* edges */
  guint32 unused;
};

__device__ static Leaves prepare(const HistogramCount &count, const HistogramPair &pair)
{
  const Cell &a = count.a.cells[pair.a], &b = count.b.cells[pair.b];
  const double *squares = count.rule.squares + pair.first;
  double dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z, lowest = squares[0];
  double square = dx * dx + dy * dy + dz * dz;
  double doubt = single_doubt(square, sqrt(square), a.chord + b.chord, lowest);
  Leaves leaves;
  leaves.shift =
      make_float4((float)(2 * dx), (float)(2 * dy), (float)(2 * dz), (float)(square - lowest));
  leaves.n = pair.last - pair.first;
  for (guint32 k = 1; k < EDGES; k++)
    leaves.limits[k - 1] = k < leaves.n ? (float)(squares[k] - lowest) : 0;
  leaves.doubt = count.single && doubt <= SINGLE_TOLERANCE * lowest ? -1 : (float)doubt;
  leaves.a = a.first_leaf;
  leaves.b = b.first_leaf;
  return leaves;
}

/* Adds this lane's pairs below edge k to below[k]. Returns the distance to the nearest edge. */
template <guint N>
__device__ static float count_below(const Leaves &leaves, const float4 *a, const float4 *b,
                                    guint32 below[EDGES])
{
  const guint32 lane = lane_of();
  const float4 shift = leaves.shift;
  float x[ROWS], y[ROWS], z[ROWS], square[ROWS], limit[N], nearest = INFINITY;
#pragma unroll
  for (guint k = 1; k < N; k++)
    limit[k] = leaves.limits[k - 1];
#pragma unroll
  for (guint r = 0; r < ROWS; r++) {
    float4 at = a[r * (WARP / ROWS) + lane / ROWS];
    x[r] = fmaf(-2, at.x, -shift.x);
    y[r] = fmaf(-2, at.y, -shift.y);
    z[r] = fmaf(-2, at.z, -shift.z);
    square[r] = fmaf(shift.x, at.x, fmaf(shift.y, at.y, fmaf(shift.z, at.z, shift.w + at.w)));
  }
#pragma unroll 4
  for (guint c = 0; c < COLUMNS; c++) {
    float4 at = b[c * (WARP / COLUMNS) + lane % ROWS];
#pragma unroll
    for (guint r = 0; r < ROWS; r++) {
      float t = fmaf(x[r], at.x, fmaf(y[r], at.y, fmaf(z[r], at.z, square[r] + at.w)));
#pragma unroll
      for (guint k = 0; k < N; k++) {
        float gap = k ? t - limit[k] : t;
        below[k] += __float_as_uint(gap) >> 31;
        nearest = fminf(nearest, fabsf(gap));
      }
    }
  }
  return nearest;
}

/* Two sums of up to 1024 each in one number. */
template <guint N> __device__ static void sum_lanes(guint32 below[EDGES])
{
#pragma unroll
  for (guint k = 0; k < N; k += 2) {
    guint32 both =
        __reduce_add_sync(EVERY_LANE, k + 1 < N ? below[k] | below[k + 1] << 16 : below[k]);
    below[k] = both & 0xffff;
    if (k + 1 < N)
      below[k + 1] = both >> 16;
  }
}

template <guint N>
__device__ static bool count_leaves(const HistogramCount &count, const Leaves &leaves,
                                    guint32 below[EDGES])
{
  float nearest = count_below<N>(leaves, count.a.offsets + (gsize)leaves.a * LEAF_POINTS,
                                 count.b.offsets + (gsize)leaves.b * LEAF_POINTS, below);
  sum_lanes<N>(below);
  return __any_sync(EVERY_LANE, nearest <= leaves.doubt);
}

__device__ static guint32 take(guint32 *taken, guint32 n)
{
  guint32 first = 0;
  if (lane_of() == 0)
    first = atomicAdd(taken, n);
  return __shfl_sync(EVERY_LANE, first, 0);
}

__device__ static void append(HistogramList list, bool has, const HistogramPair &pair)
{
  guint32 lanes = __ballot_sync(EVERY_LANE, has), first = 0;
  if (lanes == 0)
    return;
  if (lane_of() == 0)
    first = atomicAdd(list.n, __popc(lanes));
  first = __shfl_sync(EVERY_LANE, first, 0);
  if (has)
    list.pairs[first + __popc(lanes & ((1u << lane_of()) - 1))] = pair;
}

/* Each lane adds the pairs of its own pair of leaves to their places. */
__device__ static void tally(const HistogramCount &count, bool has, const HistogramPair &pair,
                             const guint32 below[EDGES])
{
  guint32 n = pair.last - pair.first, before = 0;
  guint32 all = has ? (guint32)(count.a.cells[pair.a].n * count.b.cells[pair.b].n) : 0;
#pragma unroll
  for (guint32 k = 0; k <= EDGES; k++) {
    guint32 up_to = k < EDGES && k < n ? below[k < EDGES ? k : 0] : all, place = pair.first + k;
    bool counts = has && k <= n && up_to > before && is_bin(count, place);
    add_pairs(count, counts, counts ? value_of(count, pair.region_a, pair.region_b, place) : 0,
              up_to - before);
    before = up_to;
  }
}

__global__ void __launch_bounds__(THREADS)
    count_in_single(const __grid_constant__ HistogramCount count)
{
  __shared__ Leaves prepared[WARPS][WARP];
  const guint32 lane = lane_of(), n = *count.sure.n;
  Leaves *all = prepared[threadIdx.x / WARP];
  for (;;) {
    guint32 first = take(count.sure.taken, WARP);
    if (first >= n)
      return;
    bool has = first + lane < n, is_doubtful = false;
    HistogramPair pair = {};
    if (has) {
      pair = count.sure.pairs[first + lane];
      all[lane] = prepare(count, pair);
    }
    __syncwarp();
    guint32 mine[EDGES] = {}, m = min(n - first, (guint32)WARP);
    for (guint32 i = 0; i < m; i++) {
      guint32 below[EDGES] = {};
      bool doubtful = false;
      switch (all[i].n) {
      case 1:
        doubtful = count_leaves<1>(count, all[i], below);
        break;
      case 2:
        doubtful = count_leaves<2>(count, all[i], below);
        break;
      case 3:
        doubtful = count_leaves<3>(count, all[i], below);
        break;
      case 4:
        doubtful = count_leaves<4>(count, all[i], below);
        break;
      }
      if (lane == i) {
        is_doubtful = doubtful;
#pragma unroll
        for (guint32 k = 0; k < EDGES; k++)
          mine[k] = below[k];
      }
    }
    __syncwarp();
    append(count.exact, is_doubtful, pair);
    tally(count, has && !is_doubtful, pair, mine);
  }
}

enum { EXACT_THREADS = 128, EXACT_WARPS = EXACT_THREADS / WARP };

/* A warp's own histogram of the pairs of two regions. */
struct Bins {
  double *sums; /* NULL if there are no weights */
  guint32 *counts;
  guint32 low, high; /* the places used */
  guint32 region_a, region_b;
  guint32 pairs; /* at most */
};

__device__ static void flush(const HistogramCount &count, Bins &bins)
{
  __syncwarp();
  for (guint32 place = bins.low + lane_of(); place < bins.high; place += WARP) {
    guint64 value = copy_of(count) + value_of(count, bins.region_a, bins.region_b, place);
    if (bins.counts[place] && is_bin(count, place)) {
      atomicAdd((unsigned long long *)&count.counts[value], (unsigned long long)bins.counts[place]);
      if (bins.sums)
        atomicAdd(&count.sums[value], bins.sums[place]);
    }
    bins.counts[place] = 0;
    if (bins.sums)
      bins.sums[place] = 0;
  }
  __syncwarp();
  bins.low = G_MAXUINT32;
  bins.high = bins.pairs = 0;
}

/* The square of a chord by the bin rule. */
__device__ static double chord_square(double x, double y, double z, const LeafPositions &leaf,
                                      guint32 j)
{
  double dx = __dsub_rn(x, leaf.x[j]), dy = __dsub_rn(y, leaf.y[j]), dz = __dsub_rn(z, leaf.z[j]);
  return __dadd_rn(__dadd_rn(__dmul_rn(dx, dx), __dmul_rn(dy, dy)), __dmul_rn(dz, dz));
}

/* A point for each lane, against the points [from, to) of a leaf. */
struct Row {
  double x, y, z, weight;
  const LeafPositions *leaf;
  const double *weights; /* the leaf's, or NULL */
  guint32 from, to;      /* from: 0, or past the lane's own point */
};

template <bool WEIGHTED>
__device__ static void few_edges(const double *squares, guint32 first, guint32 n, const Row &row,
                                 Bins &bins)
{
  double edge[EDGES], sum[EDGES + 1] = {};
  guint32 above[EDGES] = {}, all = row.to - min(row.from, row.to);
#pragma unroll
  for (guint32 k = 0; k < EDGES; k++)
    edge[k] = k < n ? squares[first + k] : INFINITY;
  for (guint32 j = 0; j < row.to; j++) {
    double square = j >= row.from ? chord_square(row.x, row.y, row.z, *row.leaf, j) : -1;
    guint32 place = 0;
#pragma unroll
    for (guint32 k = 0; k < EDGES; k++) {
      bool is_above = k < n && square >= edge[k];
      above[k] += is_above;
      place += is_above;
    }
    if (WEIGHTED) {
      double weight = j >= row.from ? row.weight * (row.weights ? row.weights[j] : 1) : 0;
#pragma unroll
      for (guint32 k = 0; k <= EDGES; k++)
        sum[k] += place == k ? weight : 0;
    }
  }
  guint32 before = __reduce_add_sync(EVERY_LANE, all);
#pragma unroll
  for (guint32 k = 0; k <= EDGES; k++) {
    guint32 from_here = k < EDGES ? __reduce_add_sync(EVERY_LANE, above[k < EDGES ? k : 0]) : 0;
    double weight = WEIGHTED ? sum_of_lanes(sum[k]) : 0;
    if (k <= n && lane_of() == 0) {
      bins.counts[first + k] += before - from_here;
      if (WEIGHTED)
        bins.sums[first + k] += weight;
    }
    before = from_here;
  }
}

template <bool WEIGHTED>
__device__ static void many_edges(const double *squares, guint32 first, guint32 last,
                                  const Row &row, Bins &bins)
{
  for (guint32 j = row.from; j < row.to; j++) {
    double square = chord_square(row.x, row.y, row.z, *row.leaf, j);
    guint32 low = first, high = last;
    while (low < high) {
      guint32 middle = (low + high) / 2;
      if (square >= squares[middle])
        low = middle + 1;
      else
        high = middle;
    }
    atomicAdd(&bins.counts[low], 1);
    if (WEIGHTED)
      atomicAdd(&bins.sums[low], row.weight * (row.weights ? row.weights[j] : 1));
  }
}

template <bool WEIGHTED>
__device__ static void count_exactly(const HistogramCount &count, const HistogramPair &pair,
                                     Bins &bins)
{
  const Cell &a = count.a.cells[pair.a], &b = count.b.cells[pair.b];
  const guint32 lane = lane_of();
  const LeafPositions &leaf = count.a.positions[a.first_leaf];
  bool is_self = count.alone && pair.a == pair.b, has = lane < a.n;
  Row row;
  row.x = leaf.x[lane];
  row.y = leaf.y[lane];
  row.z = leaf.z[lane];
  row.weight =
      WEIGHTED && count.a.weights ? count.a.weights[(gsize)a.first_leaf * LEAF_POINTS + lane] : 1;
  row.leaf = &count.b.positions[b.first_leaf];
  row.weights = count.b.weights ? count.b.weights + (gsize)b.first_leaf * LEAF_POINTS : nullptr;
  row.to = (guint32)b.n;
  row.from = !has ? row.to : is_self ? lane + 1 : 0;
  guint32 n = pair.last - pair.first;
  bins.low = min(bins.low, (guint32)pair.first);
  bins.high = max(bins.high, pair.last + 1u);
  bins.pairs += LEAF_POINTS * LEAF_POINTS;
  if (n <= EDGES)
    few_edges<WEIGHTED>(count.rule.squares, pair.first, n, row, bins);
  else
    many_edges<WEIGHTED>(count.rule.squares, pair.first, pair.last, row, bins);
  __syncwarp();
}

template <bool WEIGHTED>
__global__ void __launch_bounds__(EXACT_THREADS)
    count_in_double(const __grid_constant__ HistogramCount count)
{
  extern __shared__ double shared[];
  const guint32 warp = threadIdx.x / WARP, places = count.rule.n_edges + 1, n = *count.exact.n;
  guint32 *counters = (guint32 *)(shared + (WEIGHTED ? EXACT_WARPS * places : 0));
  Bins bins = {
    WEIGHTED ? shared + warp * places : nullptr, counters + warp * places, 0, places, 0, 0, 0
  };
  for (guint32 place = lane_of(); place < places; place += WARP) {
    bins.counts[place] = 0;
    if (WEIGHTED)
      bins.sums[place] = 0;
  }
  flush(count, bins);
  /* Many at once if there are many. */
  const guint32 at_once = min(max(n / (gridDim.x * EXACT_WARPS * 4), 1u), 32u);
  for (;;) {
    guint32 first = take(count.exact.taken, at_once);
    if (first >= n)
      break;
    for (guint32 i = first; i < min(first + at_once, n); i++) {
      HistogramPair pair = count.exact.pairs[i];
      if (pair.region_a != bins.region_a || pair.region_b != bins.region_b ||
          bins.pairs > G_MAXINT32) {
        flush(count, bins);
        bins.region_a = pair.region_a;
        bins.region_b = pair.region_b;
      }
      count_exactly<WEIGHTED>(count, pair, bins);
    }
  }
  flush(count, bins);
}

static gsize exact_shared(guint n_edges, bool weighted)
{
  return (gsize)EXACT_WARPS * (n_edges + 1) * (sizeof(guint32) + (weighted ? sizeof(double) : 0));
}

gboolean histogram_leaves_prepare(GError **error)
{
  cudaFuncAttributes attributes;
  return CUDA_TRY(cudaFuncGetAttributes(&attributes, count_in_single)) &&
         CUDA_TRY(cudaFuncGetAttributes(&attributes, count_in_double<false>)) &&
         CUDA_TRY(cudaFuncSetAttribute(count_in_double<true>,
                                       cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       (int)exact_shared(ASTRO_HISTOGRAM_MAX_EDGES, true)));
}

void histogram_leaves(const HistogramCount &count, guint blocks, cudaStream_t stream)
{
  gsize shared = exact_shared(count.rule.n_edges, count.sums);
  if (!count.sums) {
    count_in_single<<<blocks, THREADS, 0, stream>>>(count);
    count_in_double<false><<<2 * blocks, EXACT_THREADS, shared, stream>>>(count);
  } else {
    count_in_double<true><<<2 * blocks, EXACT_THREADS, shared, stream>>>(count);
  }
}
