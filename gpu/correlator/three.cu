/* CI4 on Hopper's tensor cores by three real products in place of four.
 *
 * Of a row's sample a + bi and a column's c + di they make the sums of ac, of bd, and of
 * (a + b)(c - d). The real part of the visibility is ac + bd, the imaginary part bc - ad is the
 * third less the first plus the second. 4-bit parts, their sums and differences fit in bytes.
 *
 * Samples are read as they are, a byte each, and widened here: nothing is written to memory in
 * between. One warpgroup loads chunks with the bulk copy engine and widens columns to three planes
 * in shared memory; two warpgroups widen their rows in registers, and multiply. Parts are widened
 * to 16 times their value, which takes no more than a mask, and their sums to 8 times; so products
 * are at most 2^14, and an int32 holds as many of them as of those of CI8. */
#include "gpu/correlator/hopper.h"
#include "gpu/correlator/wgmma.h"
#include "gpu/correlator/widen.h"

enum {
  PLANES = 3,       /* c, d, c - d */
  WIDE_SLOTS = 2,   /* chunks of widened columns */
  NARROW_SLOTS = 4, /* chunks as loaded */
  AHEAD = 2, /* chunks that are loaded before they are widened; a slot of those is free again once
                the columns of AHEAD chunks before are multiplied */
  WIDENERS = THREADS - CONSUMERS,
  PIECE = 16,                            /* bytes */
  PARTS_BITS = 2 * CORRELATOR_PART_BITS, /* by which products are larger */
  SUMS_BITS = 2 * CORRELATOR_SUM_BITS,
};
static_assert(NARROW_SLOTS >= AHEAD + WIDE_SLOTS);

struct Shared {
  guint8 wide[WIDE_SLOTS][PLANES][TILE_BYTES];
  guint8 rows[NARROW_SLOTS][TILE_BYTES], columns[NARROW_SLOTS][TILE_BYTES];
  guint64 loaded[NARROW_SLOTS], widened[WIDE_SLOTS], empty[WIDE_SLOTS];
};
enum { SHARED_BYTES = sizeof(Shared) };

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/* ---- loading, and widening columns ---- */

/* One thread loads all chunks of the block's jobs, one after the other. */
struct Loader {
  guint32 number, chunk, slot; /* of the next to be loaded */
  Job job;
};

__device__ inline void load_next(Loader &loader, const CUtensorMap *map, guint32 chunks,
                                 guint32 tiles, guint32 jobs, Shared *shared)
{
  if (loader.number >= jobs)
    return;
  if (loader.chunk == 0)
    loader.job = job_of(loader.number, tiles);
  const Job job = loader.job;
  const bool same = job.row == job.column;
  const guint32 slot = loader.slot, byte = loader.chunk * CHUNK;
  guint64 *loaded = &shared->loaded[slot];
  barrier_expect(loaded, same ? TILE_BYTES : 2 * TILE_BYTES);
  load_tile(map, loaded, shared->rows[slot], byte, job.row * TILE, job.channel);
  if (!same)
    load_tile(map, loaded, shared->columns[slot], byte, job.column * TILE, job.channel);
  loader.slot = (slot + 1) % NARROW_SLOTS;
  if (++loader.chunk == chunks) {
    loader.chunk = 0;
    loader.number += gridDim.x;
  }
}

/* Planes are swizzled as the chunk is. Two pieces at a time are read before any is written. */
__device__ inline void widen(guint8 (&planes)[PLANES][TILE_BYTES], const guint8 *chunk,
                             guint32 thread)
{
  enum { TOGETHER = 2 };
#pragma unroll 1
  for (int first = 0; first < TILE_BYTES; first += TOGETHER * WIDENERS * PIECE) {
    uint4 words[TOGETHER];
#pragma unroll
    for (int i = 0; i < TOGETHER; i++)
      words[i] = *(const uint4 *)(chunk + first + (i * WIDENERS + thread) * PIECE);
#pragma unroll
    for (int i = 0; i < TOGETHER; i++) {
      const guint32 at = first + (i * WIDENERS + thread) * PIECE;
      const uint4 w = words[i];
      const uint4 c = { first_of(w.x), first_of(w.y), first_of(w.z), first_of(w.w) },
                  d = { second_of(w.x), second_of(w.y), second_of(w.z), second_of(w.w) };
      *(uint4 *)(planes[0] + at) = c;
      *(uint4 *)(planes[1] + at) = d;
      *(uint4 *)(planes[2] + at) = { difference_of(c.x, d.x), difference_of(c.y, d.y),
                                     difference_of(c.z, d.z), difference_of(c.w, d.w) };
    }
  }
}

