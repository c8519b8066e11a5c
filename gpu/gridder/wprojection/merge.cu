/* Sorts records by key and adds up those with the same taps in the same cells. Sorting keeps the
 * order of equal keys, and sums are made in that order, so that they are the same each time. */
#include "gpu/gridder/wprojection/wprojection.h"

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_radix_sort.cuh>

enum {
  THREADS = WPROJECTION_THREADS,
  MOST = 64, /* records that a thread adds up; more of one key stay in several sums */
};

static __device__ bool is_head(const WProjectionMerge &m, guint64 i)
{
  return i < m.n && (i % MOST == 0 || m.keys_out[i] != m.keys_out[i - 1]);
}

static __global__ void __launch_bounds__(THREADS)
    count_heads(const __grid_constant__ WProjectionMerge m)
{
  using Reduce = cub::BlockReduce<guint32, THREADS>;
  __shared__ typename Reduce::TempStorage storage;
  guint32 n = Reduce(storage).Sum((guint32)is_head(m, (guint64)blockIdx.x * THREADS + threadIdx.x));
  if (threadIdx.x == 0)
    m.block_counts[blockIdx.x] = n;
}

/* before: the key of the record before it; for the first record, the complement of its own. */
static __device__ WProjectionRecord make_record(const WProjectionMerge &m, guint64 key,
                                                guint64 before)
{
  using Keys = WProjectionKeys;
  const guint n_sets = m.taps->oversampling * m.taps->oversampling;
  const bool new_set = key >> 2 * Keys::TILE_BITS != before >> 2 * Keys::TILE_BITS;
  const bool new_tile =
      key >> (2 * Keys::TILE_BITS + m.keys.sets) != before >> (2 * Keys::TILE_BITS + m.keys.sets);
  WProjectionRecord record;
  const guint right = Keys::field(&key, Keys::TILE_BITS), down = Keys::field(&key, Keys::TILE_BITS);
  const guint set = Keys::field(&key, m.keys.sets), plane = set / n_sets;
  const guint tile = Keys::field(&key, Keys::STRIP_BITS - Keys::TILE_BITS);
  const guint u = Keys::field(&key, m.keys.cells - Keys::TILE_BITS) * WPROJECTION_TILE;
  const guint v = (Keys::field(&key, m.keys.cells - Keys::STRIP_BITS) << Keys::STRIP_BITS) +
                  tile * WPROJECTION_TILE;
  const guint grid = Keys::field(&key, m.keys.grids);
  record.cell = v << 16 | u;
  record.where = grid << 16 | (guint)key << 8 | (new_tile ? record.NEW_TILE : 0) |
                 (new_set ? record.NEW_SET : 0) | down << Keys::TILE_BITS | right;
  const AstroTapsPlane *taps = &m.taps->planes[plane];
  const gssize first = (gssize)((set - plane * n_sets) * taps->set) - record.shift(taps->stride);
  record.taps =
      (const guint8 *)taps->taps + first * (gssize)(m.is_double ? sizeof(double2) : sizeof(float2));
  return record;
}

/* Sums N products of the records from i on; returns the largest real. */
template <typename Value, int N>
static __device__ double add_up(const WProjectionMerge &m, guint64 i, guint64 end, guint product,
                                guint64 at)
{
  double2 sums[N] = {};
  double largest = 0;
  for (; i < end; i++) {
    const Value *value = (const Value *)m.values + (gsize)m.indices_out[i] * m.products + product;
#pragma unroll
    for (int p = 0; p < N; p++) {
      sums[p].x += value[p].x;
      sums[p].y += value[p].y;
    }
  }
  WProjectionValues<Value, N> out;
#pragma unroll
  for (int p = 0; p < N; p++) {
    out.v[p].x = sums[p].x;
    out.v[p].y = sums[p].y;
    largest = max(largest, max(fabs(sums[p].x), fabs(sums[p].y)));
  }
  ((WProjectionValues<Value, N> *)((Value *)m.sums + product * m.capacity))[at] = out;
  return largest;
}

