/* Splits pairs of cells into pairs of leaves, a level of the trees at a time; and prepares
 * catalogues. */
#include "gpu/histogram/histogram.h"

enum { THREADS = 256, WARPS = THREADS / WARP, LISTS = 3 };

enum Fate { NOTHING, SPLIT, SURE, EXACT, WHOLE };

/* The list for each fate, from SPLIT on. An argument of the kernel, so that it can be indexed. */
struct Lists {
  HistogramList of[LISTS];
};

/* Child k of up to 4 of a pair that is to be split; false if there are fewer. */
__device__ static bool take_child(const HistogramCount &count, HistogramPair &pair, guint32 k)
{
  guint32 left_a = count.a.cells[pair.a].left, left_b = count.b.cells[pair.b].left;
  if (count.alone && pair.a == pair.b) {
    pair.a = left_a + (k == 1);
    pair.b = left_a + (k >= 1);
    return k < 3;
  }
  guint32 i = k / 2, j = k % 2;
  pair.a = left_a ? left_a + i : pair.a;
  pair.b = left_b ? left_b + j : pair.b;
  return (left_a || i == 0) && (left_b || j == 0);
}

__device__ static Fate fate_of_leaves(const HistogramCount &count, HistogramPair &pair)
{
  if (count.sums || count.rule.is_near)
    return EXACT;
  if (pair.first == pair.last) { /* brute force computes pairs though it is known where they fall */
    pair.first = pair.first > 0 ? pair.first - 1 : 0;
    pair.last = pair.first + 1;
  }
  bool is_far = isinf(count.rule.squares[pair.last - 1]); /* bins above 180 degrees */
  return is_far || pair.last - pair.first > HISTOGRAM_SINGLE_EDGES ? EXACT : SURE;
}

__device__ static Fate fate_of(const HistogramCount &count, HistogramPair &pair, const Cell &a,
                               const Cell &b)
{
  if (count.alone && pair.a == pair.b)
    return a.left ? SPLIT : EXACT;
  Edges edges = { pair.first, pair.last };
  const bool is_whole = cells_are_whole(&count.rule, &a, &b, &edges);
  pair.first = (guint16)edges.first;
  pair.last = (guint16)edges.last;
  if (is_whole)
    return WHOLE;
  return a.left || b.left ? SPLIT : fate_of_leaves(count, pair);
}

/* Appends each thread's pair to the list of its fate, with one atomic for a block and list, so that
 * neighbours stay neighbours. */
__device__ static void append(const Lists &lists, Fate fate, const HistogramPair &pair)
{
  __shared__ guint32 first[LISTS][WARPS];
  guint32 warp = threadIdx.x / WARP, mine = 0;
  for (guint32 k = 0; k < LISTS; k++) {
    guint32 lanes = __ballot_sync(EVERY_LANE, fate == SPLIT + k);
    if (fate == SPLIT + k)
      mine = __popc(lanes & ((1u << lane_of()) - 1));
    if (lane_of() == 0)
      first[k][warp] = __popc(lanes);
  }
  __syncthreads();
  if (threadIdx.x < LISTS) {
    guint32 sum = 0;
    for (guint32 w = 0; w < WARPS; w++) {
      guint32 n = first[threadIdx.x][w];
      first[threadIdx.x][w] = sum;
      sum += n;
    }
    guint32 base = sum ? atomicAdd(lists.of[threadIdx.x].n, sum) : 0;
    for (guint32 w = 0; w < WARPS; w++)
      first[threadIdx.x][w] += base;
  }
  __syncthreads();
  if (fate == SPLIT || fate == SURE || fate == EXACT)
    lists.of[fate - SPLIT].pairs[first[fate - SPLIT][warp] + mine] = pair;
  __syncthreads();
}

__device__ static void add_whole(const HistogramCount &count, bool is_whole,
                                 const HistogramPair &pair, const Cell *a, const Cell *b)
{
  bool has = is_whole && is_bin(count, pair.first);
  guint64 value = has ? value_of(count, pair.region_a, pair.region_b, pair.first) : 0;
  add_pairs(count, has, value, has ? a->n * b->n : 0);
  if (has && count.sums)
    atomicAdd(&count.sums[copy_of(count) + value], a->weight * b->weight);
}