/* A chunk may be loaded to a slot once the columns of the last but one are multiplied: its rows
 * were then too, and its columns widened. */
__device__ inline void produce(const CUtensorMap *map, guint32 chunks, guint32 tiles, guint32 jobs,
                               Shared *shared, guint32 thread)
{
  BarrierRing narrow = { 0, 0 }, wide = { 0, 1 };
  Loader loader = { blockIdx.x };

  if (thread == 0)
    for (int i = 0; i < AHEAD; i++)
      load_next(loader, map, chunks, tiles, jobs, shared);
  for (guint32 number = blockIdx.x; number < jobs; number += gridDim.x) {
    const Job job = job_of(number, tiles);
    const bool same = job.row == job.column;
    for (guint32 c = 0; c < chunks; c++) {
      barrier_wait(&shared->empty[wide.slot], wide.parity);
      if (thread == 0)
        load_next(loader, map, chunks, tiles, jobs, shared);
      __syncwarp();
      barrier_wait(&shared->loaded[narrow.slot], narrow.parity);
      widen(shared->wide[wide.slot],
            same ? shared->rows[narrow.slot] : shared->columns[narrow.slot], thread);
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      barrier_arrive(&shared->widened[wide.slot]);
      narrow.next(NARROW_SLOTS);
      wide.next(WIDE_SLOTS);
    }
  }
}

/* ---- multiplying ---- */

/* A warpgroup's rows for one instruction of each of the products. */
struct Rows {
  guint32 first[4], second[4], sum[4];
};

__device__ inline Rows widen_rows(const guint32 (&words)[4])
{
  Rows rows;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    rows.first[i] = first_of(words[i]);
    rows.second[i] = second_of(words[i]);
    rows.sum[i] = sum_of(rows.first[i], rows.second[i]);
  }
  return rows;
}

/* The tensor cores have a step of one warpgroup while the other widens its next rows. More than a
 * step at a time does not fit in registers, of which the sums take 192. In a tile on the diagonal
 * the upper right quarter is not wanted, but to leave it out takes a branch for each step, which is
 * longer than the products. turn: chunks so far. */
__device__ inline void correlate(Shared *shared, guint32 chunks, guint32 &turn, int (&first)[HALF],
                                 int (&second)[HALF], int (&third)[HALF], guint32 thread)
{
  const guint32 warp_rows = thread / 32 * 16 * CHUNK;
  for (guint32 c = 0; c < chunks; c++, turn++) {
    const guint32 slot = turn % NARROW_SLOTS, wide = turn % WIDE_SLOTS;
    barrier_wait(&shared->loaded[slot], turn / NARROW_SLOTS % 2);
    barrier_wait(&shared->widened[wide], turn / WIDE_SLOTS % 2);
    const guint8 *lines = shared->rows[slot] + warp_rows;
    const guint64 columns = describe(shared->wide[wide][0]);
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
      guint32 words[4];
      load_rows(words, lines, k);
      wgmma_wait<0>();
      if (k == 0 && c > 0)
        release(&shared->empty[(turn + 1) % WIDE_SLOTS]);
      const Rows rows = widen_rows(words);
      const guint64 b = columns + k * (STEP >> 4);
      wgmma_fence();
      wgmma_s8_128(first, rows.first, b, 1);
      wgmma_s8_128(second, rows.second, b + (TILE_BYTES >> 4), 1);
      wgmma_s8_128(third, rows.sum, b + (2 * TILE_BYTES >> 4), 1);
      wgmma_commit();
    }
  }
  wgmma_wait<0>();
  release(&shared->empty[(turn + 1) % WIDE_SLOTS]);
}