template <typename Value>
static __global__ void __launch_bounds__(THREADS) merge(const __grid_constant__ WProjectionMerge m)
{
  using Scan = cub::BlockScan<guint32, THREADS>;
  using Reduce = cub::BlockReduce<double, THREADS>;
  __shared__ union {
    typename Scan::TempStorage scan;
    typename Reduce::TempStorage reduce;
  } storage;
  const guint64 i = (guint64)blockIdx.x * THREADS + threadIdx.x;
  const bool head = is_head(m, i);
  double largest = 0;
  guint32 before;

  Scan(storage.scan).ExclusiveSum((guint32)head, before);
  if (head) {
    const guint64 at = m.block_counts[blockIdx.x] + before, key = m.keys_out[i];
    guint64 end = i + 1;
    while (end < m.n && end % MOST && m.keys_out[end] == key)
      end++;
    m.records[at] = make_record(m, key, i ? m.keys_out[i - 1] : ~key);
    for (guint product = 0, n; product < m.products; product += n) {
      n = wprojection_group(product, m.products);
      largest = max(largest, n == 4   ? add_up<Value, 4>(m, i, end, product, at)
                             : n == 2 ? add_up<Value, 2>(m, i, end, product, at)
                                      : add_up<Value, 1>(m, i, end, product, at));
    }
  }
  if (!m.largest)
    return;
  __syncthreads();
  largest = Reduce(storage.reduce).Reduce(largest, [](double a, double b) { return max(a, b); });
  if (threadIdx.x == 0)
    atomicMax((unsigned long long *)m.largest, (unsigned long long)__double_as_longlong(largest));
}

/* Finds where the records of each class begin. */
static __global__ void find_classes(const __grid_constant__ WProjectionMerge m)
{
  guint32 low = 0, high = m.block_counts[(m.n + THREADS - 1) / THREADS];
  if (threadIdx.x == 0)
    *m.spread += high;
  while (low < high) {
    const guint32 middle = (low + high) / 2;
    if (m.records[middle].clas() < threadIdx.x)
      low = middle + 1;
    else
      high = middle;
  }
  m.class_starts[threadIdx.x] = low;
}

gsize wprojection_sort_bytes(guint64 capacity, guint bits)
{
  gsize bytes = 0;
  cub::DeviceRadixSort::SortPairs(NULL, bytes, (const guint64 *)NULL, (guint64 *)NULL,
                                  (const guint32 *)NULL, (guint32 *)NULL, (guint32)capacity, 0,
                                  (int)bits);
  return bytes;
}

gboolean wprojection_merge(const WProjectionMerge *m, cudaStream_t stream, GError **error)
{
  const guint blocks = wprojection_blocks(m->n);
  gsize bytes = m->scratch_bytes;
  if (m->largest && !CUDA_TRY(cudaMemsetAsync(m->largest, 0, sizeof *m->largest, stream)))
    return FALSE;
  if (!CUDA_TRY(cub::DeviceRadixSort::SortPairs(m->scratch, bytes, (const guint64 *)m->keys_in,
                                                m->keys_out, (const guint32 *)m->indices_in,
                                                m->indices_out, (guint32)m->n, 0,
                                                (int)m->keys.bits(), stream)))
    return FALSE;
  count_heads<<<blocks, THREADS, 0, stream>>>(*m);
  if (!wprojection_scan(m->block_counts, blocks, stream, error))
    return FALSE;
  if (m->is_double)
    merge<double2><<<blocks, THREADS, 0, stream>>>(*m);
  else
    merge<float2><<<blocks, THREADS, 0, stream>>>(*m);
  find_classes<<<1, WPROJECTION_CLASSES + 1, 0, stream>>>(*m);
  return CUDA_TRY(cudaGetLastError());
}
