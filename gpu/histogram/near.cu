/* Looks at each pair of near leaves, a warp for two leaves, by the bin rule of
 * core/histogram/space.h: this file is compiled without fused multiply-add (column.mk). */
#include "gpu/histogram/near.h"

#include "gpu/histogram/fields.h"

enum { THREADS = 256, WARPS = THREADS / WARP, MOST_AT_ONCE = 64 };

/* Every device gives a block so much shared memory. */
#define MOST_SHARED_BYTES 49152
/* With so few edges most lanes of a warp add to the same few bins. */
#define FEW_EDGES 3
#define NO_BIN G_MAXUINT32

/* ---- what pairs add ---- */

__host__ __device__ constexpr int planes_of(HistogramAdds adds)
{
  return adds == ADDS_ONE ? 0 : adds < ADDS_KK ? 1 : adds == ADDS_GG ? 7 : adds == ADDS_NG ? 5 : 4;
}

__host__ __device__ constexpr bool has_fields(HistogramAdds adds)
{
  return adds >= ADDS_KK;
}

/* Where the sums of a block go: to shared memory if there is room for all bins, else to the counts
 * of its regions. */
struct Sums {
  guint32 *local_counts; /* NULL: there is no room */
  double *local_sums;
  guint64 *counts;
  double *sums;
  guint64 values; /* between two planes of sums */
  guint32 n_bins;
};

/* Pairs that fall into one bin one after the other. */
template <int PLANES> struct Run {
  guint32 bin, n;
  double sum[MAX(PLANES, 1)];
};

template <int PLANES> __device__ static void give(const Sums &to, const Run<PLANES> &run)
{
  if (run.n == 0)
    return;
  if (to.local_counts)
    atomicAdd(&to.local_counts[run.bin], run.n);
  else
    atomicAdd((unsigned long long *)&to.counts[run.bin], (unsigned long long)run.n);
#pragma unroll
  for (int p = 0; p < PLANES; p++)
    atomicAdd(to.local_counts ? &to.local_sums[p * to.n_bins + run.bin]
                              : &to.sums[p * to.values + run.bin],
              run.sum[p]);
}

/* Adds up the runs of a warp that are in the same bin first. All lanes must call it. */
template <int PLANES> __device__ static void give_together(const Sums &to, Run<PLANES> &run)
{
  guint32 left = __ballot_sync(EVERY_LANE, run.n > 0);
  while (left) {
    const int leader = __ffs(left) - 1;
    const guint32 wanted = __shfl_sync(EVERY_LANE, run.bin, leader);
    const bool is_mine = run.n > 0 && run.bin == wanted;
    Run<PLANES> all = { wanted, __reduce_add_sync(EVERY_LANE, is_mine ? run.n : 0) };
#pragma unroll
    for (int p = 0; p < PLANES; p++)
      all.sum[p] = sum_of_lanes(is_mine ? run.sum[p] : 0);
    if (lane_of() == leader)
      give(to, all);
    left &= ~__ballot_sync(EVERY_LANE, is_mine);
  }
}

/* ---- bins ---- */

template <AstroBinning KIND> __device__ static SpaceMeasure measure(const Point &a, const Point &b)
{
  const double at_a[3] = { a.x, a.y, a.z }, at_b[3] = { b.x, b.y, b.z };
  if constexpr (KIND != ASTRO_BINNING_ANGULAR)
    return space_measure(KIND, at_a, at_b);
  const double dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
  return { (dx * dx + dy * dy) + dz * dz, 0, 1 };
}

