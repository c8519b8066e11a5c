/* Orders points on the device: by region, then along a curve on the sky. Cells take the points in
 * that order, so that where they lie follows from the number of points (core/histogram/layout.h).
 * All sums run in an order that depends only on the points, so that every device makes the same
 * tree. */
#include "gpu/histogram/order.h"
#include "gpu/histogram/curve.h"

extern "C" {
#include "core/histogram/layout.h"
#include "core/histogram/vector.h"
}

#include <cub/device/device_radix_sort.cuh>

enum {
  THREADS = 256,
  WARPS = THREADS / WARP,
  NEAR_LEAVES = 64 /* of cells whose points are looked at one by one */
};
/* Scratch of up to this size is kept for the next catalogue. */
#define KEPT_BYTES ((gsize)512 << 20)

/* A leaf: the sum of its points, and the cap around its own middle. */
struct Leaf {
  double sum[3], middle[3], chord, weight;
};

/* The regions: where their points begin in the order and their leaves in the tree, and where the
 * descendants of their cells begin. */
struct Roots {
  const guint64 *first, *n;
  const guint32 *first_leaf, *free;
  guint32 n_regions;
};

struct Order {
  guint64 n;
  guint32 n_leaves, n_cells;
  guint levels;                             /* of the curve */
  const double *ra, *dec, *weight, *region; /* the last two may be NULL */
  guint64 *keys[2];
  guint32 *numbers[2]; /* of the points, in the order of the keys */
  Leaf *leaves;
  guint32 *large, *n_large; /* cells of more than NEAR_LEAVES */
  Roots roots;
  LeafPositions *positions;
  double *weights;
  Cell *cells;
};

/* ---- points ---- */

__global__ void __launch_bounds__(THREADS) make_keys(const __grid_constant__ Order order)
{
  for (guint64 i = (guint64)blockIdx.x * THREADS + threadIdx.x; i < order.n;
       i += (guint64)gridDim.x * THREADS) {
    double x, y, z;
    astro_vector_of(order.ra[i], order.dec[i], &x, &y, &z);
    const guint64 region = order.region ? (guint64)order.region[i] : 0;
    order.keys[0][i] =
        region << (CURVE_FACE_BITS + 2 * order.levels) | curve_of(x, y, z, order.levels);
    order.numbers[0][i] = (guint32)i;
  }
}

/* The keys are sorted. Places past the last point of a region stay as they were filled. */
__global__ void __launch_bounds__(THREADS)
    place_points(const __grid_constant__ Order order, const guint64 *keys, const guint32 *numbers)
{
  for (guint64 at = (guint64)blockIdx.x * THREADS + threadIdx.x; at < order.n;
       at += (guint64)gridDim.x * THREADS) {
    const guint32 region = (guint32)(keys[at] >> (CURVE_FACE_BITS + 2 * order.levels)),
                  i = numbers[at];
    const guint64 place =
        (guint64)order.roots.first_leaf[region] * LEAF_POINTS + at - order.roots.first[region];
    LeafPositions *leaf = &order.positions[place / LEAF_POINTS];
    const guint32 p = place % LEAF_POINTS;
    astro_vector_of(order.ra[i], order.dec[i], &leaf->x[p], &leaf->y[p], &leaf->z[p]);
    if (order.weight)
      order.weights[place] = order.weight[i];
  }
}

/* ---- cells ---- */

/* The same in all lanes. */
__device__ static double largest_of_lanes(double x)
{
  for (guint32 step = WARP / 2; step > 0; step /= 2)
    x = fmax(x, __shfl_xor_sync(EVERY_LANE, x, step));
  return x;
}

/* The sum is that of n unit vectors. If they lie all around, any middle will do. */
__device__ static void middle_of(const double sum[3], guint64 n, double middle[3])
{
  const double length = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
  const bool is_around = length < 1e-6 * (double)n;
  for (guint k = 0; k < 3; k++)
    middle[k] = is_around ? (double)(k == 2) : sum[k] / length;
}

