/* Spreading in single precision with taps in shared memory. A block owns the cells that the
 * footprints which begin in one tile reach, or some rows of them, and has their sums in registers.
 * One warp looks ahead for the sets of taps that coming records need and has the bulk copy engine
 * bring them, with one copy for all records of a tile that need the same. The other warps read them
 * there, shifted for each record. */
#include "gpu/runtime/barrier.h"
#include "gpu/gridder/wprojection/cells.h"

enum {
  LINE = 128,
  MOST_STAGES = 8,
  MIN_CHUNK = 32, /* records of a block before its sums go to the grid */
  MAX_CHUNK = 512,
  ROUNDS = 8, /* rounds of blocks, at most; with more, a block takes several chunks */
  ABOVE = WPROJECTION_TILE - 1, /* rows of zeros before a set that a block may need */
  LEFT = 4,                     /* cells before them: whole pieces of 16 bytes */
};

struct Staged {
  WProjectionSpread s;
  guint width, rows, slices; /* of the square; of threads; of the square */
  guint chunk;
  guint stages, stage_bytes;
};

struct Shared {
  guint64 full[MOST_STAGES], empty[MOST_STAGES];
  alignas(LINE) guint8 stages[];
};
enum { KEPT = sizeof(Shared) + 1024 /* the device keeps these of each block's */ };

/* Cells of a thread: 7 and 14 divide squares of 16, 32, 64 ... and 3 more cells well. */
enum { FEW = 7, MANY = 14 };

/* How many warps a multiprocessor can run if registers hold sums of so many cells and what is read
 * ahead. */
static constexpr guint most_warps(guint count)
{
  return count == MANY ? 12 : 16;
}

#if __CUDA_ARCH__ >= 900

static __device__ const float2 *set_of(const WProjectionRecord &record, guint stride)
{
  return (const float2 *)record.taps + record.shift(stride);
}

static __device__ void copy(void *to, const void *from, guint32 bytes, guint64 *barrier)
{
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}

/* The warp that brings taps. */
static __device__ void produce(const Staged &w, Shared *shared, guint slice, guint block_rows,
                               guint32 first, guint32 end, BarrierRing *stage)
{
  const guint lane = threadIdx.x % 32, stride = w.s.stride;
  const guint rows = min(block_rows, w.width - slice * block_rows) + ABOVE;
  const gssize begin = ((gssize)(slice * block_rows) - ABOVE) * stride - LEFT;
  const guint32 bytes = (rows * stride + LEFT) * sizeof(float2);

  for (guint32 i = first; i < end; i += 32) {
    const WProjectionRecord record = read_record(w.s.records + min(i + lane, end - 1));
    const unsigned long long set = (unsigned long long)set_of(record, stride);
    const bool is_new = i + lane < end && (record.is_new_set() || i + lane == first);
    for (guint news = __ballot_sync(0xffffffff, is_new); news; news &= news - 1) {
      const float2 *from = (const float2 *)__shfl_sync(0xffffffff, set, __ffs(news) - 1) + begin;
      if (lane == 0) {
        barrier_wait(&shared->empty[stage->slot], stage->parity);
        barrier_expect(&shared->full[stage->slot], bytes);
        copy(shared->stages + stage->slot * w.stage_bytes, from, bytes, &shared->full[stage->slot]);
      }
      stage->next(w.stages);
    }
  }
}

/* A thread's cells: COUNT rows of a column. */
template <int N, int COUNT> struct Cells {
  guint x, y; /* in the square */
  bool any;   /* whether the thread has any cells */
  float2 sums[COUNT][N];

  template <bool FIXED>
  __device__ void give(const Staged &w, const WProjectionRecord &at, double scale)
  {
    const WProjectionSpread &s = w.s;
    const gsize plane = (gsize)s.size * s.size;
    const guint u = at.u() + x;
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
      const guint v = at.v() + y + k;
      if (any && y + k < w.width && u < s.size && v < s.size) {
        gsize to = ((gsize)at.grid() * s.products + s.product) * plane + (gsize)v * s.size + u;
#pragma unroll
        for (int p = 0; p < N; p++, to += plane)
          add_cell<float2, FIXED>(s, to, sums[k][p], scale);
      }
#pragma unroll
      for (int p = 0; p < N; p++)
        sums[k][p] = {};
    }
  }
};

template <int N, int COUNT, bool FIXED>
static __device__ void consume(const Staged &w, Shared *shared, Cells<N, COUNT> &cells, guint32 own,
                               guint32 first, guint32 end, double scale, BarrierRing *stage)
{
  const WProjectionSpread &s = w.s;
  const WProjectionValues<float2, N> *values = values_of<float2, N>(s);
  const float2 *taps = NULL;
  WProjectionRecord next = read_record(s.records + first), at = next;
  WProjectionValues<float2, N> next_value = values[first];

  for (guint32 i = first; i < end; i++) {
    const WProjectionRecord record = next;
    const WProjectionValues<float2, N> value = next_value;
    next = read_record(s.records + min(i + 1, end - 1));
    next_value = values[min(i + 1, end - 1)];
    if (record.is_new_tile()) {
      if (i != first)
        cells.template give<FIXED>(w, at, scale);
      at = record;
    }
    if (record.is_new_set() || i == first) {
      if (i != first) {
        barrier_arrive(&shared->empty[stage->slot]);
        stage->next(w.stages);
      }
      barrier_wait(&shared->full[stage->slot], stage->parity);
      taps = (const float2 *)(shared->stages + stage->slot * w.stage_bytes) + own;
    }
    const float2 *from = taps - record.shift(s.stride);
#pragma unroll
    for (int k = 0; k < COUNT; k++, from += s.stride) {
      const float2 tap = *from;
#pragma unroll
      for (int p = 0; p < N; p++)
        multiply_add(cells.sums[k][p], tap, value.v[p]);
    }
  }
  barrier_arrive(&shared->empty[stage->slot]);
  stage->next(w.stages);
  cells.template give<FIXED>(w, at, scale);
}
#endif