template <bool IS_SPLIT>
__global__ void __launch_bounds__(THREADS)
    visit(const __grid_constant__ HistogramCount count, HistogramList from,
          const __grid_constant__ Lists lists)
{
  const guint32 n = *from.n * (IS_SPLIT ? 4 : 1);
  for (guint32 base = blockIdx.x * THREADS; base < n; base += gridDim.x * THREADS) {
    guint32 index = base + threadIdx.x;
    HistogramPair pair = {};
    Fate fate = NOTHING;
    const Cell *a = nullptr, *b = nullptr;
    if (index < n) {
      pair = from.pairs[IS_SPLIT ? index / 4 : index];
      if (!IS_SPLIT || take_child(count, pair, index % 4)) {
        a = &count.a.cells[pair.a];
        b = &count.b.cells[pair.b];
        fate = fate_of(count, pair, *a, *b);
      }
    }
    append(lists, fate, pair);
    add_whole(count, fate == WHOLE, pair, a, b);
  }
}

void histogram_visit(const HistogramCount &count, bool is_split, HistogramList from,
                     HistogramList to, guint blocks, cudaStream_t stream)
{
  const Lists lists = { { to, count.sure, count.exact } };
  if (is_split)
    visit<true><<<blocks, THREADS, 0, stream>>>(count, from, lists);
  else
    visit<false><<<blocks, THREADS, 0, stream>>>(count, from, lists);
}

/* A warp for each cell; only leaves have offsets. */
__global__ void __launch_bounds__(THREADS)
    make_offsets(const Cell *cells, guint32 n_cells, const LeafPositions *positions,
                 float4 *offsets)
{
  guint32 index = blockIdx.x * WARPS + threadIdx.x / WARP, lane = lane_of();
  if (index >= n_cells || cells[index].left || cells[index].n == 0)
    return;
  const Cell &cell = cells[index];
  const LeafPositions &leaf = positions[cell.first_leaf];
  bool is_point = lane < cell.n;
  double dx = is_point ? leaf.x[lane] - cell.x : 0, dy = is_point ? leaf.y[lane] - cell.y : 0,
         dz = is_point ? leaf.z[lane] - cell.z : 0;
  float square = is_point ? (float)(dx * dx + dy * dy + dz * dz) : INFINITY;
  offsets[(gsize)cell.first_leaf * LEAF_POINTS + lane] =
      make_float4((float)dx, (float)dy, (float)dz, square);
}

void histogram_offsets(const Cell *cells, guint n_cells, const LeafPositions *positions,
                       float4 *offsets, cudaStream_t stream)
{
  make_offsets<<<(n_cells + WARPS - 1) / WARPS, THREADS, 0, stream>>>(cells, n_cells, positions,
                                                                      offsets);
}

__global__ void __launch_bounds__(THREADS) sum_copies(const __grid_constant__ HistogramCount count)
{
  const guint64 first = (guint64)blockIdx.x * THREADS + threadIdx.x,
                step = (guint64)gridDim.x * THREADS;
  for (guint64 value = first; value < count.values; value += step) {
    guint64 pairs = 0;
    for (guint32 c = 0; c < count.copies; c++)
      pairs += count.counts[c * count.values + value];
    count.counts[value] = pairs;
  }
  for (guint64 value = first; value < count.n_sums; value += step) {
    double weight = 0;
    for (guint32 c = 0; c < count.copies; c++)
      weight += count.sums[c * count.n_sums + value];
    count.sums[value] = weight;
  }
}

gboolean histogram_tree_prepare(GError **error)
{
  cudaFuncAttributes attributes;
  return CUDA_TRY(cudaFuncGetAttributes(&attributes, visit<false>)) &&
         CUDA_TRY(cudaFuncGetAttributes(&attributes, visit<true>)) &&
         CUDA_TRY(cudaFuncGetAttributes(&attributes, make_offsets)) &&
         CUDA_TRY(cudaFuncGetAttributes(&attributes, sum_copies));
}

void histogram_sum(const HistogramCount &count, cudaStream_t stream)
{
  if (count.copies > 1)
    sum_copies<<<(guint)MIN((MAX(count.values, count.n_sums) + THREADS - 1) / THREADS, 1024),
                 THREADS, 0, stream>>>(count);
}