__device__ static double distance_from(const double middle[3], double x, double y, double z)
{
  const double dx = x - middle[0], dy = y - middle[1], dz = z - middle[2];
  return sqrt(dx * dx + dy * dy + dz * dz);
}

/* A chord, and the rounding errors of finding it; 2 at most. */
__device__ static double with_margin(double furthest)
{
  return fmin(furthest * (1 + 1e-14) + 1e-15, 2);
}

/* A warp for each leaf. Places without a point are NaN, which fmax() leaves out. */
__global__ void __launch_bounds__(THREADS) measure_leaves(const __grid_constant__ Order order)
{
  const guint32 index = blockIdx.x * WARPS + threadIdx.x / WARP, lane = lane_of();
  if (index >= order.n_leaves)
    return;
  const LeafPositions &at = order.positions[index];
  const double x = at.x[lane], y = at.y[lane], z = at.z[lane];
  const bool is_point = !isnan(x);
  Leaf leaf;
  leaf.sum[0] = sum_of_lanes(is_point ? x : 0);
  leaf.sum[1] = sum_of_lanes(is_point ? y : 0);
  leaf.sum[2] = sum_of_lanes(is_point ? z : 0);
  leaf.weight =
      sum_of_lanes(order.weight ? order.weights[(gsize)index * LEAF_POINTS + lane] : is_point);
  middle_of(leaf.sum, __popc(__ballot_sync(EVERY_LANE, is_point)), leaf.middle);
  leaf.chord = with_margin(largest_of_lanes(fmax(distance_from(leaf.middle, x, y, z), 0)));
  if (lane == 0)
    order.leaves[index] = leaf;
}

__device__ static guint32 leaves_of(guint64 n)
{
  return (guint32)((n + LEAF_POINTS - 1) / LEAF_POINTS);
}