template <int N, int COUNT, bool FIXED>
static __global__ void __launch_bounds__(32 * most_warps(COUNT), 1)
    spread(const __grid_constant__ Staged w)
{
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(LINE) guint8 memory[];
  Shared *shared = (Shared *)memory;
  const guint consumers = blockDim.x - 32, slice = blockIdx.x % w.slices,
              block_rows = w.rows * COUNT;
  const guint32 range_end = w.s.range[1];
  const bool produces = threadIdx.x >= consumers;
  const double scale = FIXED ? scalbn(1.0, fixed_exponent(w.s.fixed)) : 1;
  const guint row = min(threadIdx.x / w.width, w.rows - 1);
  Cells<N, COUNT> cells = { threadIdx.x % w.width, slice * block_rows + row * COUNT,
                            threadIdx.x < w.rows * w.width };
  const guint32 own = (row * COUNT + ABOVE) * w.s.stride + LEFT + cells.x;
  BarrierRing stage = { 0, produces };

  if (threadIdx.x == 0) {
    for (guint i = 0; i < w.stages; i++) {
      barrier_init(&shared->full[i], 1);
      barrier_init(&shared->empty[i], consumers);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  for (guint64 chunk = blockIdx.x / w.slices;; chunk += gridDim.x / w.slices) {
    const guint64 first = w.s.range[0] + chunk * w.chunk;
    if (first >= range_end)
      return;
    const guint32 end = (guint32)min(first + w.chunk, (guint64)range_end);
    if (produces)
      produce(w, shared, slice, block_rows, (guint32)first, end, &stage);
    else
      consume<N, COUNT, FIXED>(w, shared, cells, own, (guint32)first, end, scale, &stage);
  }
#else
  __trap(); /* another kernel is to be picked: astro_cuda_architecture */
#endif
}

/* ---- launching ---- */

template <int N, int COUNT> static void (*kernel_of(gboolean fixed))(Staged w)
{
  return fixed ? spread<N, COUNT, true> : spread<N, COUNT, false>;
}

template <int COUNT> static void (*kernel_of_count(guint group, gboolean fixed))(Staged w)
{
  return group == 4   ? kernel_of<4, COUNT>(fixed)
         : group == 2 ? kernel_of<2, COUNT>(fixed)
                      : kernel_of<1, COUNT>(fixed);
}

/* The best division of the square with count cells a thread. Returns the share of the
 * multiprocessor's time that goes to cells in the square; blocks: how many share a multiprocessor.
 */
static double divide(Staged *w, guint count, guint *blocks)
{
  const double own_share = count == MANY ? 0.75 : 0.65; /* of instructions, four products */
  const guint width = w->width;
  Staged d = *w;
  double best = 0;
  for (d.rows = 1;; d.rows++) {
    const guint warps = (d.rows * width + 31) / 32,
                stage = ((d.rows * count + ABOVE) * d.s.stride + LEFT) * 8;
    d.slices = (width + d.rows * count - 1) / (d.rows * count);
    d.stage_bytes = (stage + LINE - 1) / LINE * LINE;
    const guint together =
        MIN(most_warps(count) / (warps + 1), d.s.shared_bytes / (guint)(3 * d.stage_bytes + KEPT));
    if (together == 0)
      return best;
    d.stages = MIN((d.s.shared_bytes / together - KEPT) / d.stage_bytes, MOST_STAGES);
    const double speed = own_share * width * width / ((double)d.slices * count * warps * 32) *
                         MIN(together * warps / 10.0, 1);
    if (speed > best) {
      best = speed;
      *w = d;
      *blocks = together;
    }
  }
}

gboolean wprojection_can_stage(gboolean *can, GError **error)
{
  guint architecture;
  if (!astro_cuda_architecture((const void *)kernel_of<1, FEW>(FALSE), &architecture, error))
    return FALSE;
  *can = architecture >= 90;
  return TRUE;
}

gboolean wprojection_spread_staged(const WProjectionSpread *s, guint64 n, cudaStream_t stream,
                                   GError **error)
{
  Staged many = { *s, s->support + WPROJECTION_TILE - 1 }, few = many;
  guint many_blocks = 0, few_blocks = 0;
  const bool is_many = divide(&many, MANY, &many_blocks) > divide(&few, FEW, &few_blocks);
  const guint64 together = (guint64)s->multiprocessors * (is_many ? many_blocks : few_blocks);
  Staged &w = is_many ? many : few;
  const guint threads = (w.rows * w.width + 31) / 32 * 32 + 32;
  const gsize shared_bytes = sizeof(Shared) + (gsize)w.stages * w.stage_bytes;
  const gboolean is_fixed = s->fixed.grid != NULL;
  void (*kernel)(Staged w) = is_many ? kernel_of_count<MANY>(s->group, is_fixed)
                                     : kernel_of_count<FEW>(s->group, is_fixed);

  w.chunk = (guint)CLAMP(n * w.slices / (4 * together), MIN_CHUNK, MAX_CHUNK);
  const guint64 chunks = (n + w.chunk - 1) / w.chunk;
  const guint64 blocks = MIN(chunks, together * ROUNDS / w.slices + 1) * w.slices;
  if (!astro_cuda_allow_shared((const void *)kernel, error))
    return FALSE;
  kernel<<<(guint)blocks, threads, shared_bytes, stream>>>(w);
  return CUDA_TRY(cudaGetLastError());
}
