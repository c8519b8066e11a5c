/* Pair counts on a device: catalogues, lists of pairs of cells, and the kernels. */
#pragma once

#include "gpu/runtime/cuda.h"

#include "core/histogram/count.h"

/* A catalogue on the device, laid out as in core/histogram/points.h. */
struct HistogramTree {
  const Cell *cells;
  const LeafPositions *positions;
  const float4 *offsets; /* LEAF_POINTS each leaf: x, y, z from its middle, and the square; past the
                            last infinite */
  const double *weights; /* NULL if there are none */
  const FieldLeaf *fields; /* NULL: points carry nothing */
  const guint64 *bits;     /* NULL: points have none */
};

/* Two cells, or one with itself, and the edges that their pairs may lie on both sides of. */
struct HistogramPair {
  guint32 a, b;
  guint16 first, last;
  guint16 region_a, region_b;
};
static_assert(sizeof(HistogramPair) == 16);

/* A list that kernels append to and take from. */
struct HistogramList {
  HistogramPair *pairs;
  guint32 *n, *taken;
};

/* One count. There are several copies of the values, so that few atomics collide: value v of copy c
 * is at c * values + v, and sums likewise. */
struct HistogramCount {
  HistogramTree a, b;
  CellRule rule; /* with the squares on the device */
  guint64 *counts;
  double *sums; /* of all planes; NULL if there are no weights */
  guint64 values, n_sums;
  guint32 copies, n_regions;
  bool alone;                /* pairs within one catalogue: a and b are the same */
  bool single;               /* precision: an edge may be off by SINGLE_TOLERANCE */
  HistogramList sure, exact; /* leaves for single precision, and for double */
};

/* Pairs of leaves with up to this many edges are tried in single precision. */
#define HISTOGRAM_SINGLE_EDGES 4

/* Sorts pairs of cells: counted as a whole, pairs of leaves, or to be split. from holds the pairs,
 * or if is_split the pairs whose children they are. */
void histogram_visit(const HistogramCount &count, bool is_split, HistogramList from,
                     HistogramList to, guint blocks, cudaStream_t stream);
/* Counts the list sure in single precision and appends doubtful pairs to exact; then counts exact.
 */
void histogram_leaves(const HistogramCount &count, guint blocks, cudaStream_t stream);
/* Loads the kernels while there is still memory for them. */
gboolean histogram_leaves_prepare(GError **error);
gboolean histogram_tree_prepare(GError **error);
/* Adds up the copies into the first one. */
void histogram_sum(const HistogramCount &count, cudaStream_t stream);
/* Fills in the offsets of a catalogue's leaves. */
void histogram_offsets(const Cell *cells, guint n_cells, const LeafPositions *positions,
                       float4 *offsets, cudaStream_t stream);

#ifdef __CUDACC__
enum { WARP = 32 };
#define EVERY_LANE 0xffffffffu

__device__ inline guint32 lane_of()
{
  return threadIdx.x % WARP;
}

/* Only bins are kept: places 1 to n_edges - 1. */
__device__ inline bool is_bin(const HistogramCount &count, guint32 place)
{
  return place >= 1 && place < count.rule.n_edges;
}

__device__ inline guint64 value_of(const HistogramCount &count, guint32 region_a, guint32 region_b,
                                   guint32 place)
{
  return ((guint64)region_a * count.n_regions + region_b) * (count.rule.n_edges - 1) + place - 1;
}

__device__ inline guint32 copy_number(const HistogramCount &count)
{
  return blockIdx.x % count.copies;
}

__device__ inline guint64 copy_of(const HistogramCount &count)
{
  return copy_number(count) * count.values;
}

/* The same in all lanes. */
__device__ inline double sum_of_lanes(double value)
{
  for (guint32 step = WARP / 2; step > 0; step /= 2)
    value += __shfl_xor_sync(EVERY_LANE, value, step);
  return value;
}

/* Adds each lane's pairs (below 2^48) to its value, with lanes of the same value added up first.
 * All lanes must call it. */
__device__ inline void add_pairs(const HistogramCount &count, bool has, guint64 value,
                                 guint64 pairs)
{
  guint32 left = __ballot_sync(EVERY_LANE, has);
  while (left) {
    int leader = __ffs(left) - 1;
    guint64 wanted =
        __shfl_sync(EVERY_LANE, value, leader); /* by every lane, even those without pairs */
    bool mine = has && value == wanted;
    guint32 low = __reduce_add_sync(EVERY_LANE, mine ? (guint32)pairs & 0xffffff : 0),
            high = __reduce_add_sync(EVERY_LANE, mine ? (guint32)(pairs >> 24) : 0);
    if (lane_of() == leader)
      atomicAdd((unsigned long long *)&count.counts[copy_of(count) + value],
                ((guint64)high << 24) + low);
    left &= ~__ballot_sync(EVERY_LANE, mine);
  }
}
#endif