/* Makes the real part of the first sum, and of the third the imaginary part. In assembly, so that
 * each is made where it stays: in an order of its own the compiler needs more registers than there
 * are. */
__device__ inline void make_complex(int &first, int &third, int second)
{
  asm volatile("{\n.reg .s32 difference;\n"
               "sub.s32 difference, %0, %2;\n"
               "add.s32 %0, %0, %2;\n"
               "shr.s32 %0, %0, %3;\n"
               "shr.s32 difference, difference, %3;\n"
               "shr.s32 %1, %1, %4;\n"
               "sub.s32 %1, %1, difference;\n}\n"
               : "+r"(first), "+r"(third)
               : "r"(second), "n"((int)PARTS_BITS), "n"((int)SUMS_BITS));
}

__device__ inline void consume(const CorrelatorRun &run, guint32 chunks, guint32 tiles,
                               guint32 jobs, Shared *shared, guint32 thread)
{
  const guint32 group = thread / 128;
  guint32 turn = 0;

  for (guint32 number = blockIdx.x; number < jobs; number += gridDim.x) {
    const Job job = job_of(number, tiles);
    int first[HALF], second[HALF], third[HALF];
#pragma unroll
    for (int i = 0; i < HALF; i++)
      first[i] = second[i] = third[i] = 0;
    correlate(shared, chunks, turn, first, second, third, thread);
#pragma unroll
    for (int i = 0; i < HALF; i++)
      make_complex(first[i], third[i], second[i]);
    give_tile<int>(run, job, group, thread, [&](int at, guint32 column) {
      return Pair<int>{ first[at], third[at], first[at + 1], third[at + 1] };
    });
  }
}

#endif

static __global__ void __launch_bounds__(THREADS, 1)
    correlate_three(const __grid_constant__ CUtensorMap map,
                    const __grid_constant__ CorrelatorRun run, guint32 chunks, guint32 tiles,
                    guint32 jobs)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ __align__(SWIZZLE) guint8 bytes[];
  Shared *shared = (Shared *)bytes;

  if (threadIdx.x == 0) {
    for (int i = 0; i < NARROW_SLOTS; i++)
      barrier_init(&shared->loaded[i], 1);
    for (int i = 0; i < WIDE_SLOTS; i++) {
      barrier_init(&shared->widened[i], WIDENERS);
      barrier_init(&shared->empty[i], CONSUMER_WARPS);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x >= CONSUMERS) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    produce(&map, chunks, tiles, jobs, shared, threadIdx.x - CONSUMERS);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    consume(run, chunks, tiles, jobs, shared, threadIdx.x);
  }
#else
  __trap(); /* never run: astro_cuda_architecture rules this kernel out */
#endif
}

/* ---- launch ---- */

const void *astro_correlator_three_kernel(CorrelatorKind kind)
{
  return (const void *)correlate_three;
}

gboolean astro_correlator_three_init(GError **error)
{
  return astro_correlator_map_init(error) &&
         CUDA_TRY(cudaFuncSetAttribute(correlate_three, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       SHARED_BYTES));
}

gboolean astro_correlator_three(const CorrelatorRun *run, gint multiprocessors, cudaStream_t stream,
                                GError **error)
{
  const guint32 chunks = (run->in.steps + CHUNK - 1) / CHUNK;
  const guint32 side = (run->inputs + TILE - 1) / TILE, tiles = side * (side + 1) / 2,
                jobs = tiles * run->channels;
  CUtensorMap map;

  if (!astro_correlator_map(&map, run, run->in.steps, error))
    return FALSE;
  correlate_three<<<MIN(jobs, (guint32)multiprocessors), THREADS, SHARED_BYTES, stream>>>(
      map, *run, chunks, tiles, jobs);
  return CUDA_TRY(cudaGetLastError());
}