/* How many of the edges [first, last) are not above the square. */
__device__ static guint32 place_of(const double *edges, guint32 first, guint32 last, double square,
                                   double scale)
{
  while (first < last) {
    const guint32 middle = (first + last) / 2;
    if (square >= edges[middle] * scale)
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

template <AstroBinning KIND>
__device__ static guint32 bin_of(const HistogramBins &bins, const HistogramPair &pair,
                                 const SpaceMeasure &m)
{
  if constexpr (KIND != ASTRO_BINNING_ANGULAR)
    if (!(m.row >= bins.rows[0] && m.row < bins.rows[bins.n_edges - 1] &&
          m.column < bins.limit * m.scale))
      return NO_BIN;
  const guint32 place = place_of(bins.rows, pair.first, pair.last, m.row, 1);
  if (place == 0 || place == bins.n_edges)
    return NO_BIN;
  if constexpr (KIND == ASTRO_BINNING_ANGULAR)
    return place - 1;
  return (place - 1) * bins.n_columns +
         place_of(bins.columns, 1, bins.n_columns, m.column, m.scale) - 1;
}

/* ---- pairs ---- */

template <HistogramAdds ADDS>
__device__ static Point point_of(const HistogramTree &tree, guint32 leaf, guint32 k)
{
  const LeafPositions &at = tree.positions[leaf];
  Point point = { at.x[k], at.y[k], at.z[k], 1 };
  if constexpr (has_fields(ADDS)) {
    const FieldLeaf &fields = tree.fields[leaf];
    point.weight = fields.weight[k];
    point.first = fields.first[k];
    point.second = fields.second[k];
    point.cos_ra = fields.cos_ra[k];
    point.sin_ra = fields.sin_ra[k];
  } else if constexpr (ADDS != ADDS_ONE) {
    if (tree.weights)
      point.weight = tree.weights[(gsize)leaf * LEAF_POINTS + k];
  }
  return point;
}

template <HistogramAdds ADDS>
__device__ static void add_pair(const PairWeigher &weigher, const Point &a, gsize slot_a,
                                const Point &b, gsize slot_b, double square, double *sum)
{
  const double at_a[3] = { a.x, a.y, a.z }, at_b[3] = { b.x, b.y, b.z };
  if constexpr (has_fields(ADDS))
    add_planes(ADDS - ADDS_KK + KK, &a, &b, square, sum);
  else if constexpr (ADDS == ADDS_PAIR_WEIGHT)
    sum[0] += a.weight * b.weight * pair_weight(&weigher, slot_a, slot_b, at_a, at_b);
  else if constexpr (ADDS == ADDS_WEIGHT)
    sum[0] += a.weight * b.weight;
}

/* A point of a for each lane, against all of b, or those behind it. */
template <AstroBinning KIND, HistogramAdds ADDS>
__device__ static void count_leaves(const HistogramCount &count, const HistogramBins &bins,
                                    const PairWeigher &weigher, const HistogramPair &pair,
                                    const Sums &to)
{
  constexpr int PLANES = planes_of(ADDS);
  const Cell &a = count.a.cells[pair.a], &b = count.b.cells[pair.b];
  const guint32 lane = lane_of(), n = (guint32)b.n;
  const bool is_self = count.alone && pair.a == pair.b, has = lane < a.n;
  const Point at = point_of<ADDS>(count.a, a.first_leaf, has ? lane : 0);
  Run<PLANES> run = {};
  for (guint32 j = !has ? n : is_self ? lane + 1 : 0; j < n; j++) {
    const Point other = point_of<ADDS>(count.b, b.first_leaf, j);
    const double square = measure<ASTRO_BINNING_ANGULAR>(at, other).row;
    if (square > bins.far)
      continue;
    const SpaceMeasure m = measure<KIND>(at, other);
    const guint32 bin = bin_of<KIND>(bins, pair, m);
    if (bin == NO_BIN)
      continue;
    if (bin != run.bin) {
      give(to, run);
      run = { bin };
    }
    run.n++;
    add_pair<ADDS>(weigher, at, (gsize)a.first_leaf * LEAF_POINTS + lane, other,
                   (gsize)b.first_leaf * LEAF_POINTS + j, square, run.sum);
  }
  __syncwarp();
  if (KIND == ASTRO_BINNING_ANGULAR && pair.last - pair.first <= FEW_EDGES)
    give_together(to, run);
  else
    give(to, run);
  __syncwarp();
}

/* ---- blocks ---- */

/* Gives what the block has in shared memory to the counts, and clears it. */
template <int PLANES> __device__ static void flush(const Sums &to)
{
  __syncthreads();
  for (guint32 bin = threadIdx.x; bin < to.n_bins && to.local_counts; bin += THREADS) {
    const guint32 n = to.local_counts[bin];
    if (n == 0)
      continue;
    atomicAdd((unsigned long long *)&to.counts[bin], (unsigned long long)n);
    to.local_counts[bin] = 0;
#pragma unroll
    for (int p = 0; p < PLANES; p++) {
      double *sum = &to.local_sums[p * to.n_bins + bin];
      atomicAdd(&to.sums[p * to.values + bin], *sum);
      *sum = 0;
    }
  }
  __syncthreads();
}

__device__ static void clear(const Sums &to, int planes)
{
  for (guint32 bin = threadIdx.x; bin < to.n_bins && to.local_counts; bin += THREADS) {
    to.local_counts[bin] = 0;
    for (int p = 0; p < planes; p++)
      to.local_sums[p * to.n_bins + bin] = 0;
  }
  __syncthreads();
}

/* The counts of a pair's regions. */
template <int PLANES>
__device__ static void go_to_regions(const HistogramCount &count, const HistogramPair &pair,
                                     Sums &to)
{
  const guint64 first = ((guint64)pair.region_a * count.n_regions + pair.region_b) * to.n_bins;
  to.counts = count.counts + copy_of(count) + first;
  to.sums = PLANES ? count.sums + copy_number(count) * count.n_sums + first : nullptr;
}

__device__ static bool same_regions(const HistogramPair &a, const HistogramPair &b)
{
  return a.region_a == b.region_a && a.region_b == b.region_b;
}

template <AstroBinning KIND, HistogramAdds ADDS>
__global__ void __launch_bounds__(THREADS)
    count_near(const __grid_constant__ HistogramCount count,
               const __grid_constant__ HistogramNear near, bool is_local)
{
  constexpr int PLANES = planes_of(ADDS);
  extern __shared__ double shared[];
  __shared__ guint32 taken;
  HistogramBins bins = near.bins;
  Sums to = {
    nullptr, nullptr, nullptr, nullptr, count.values, (bins.n_edges - 1) * bins.n_columns
  };
  if (is_local) {
    double *rows = shared + (gsize)PLANES * to.n_bins, *columns = rows + bins.n_edges;
    to.local_sums = shared;
    to.local_counts = (guint32 *)(columns + bins.n_columns);
    for (guint32 k = threadIdx.x; k < bins.n_edges; k += THREADS)
      rows[k] = bins.rows[k];
    for (guint32 k = threadIdx.x; k < bins.n_columns && KIND != ASTRO_BINNING_ANGULAR; k += THREADS)
      columns[k] = bins.columns[k];
    bins.rows = rows;
    bins.columns = columns;
  }
  clear(to, PLANES);
  const guint32 n = *count.exact.n,
                at_once = min(max(n / (gridDim.x * 4), 1u), (guint32)MOST_AT_ONCE);
  HistogramPair here = {};
  guint32 pairs = 0; /* in shared memory, at most */
  go_to_regions<PLANES>(count, here, to);
  for (;;) {
    if (threadIdx.x == 0)
      taken = atomicAdd(count.exact.taken, at_once);
    __syncthreads();
    const guint32 first = taken, end = min(first + at_once, n);
    __syncthreads();
    if (first >= n)
      break;
    for (guint32 i = first; i < end;) {
      const HistogramPair next = count.exact.pairs[i];
      if (!same_regions(next, here) || pairs > G_MAXINT32) {
        flush<PLANES>(to);
        go_to_regions<PLANES>(count, next, to);
        here = next;
        pairs = 0;
      }
      guint32 last = i + 1;
      while (last < end && same_regions(count.exact.pairs[last], here))
        last++;
      for (guint32 k = i + threadIdx.x / WARP; k < last; k += WARPS)
        count_leaves<KIND, ADDS>(count, bins, near.weigher, count.exact.pairs[k], to);
      pairs += (last - i) * LEAF_POINTS * LEAF_POINTS;
      i = last;
    }
  }
  flush<PLANES>(to);
}

/* ---- on the host ---- */

typedef void (*Kernel)(const HistogramCount, const HistogramNear, bool);

#define IN_SPACE(KIND)                                                                             \
  {                                                                                                \
    count_near<KIND, ADDS_ONE>, count_near<KIND, ADDS_WEIGHT>, count_near<KIND, ADDS_PAIR_WEIGHT>  \
  }

/* By angle, pairs that add their points' weights alone are counted with their cells. */
static const Kernel kernels[][ALL_ADDS] = {
  { nullptr, nullptr, count_near<ASTRO_BINNING_ANGULAR, ADDS_PAIR_WEIGHT>,
    count_near<ASTRO_BINNING_ANGULAR, ADDS_KK>, count_near<ASTRO_BINNING_ANGULAR, ADDS_NK>,
    count_near<ASTRO_BINNING_ANGULAR, ADDS_NG>, count_near<ASTRO_BINNING_ANGULAR, ADDS_GG> },
  IN_SPACE(ASTRO_BINNING_SMU),
  IN_SPACE(ASTRO_BINNING_RPPI),
};

static HistogramAdds adds_of(const AstroHistogramConfig *config, bool weighs_pairs)
{
  return config->fields != ASTRO_PAIR_FIELDS_NONE
             ? (HistogramAdds)(ADDS_KK + (int)config->fields - KK)
         : weighs_pairs     ? ADDS_PAIR_WEIGHT
         : config->weighted ? ADDS_WEIGHT
                            : ADDS_ONE;
}

HistogramNear histogram_near_of(const Count *count, const HistogramCount &on_device,
                                const double *rows, const double *columns, const double *of_bits,
                                const PairTable &table)
{
  const Counter *counter = count->counter;
  const AstroHistogramConfig *config = &counter->config;
  const bool in_space = config->kind != ASTRO_BINNING_ANGULAR;
  const SpaceRule *rule = counter->rule;
  const double most = in_space ? rule->reach.most * (1 + SPACE_MARGIN) : INFINITY;
  PairWeigher weigher = pair_weigher(count->a, count->b, of_bits, &table);
  weigher.bits_a = on_device.a.bits;
  weigher.bits_b = on_device.b.bits;
  return { config->kind,
           adds_of(config, pairs_are_weighed(count->a, count->b, table.n ? &table : NULL)),
           { rows, columns, config->n_edges, in_space ? rule->n_columns : 1,
             in_space ? rule->limit : INFINITY, most * most },
           weigher };
}

gboolean histogram_near_prepare(const AstroHistogramConfig *config, GError **error)
{
  cudaFuncAttributes attributes;
  for (guint weighs_pairs = 0; weighs_pairs <= (guint)config->weighs_pairs; weighs_pairs++) {
    const Kernel kernel = kernels[config->kind][adds_of(config, weighs_pairs)];
    if (kernel && !CUDA_TRY(cudaFuncGetAttributes(&attributes, kernel)))
      return FALSE;
  }
  return TRUE;
}

void histogram_near(const HistogramCount &count, const HistogramNear &near, guint blocks,
                    cudaStream_t stream)
{
  const HistogramBins &bins = near.bins;
  const gsize n_bins = (gsize)(bins.n_edges - 1) * bins.n_columns;
  const gsize bytes = n_bins * (planes_of(near.adds) * sizeof(double) + sizeof(guint32)) +
                      (bins.n_edges + bins.n_columns) * sizeof(double);
  const bool is_local = bytes <= MOST_SHARED_BYTES - 64; /* some is the kernel's own */
  kernels[near.kind][near.adds]<<<blocks, THREADS, is_local ? bytes : 0, stream>>>(count, near,
                                                                                   is_local);
}