/* The last region whose descendants begin at or before a cell, so that it is not an empty one. */
__device__ static guint32 region_of(const Roots &roots, guint32 index)
{
  guint32 low = 0, high = roots.n_regions;
  while (high - low > 1) {
    const guint32 middle = (low + high) / 2;
    if (roots.free[middle] <= index)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Where a cell lies in the tree, found by walking down to it. Cells that are not used, and those of
 * regions without points, are empty. */
__device__ static Cell find_cell(const Roots &roots, guint32 index)
{
  const guint32 region = index < roots.n_regions ? index : region_of(roots, index);
  guint32 at = region, free = roots.free[region];
  Cell cell = {};
  cell.first_leaf = roots.first_leaf[region];
  cell.n = roots.n[region];
  while (at != index && cell.n > LEAF_POINTS) {
    const guint32 left = layout_left_leaves(leaves_of(cell.n)), behind = free + 2,
                  of_right = behind + layout_descendants(left);
    const guint64 left_n = (guint64)left * LEAF_POINTS;
    const bool go_left = index == free || (index != free + 1 && index < of_right);
    at = go_left ? free : free + 1;
    free = go_left ? behind : of_right;
    cell.first_leaf += go_left ? 0 : left;
    cell.n = go_left ? left_n : cell.n - left_n;
  }
  if (at != index || cell.n == 0)
    return Cell{};
  cell.left = cell.n > LEAF_POINTS ? free : 0;
  return cell;
}

__device__ static void finish_cell(Cell *cell, const double middle[3], double chord, double weight)
{
  const double square = chord * chord;
  cell->x = middle[0];
  cell->y = middle[1];
  cell->z = middle[2];
  cell->chord = chord;
  cell->cos_radius = 1 - square / 2;
  cell->sin_radius = sqrt(fmax(square * (1 - square / 4), 0));
  cell->weight = weight;
}

/* A lane adds its share to the sums over a cell's leaves, of so many lanes. */
struct Sums {
  double of[4]; /* x, y, z, weight */
};

__device__ static Sums sums_of(const Order &order, const Cell &cell, guint32 lane, guint32 lanes)
{
  Sums sums = {};
  for (guint32 l = lane; l < leaves_of(cell.n); l += lanes) {
    const Leaf &leaf = order.leaves[cell.first_leaf + l];
    for (guint k = 0; k < 3; k++)
      sums.of[k] += leaf.sum[k];
    sums.of[3] += leaf.weight;
  }
  return sums;
}

/* A warp for each cell: it measures those of few leaves, and lists the others. */
__global__ void __launch_bounds__(THREADS) measure_cells(const __grid_constant__ Order order)
{
  const guint32 index = blockIdx.x * WARPS + threadIdx.x / WARP, lane = lane_of();
  if (index >= order.n_cells)
    return;
  Cell cell = find_cell(order.roots, index);
  const guint32 n_leaves = leaves_of(cell.n);
  if (n_leaves > NEAR_LEAVES && lane == 0)
    order.large[atomicAdd(order.n_large, 1u)] = index;
  if (n_leaves > 0 && n_leaves <= NEAR_LEAVES) {
    Sums sums = sums_of(order, cell, lane, WARP);
    for (guint k = 0; k < 4; k++)
      sums.of[k] = sum_of_lanes(sums.of[k]);
    double middle[3], furthest = 0;
    middle_of(sums.of, cell.n, middle);
    for (guint32 l = 0; l < n_leaves; l++) {
      const LeafPositions &at = order.positions[cell.first_leaf + l];
      furthest = fmax(furthest, distance_from(middle, at.x[lane], at.y[lane], at.z[lane]));
    }
    finish_cell(&cell, middle, with_margin(largest_of_lanes(furthest)), sums.of[3]);
  }
  if (lane == 0)
    order.cells[index] = cell;
}

/* A block for each large cell, which is measured by the caps of its leaves. */
__global__ void __launch_bounds__(THREADS) measure_large(const __grid_constant__ Order order)
{
  __shared__ double shared[4][WARPS];
  const guint32 warp = threadIdx.x / WARP, lane = lane_of();
  for (guint32 i = blockIdx.x; i < *order.n_large; i += gridDim.x) {
    Cell *cell = &order.cells[order.large[i]];
    Sums sums = sums_of(order, *cell, threadIdx.x, THREADS);
    for (guint k = 0; k < 4; k++) {
      const double sum = sum_of_lanes(sums.of[k]);
      if (lane == 0)
        shared[k][warp] = sum;
    }
    __syncthreads();
    for (guint k = 0; k < 4; k++)
      for (guint w = 0; w < WARPS; w++)
        sums.of[k] = (w ? sums.of[k] : 0) + shared[k][w];
    double middle[3], furthest = 0;
    middle_of(sums.of, cell->n, middle);
    for (guint32 l = threadIdx.x; l < leaves_of(cell->n); l += THREADS) {
      const Leaf &leaf = order.leaves[cell->first_leaf + l];
      furthest =
          fmax(furthest,
               distance_from(middle, leaf.middle[0], leaf.middle[1], leaf.middle[2]) + leaf.chord);
    }
    __syncthreads();
    furthest = largest_of_lanes(furthest);
    if (lane == 0)
      shared[0][warp] = furthest;
    __syncthreads();
    for (guint w = 0; w < WARPS; w++)
      furthest = fmax(furthest, shared[0][w]);
    if (threadIdx.x == 0)
      finish_cell(cell, middle, with_margin(furthest), sums.of[3]);
    __syncthreads();
  }
}

/* ---- scratch ---- */

/* Parts of a block, each on a boundary of 256 bytes; with block NULL they are only counted. */
struct Carver {
  guint8 *block;
  gsize bytes;

  template <typename T> T *take(gsize n)
  {
    T *part = block ? (T *)(block + bytes) : nullptr;
    bytes += (n * sizeof(T) + 255) / 256 * 256;
    return part;
  }
};

struct Scratch {
  double *columns[4]; /* ra, dec, weight, region */
  guint64 *roots_first, *roots_n;
  guint32 *roots_leaf, *roots_free;
  gpointer sorting;
  gsize sorting_bytes;
};

/* The sorter's second buffers lie where offsets are filled in at the end. */
static void carve(Carver *carver, const AstroPoints *points, const HistogramCopy *copy,
                  Order *order, Scratch *scratch)
{
  const PointColumns *held = &points->held;
  const double *there[4] = { held->ra, held->dec, held->weight, held->region };
  const gsize n = points->n, regions = points->n_regions;
  for (guint c = 0; c < 4; c++)
    scratch->columns[c] = there[c] ? carver->take<double>(n) : NULL;
  order->keys[0] = carver->take<guint64>(n);
  order->numbers[0] = carver->take<guint32>(n);
  order->keys[1] = (guint64 *)copy->offsets;
  order->numbers[1] = (guint32 *)(order->keys[1] + n);
  order->leaves = carver->take<Leaf>(points->n_leaves);
  order->n_large = carver->take<guint32>(1);
  order->large = carver->take<guint32>(order->n_cells);
  scratch->roots_first = carver->take<guint64>(regions);
  scratch->roots_n = carver->take<guint64>(regions);
  scratch->roots_leaf = carver->take<guint32>(regions);
  scratch->roots_free = carver->take<guint32>(regions);
  scratch->sorting = carver->take<guint8>(scratch->sorting_bytes);
}

static gboolean sort(const Order *order, gpointer room, gsize *bytes, guint bits, cudaStream_t up,
                     guint *sorted, GError **error)
{
  cub::DoubleBuffer<guint64> keys(order->keys[0], order->keys[1]);
  cub::DoubleBuffer<guint32> numbers(order->numbers[0], order->numbers[1]);
  if (!CUDA_TRY(
          cub::DeviceRadixSort::SortPairs(room, *bytes, keys, numbers, order->n, 0, (int)bits, up)))
    return FALSE;
  *sorted = (guint)keys.selector;
  return keys.selector == numbers.selector ||
         astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_DEVICE,
                    "CUDA: keys and their points were sorted into different buffers");
}

static guint bits_of(guint32 n_regions)
{
  guint bits = 0;
  while ((guint64)1 << bits < n_regions)
    bits++;
  return bits;
}

/* ---- all of it ---- */

static gboolean send_roots(HistogramCopies *copies, const AstroPoints *points, Order *order,
                           const Scratch *scratch, GError **error)
{
  const guint32 regions = points->n_regions;
  g_autofree guint64 *first = g_new(guint64, regions);
  g_autofree guint32 *free = g_new(guint32, regions);
  guint64 before = 0;
  guint32 next = regions;
  for (guint32 r = 0; r < regions; r++) {
    first[r] = before;
    free[r] = next;
    before += points->region_n[r];
    next += layout_descendants((guint32)((points->region_n[r] + LEAF_POINTS - 1) / LEAF_POINTS));
  }
  order->roots = { scratch->roots_first, scratch->roots_n, scratch->roots_leaf, scratch->roots_free,
                   regions };
  return histogram_copies_send(copies, scratch->roots_first, first, regions * sizeof *first,
                               error) &&
         histogram_copies_send(copies, scratch->roots_n, points->region_n,
                               regions * sizeof(guint64), error) &&
         histogram_copies_send(copies, scratch->roots_leaf, points->region_first_leaf,
                               regions * sizeof(guint32), error) &&
         histogram_copies_send(copies, scratch->roots_free, free, regions * sizeof *free, error);
}

static gboolean send_columns(HistogramCopies *copies, const AstroPoints *points, Order *order,
                             const Scratch *scratch, GError **error)
{
  const PointColumns *held = &points->held;
  const double *there[4] = { held->ra, held->dec, held->weight, held->region };
  for (guint c = 0; c < 4; c++)
    if (there[c] && !histogram_copies_send(copies, scratch->columns[c], there[c],
                                           points->n * sizeof(double), error))
      return FALSE;
  order->ra = scratch->columns[0];
  order->dec = scratch->columns[1];
  order->weight = scratch->columns[2];
  order->region = scratch->columns[3];
  return send_roots(copies, points, order, scratch, error);
}

static guint blocks_for(guint64 n, guint64 each)
{
  return (guint)CLAMP((n + each - 1) / each, 1, 1u << 30);
}

static gboolean run(HistogramCopies *copies, const Order *order, const Scratch *scratch, guint bits,
                    GError **error)
{
  cudaStream_t up = astro_cuda_stream(copies->up);
  const gsize leaves = order->n_leaves;
  gsize bytes = scratch->sorting_bytes;
  guint sorted;
  make_keys<<<blocks_for(order->n, THREADS), THREADS, 0, up>>>(*order);
  if (!CUDA_TRY(cudaGetLastError()) ||
      !sort(order, scratch->sorting, &bytes, bits, up, &sorted, error) ||
      !CUDA_TRY(cudaMemsetAsync(order->positions, 0xff, leaves * sizeof(LeafPositions), up)) ||
      !CUDA_TRY(cudaMemsetAsync(order->n_large, 0, sizeof(guint32), up)) ||
      (order->weight &&
       !CUDA_TRY(cudaMemsetAsync(order->weights, 0, leaves * LEAF_POINTS * sizeof(double), up))))
    return FALSE;
  place_points<<<blocks_for(order->n, THREADS), THREADS, 0, up>>>(*order, order->keys[sorted],
                                                                  order->numbers[sorted]);
  measure_leaves<<<blocks_for(leaves, WARPS), THREADS, 0, up>>>(*order);
  measure_cells<<<blocks_for(order->n_cells, WARPS), THREADS, 0, up>>>(*order);
  measure_large<<<blocks_for(MIN(leaves / NEAR_LEAVES, 4096), 1), THREADS, 0, up>>>(*order);
  return CUDA_TRY(cudaGetLastError());
}

/* An instance keeps its scratch, as one catalogue often follows another of the same size. */
static gboolean make_scratch(HistogramCopies *copies, gsize bytes, guint64 n, GError **error)
{
  if (copies->scratch_bytes >= bytes)
    return TRUE;
  histogram_copies_free_scratch(copies);
  if (!copies->device->funcs->alloc(copies->device, bytes, &copies->scratch, error)) {
    g_prefix_error(error, "ordering %" G_GUINT64_FORMAT " points: ", n);
    return FALSE;
  }
  copies->scratch_bytes = bytes;
  return TRUE;
}

gboolean histogram_order(HistogramCopies *copies, HistogramCopy *copy, const AstroPoints *points,
                         GError **error)
{
  const guint region_bits = bits_of(points->n_regions);
  Order order = { .n = points->n,
                  .n_leaves = points->n_leaves,
                  .n_cells = histogram_cells_of(points),
                  .levels = MIN((64 - CURVE_FACE_BITS - region_bits) / 2, CURVE_MOST_LEVELS),
                  .positions = copy->positions,
                  .weights = copy->weights,
                  .cells = copy->cells };
  const guint bits = region_bits + CURVE_FACE_BITS + 2 * order.levels;
  Scratch scratch = {};
  Carver counted = {};
  guint sorted;
  if (order.n == 0)
    return CUDA_TRY(cudaMemsetAsync(order.cells, 0, order.n_cells * sizeof(Cell),
                                    astro_cuda_stream(copies->up))) &&
           histogram_copies_receive(copies, copy->own_cells, order.cells,
                                    order.n_cells * sizeof(Cell), error);
  if (!sort(&order, NULL, &scratch.sorting_bytes, bits, NULL, &sorted, error))
    return FALSE;
  carve(&counted, points, copy, &order, &scratch);
  if (!make_scratch(copies, counted.bytes, points->n, error))
    return FALSE;
  Carver carver = { (guint8 *)copies->scratch, 0 };
  carve(&carver, points, copy, &order, &scratch);
  const gboolean good = send_columns(copies, points, &order, &scratch, error) &&
                        run(copies, &order, &scratch, bits, error) &&
                        histogram_copies_receive(copies, copy->own_cells, order.cells,
                                                 order.n_cells * sizeof(Cell), error);
  if (copies->scratch_bytes > KEPT_BYTES)
    histogram_copies_free_scratch(copies);
  return good;
}
