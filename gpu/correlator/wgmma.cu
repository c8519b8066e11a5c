/* The correlator on Hopper's tensor cores.
 *
 * A tile is 128 x 128 inputs of a channel. One warp loads chunks of 128 bytes of time of its rows
 * and columns with the bulk copy engine; two warpgroups multiply 64 rows each. Samples are
 * unchanged, with re and im side by side: the product of a row with a column is the real part of
 * E_i conj(E_j), that of the row changed to (im, -re) the imaginary part. Rows are changed in
 * registers. For bytes -re - 1 takes the place of -re, since -128 cannot be negated; the sum over
 * the column's im corrects it.
 *
 * Half precision: tensor cores truncate when they add, which causes a bias. So they add two chunks
 * at most, and their results are added with rounding. One set of accumulators alternates between
 * the real and the imaginary part, while the other warpgroup keeps the tensor cores busy. */
#include "gpu/correlator/hopper.h"
#include "gpu/correlator/wgmma.h"

enum { SLOTS = 6 };

struct Shared {
  guint8 rows[SLOTS][TILE_BYTES], columns[SLOTS][TILE_BYTES];
  guint64 full[SLOTS], empty[SLOTS];
  gint32 bias[2][TILE];
};
enum { SHARED_BYTES = sizeof(Shared) + SWIZZLE };

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/* ---- the ring of chunks ---- */

/* State of a warpgroup in the current tile. */
struct Part {
  Shared *shared;
  BarrierRing ring;
  guint32 chunks, group; /* group: which 64 rows */
  bool same_tile;        /* rows and columns are the same bytes, loaded once, as columns */
};

__device__ inline const guint8 *rows_of(const Part &part)
{
  const guint8 *tile =
      part.same_tile ? part.shared->columns[part.ring.slot] : part.shared->rows[part.ring.slot];
  return tile + part.group * HALF * CHUNK;
}

/* ---- bytes ---- */

/* Adds up the im of half a column's chunk. */
__device__ inline void add_im_of_column(gint32 &sum, const guint8 *columns, guint32 thread)
{
  guint32 column = thread / 2;
#pragma unroll
  for (guint32 i = 0; i < CHUNK / 32; i++) {
    guint32 piece = thread % 2 * (CHUNK / 32) + i;
    int4 words = *(const int4 *)(columns + column * CHUNK + ((piece ^ (column % 8)) << 4));
    sum = __dp4a(words.x, 0x01000100, sum);
    sum = __dp4a(words.y, 0x01000100, sum);
    sum = __dp4a(words.z, 0x01000100, sum);
    sum = __dp4a(words.w, 0x01000100, sum);
  }
}

/* The same for the two rows of which a thread has a quarter, in registers. */
__device__ inline void add_im_of_rows(gint32 (&sums)[2], const guint32 (&turned)[STEPS][4])
{
#pragma unroll
  for (int k = 0; k < STEPS; k++)
#pragma unroll
    for (int i = 0; i < 4; i++)
      sums[i % 2] = __dp4a((int)turned[k][i], 0x00010001, sums[i % 2]);
}

/* While the real parts of a chunk are computed, its rows are changed; while its imaginary parts are
 * computed, the next chunk's real parts begin. bias is the sum of the columns' im, from all
 * consumers together. If columns are the rows (SAME), it comes from the registers of the changed
 * rows, and shared memory is not read once more. */
template <int COLUMNS, bool SAME>
__device__ inline void correlate_s8(Part &part, int (&re)[HALF], int (&im)[HALF],
                                    gint32 (&bias)[TILE], guint32 thread)
{
  const guint32 warp = thread / 32 % 4, lane = thread % 32;
  guint32 turned[STEPS][4], last = 0;
  gint32 sums[2] = {};

  for (guint32 c = 0; c < part.chunks; c++) {
    const guint32 slot = part.ring.slot;
    barrier_wait(&part.shared->full[slot], part.ring.parity);
    const guint8 *columns = part.shared->columns[slot];
    const guint8 *rows = (SAME ? columns : part.shared->rows[slot]) + part.group * HALF * CHUNK;
    const guint64 a = describe(rows), b = describe(columns);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < STEPS; k++)
      if constexpr (COLUMNS == TILE)
        wgmma_s8_shared_128(re, a + k * (STEP >> 4), b + k * (STEP >> 4), c + k > 0);
      else
        wgmma_s8_shared_64(re, a + k * (STEP >> 4), b + k * (STEP >> 4), c + k > 0);
    wgmma_commit();
    wgmma_wait<1>();
    if (c > 0)
      release(&part.shared->empty[last]);
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
      load_rows(turned[k], rows + warp * 16 * CHUNK, k);
#pragma unroll
      for (int i = 0; i < 4; i++)
        turned[k][i] = correlator_turn<CORRELATOR_S8>(turned[k][i]);
    }
    if constexpr (SAME)
      add_im_of_rows(sums, turned);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < STEPS; k++)
      if constexpr (COLUMNS == TILE)
        wgmma_s8_128(im, turned[k], b + k * (STEP >> 4), c + k > 0);
      else
        wgmma_s8_64(im, turned[k], b + k * (STEP >> 4), c + k > 0);
    wgmma_commit();
    if constexpr (!SAME)
      add_im_of_column(sums[0], columns, thread);
    last = slot;
    part.ring.next(SLOTS);
  }
  wgmma_wait<0>();
  release(&part.shared->empty[last]);
#pragma unroll
  for (int i = 0; i < (SAME ? 2 : 1); i++) {
    sums[i] += __shfl_xor_sync(0xffffffff, sums[i], 1);
    if constexpr (SAME)
      sums[i] += __shfl_xor_sync(0xffffffff, sums[i], 2);
  }
  if constexpr (SAME) {
    if (lane % 4 < 2)
      bias[part.group * HALF + warp * 16 + lane % 4 * 8 + lane / 4] = lane % 4 ? sums[1] : sums[0];
  } else if (thread % 2 == 0) {
    bias[thread / 2] = sums[0];
  }
}

/* ---- half precision ---- */

/* Tensor cores add two chunks of time, or for split samples the low and the high halves of one. */
enum { PAIR = 2 };

/* Which of a pair's rows are multiplied by which of its columns; for split samples the smallest
 * products come first. */
template <CorrelatorKind KIND> __device__ constexpr int products_of_pair()
{
  return KIND == CORRELATOR_SPLIT ? 3 : 2;
}
template <CorrelatorKind KIND> __device__ constexpr int left_of(int product)
{
  return KIND == CORRELATOR_SPLIT ? product > 0 : product;
}
template <CorrelatorKind KIND> __device__ constexpr int right_of(int product)
{
  return KIND == CORRELATOR_SPLIT ? product != 1 : product;
}

template <CorrelatorKind KIND, int COLUMNS>
__device__ inline void correlate_f16(Part &part, float (&re)[HALF], float (&im)[HALF],
                                     guint32 thread)
{
  const guint32 warp = thread / 32 % 4;
  float sum[HALF];
  guint32 turned[PAIR][STEPS][4];

#pragma unroll
  for (int i = 0; i < HALF; i++)
    sum[i] = 0;
  for (guint32 c = 0; c < part.chunks; c += PAIR) {
    guint32 slots[PAIR];
    const guint8 *rows[PAIR];
    guint64 a[PAIR], b[PAIR];
#pragma unroll
    for (int i = 0; i < PAIR; i++) {
      slots[i] = part.ring.slot;
      barrier_wait(&part.shared->full[slots[i]], part.ring.parity);
      rows[i] = rows_of(part);
      a[i] = describe(rows[i]);
      b[i] = describe(part.shared->columns[slots[i]]);
      part.ring.next(SLOTS);
    }
    wgmma_fence();
#pragma unroll
    for (int p = 0; p < products_of_pair<KIND>(); p++)
#pragma unroll
      for (int k = 0; k < STEPS; k++)
        if constexpr (COLUMNS == TILE)
          wgmma_f16_shared_128(sum, a[left_of<KIND>(p)] + k * (STEP >> 4),
                               b[right_of<KIND>(p)] + k * (STEP >> 4), p + k > 0);
        else
          wgmma_f16_shared_64(sum, a[left_of<KIND>(p)] + k * (STEP >> 4),
                              b[right_of<KIND>(p)] + k * (STEP >> 4), p + k > 0);
    wgmma_commit();
#pragma unroll
    for (int i = 0; i < PAIR; i++)
#pragma unroll
      for (int k = 0; k < STEPS; k++) {
        load_rows(turned[i][k], rows[i] + warp * 16 * CHUNK, k);
#pragma unroll
        for (int w = 0; w < 4; w++)
          turned[i][k][w] = correlator_turn<CORRELATOR_F16>(turned[i][k][w]);
      }
    wgmma_wait<0>();
#pragma unroll
    for (int i = 0; i < COLUMNS / 2; i++)
      re[i] += sum[i];
    wgmma_fence();
#pragma unroll
    for (int p = 0; p < products_of_pair<KIND>(); p++)
#pragma unroll
      for (int k = 0; k < STEPS; k++)
        if constexpr (COLUMNS == TILE)
          wgmma_f16_128(sum, turned[left_of<KIND>(p)][k], b[right_of<KIND>(p)] + k * (STEP >> 4),
                        p + k > 0);
        else
          wgmma_f16_64(sum, turned[left_of<KIND>(p)][k], b[right_of<KIND>(p)] + k * (STEP >> 4),
                       p + k > 0);
    wgmma_commit();
    wgmma_wait<0>();
#pragma unroll
    for (int i = 0; i < PAIR; i++)
      release(&part.shared->empty[slots[i]]);
#pragma unroll
    for (int i = 0; i < COLUMNS / 2; i++)
      im[i] += sum[i];
  }
}

/* ---- common to bytes and half precision ---- */

/* Loads chunks, which are numbered along time; for split samples both planes of a time follow each
 * other. */
__device__ inline void produce(const CUtensorMap *map, const CorrelatorRun &run, guint32 chunks,
                               guint32 tiles, guint32 jobs, Shared *shared)
{
  BarrierRing ring = { 0, 1 };
  for (guint32 number = blockIdx.x; number < jobs; number += gridDim.x) {
    Job job = job_of(number, tiles);
    const bool same = job.row == job.column;
    for (guint32 c = 0; c < chunks; c++, ring.next(SLOTS)) {
      guint32 plane = run.planes == 2 ? c % 2 : 0, byte = c / run.planes * CHUNK;
      guint32 channel = job.channel + plane * run.channels;
      guint64 *full = &shared->full[ring.slot];
      barrier_wait(&shared->empty[ring.slot], ring.parity);
      barrier_expect(full, same ? TILE_BYTES : 2 * TILE_BYTES);
      if (!same)
        load_tile(map, full, shared->rows[ring.slot], byte, job.row * TILE, channel);
      load_tile(map, full, shared->columns[ring.slot], byte, job.column * TILE, channel);
    }
  }
}

template <CorrelatorKind KIND>
__device__ inline void consume(const CorrelatorRun &run, guint32 chunks, guint32 tiles,
                               guint32 jobs, Shared *shared, guint32 thread)
{
  using Value = std::conditional_t<KIND == CORRELATOR_S8, int, float>;
  using Sum = std::conditional_t<KIND == CORRELATOR_S8, int, double>;
  Part part = { shared, { 0, 0 }, chunks, thread / 128, false };
  guint32 turn = 0;

  for (guint32 number = blockIdx.x; number < jobs; number += gridDim.x, turn ^= 1) {
    Job job = job_of(number, tiles);
    Value re[HALF], im[HALF];
#pragma unroll
    for (int i = 0; i < HALF; i++)
      re[i] = im[i] = 0;
    part.same_tile = job.row == job.column;
    /* In a tile on the diagonal the upper right quarter is not wanted. */
    bool narrow = part.same_tile && part.group == 0;
    if constexpr (KIND == CORRELATOR_S8) {
      gint32(&bias)[TILE] = shared->bias[turn];
      if (narrow)
        correlate_s8<HALF, true>(part, re, im, bias, thread);
      else if (part.same_tile)
        correlate_s8<TILE, true>(part, re, im, bias, thread);
      else
        correlate_s8<TILE, false>(part, re, im, bias, thread);
      asm volatile("bar.sync 1, %0;" ::"n"((int)CONSUMERS) : "memory");
    } else if (narrow) {
      correlate_f16<KIND, HALF>(part, re, im, thread);
    } else {
      correlate_f16<KIND, TILE>(part, re, im, thread);
    }
    give_tile<Sum>(run, job, part.group, thread, [&](int at, guint32 column) {
      Pair<Sum> pair = { (Sum)re[at], (Sum)im[at], (Sum)re[at + 1], (Sum)im[at + 1] };
      if constexpr (KIND == CORRELATOR_S8) {
        int2 two = *(const int2 *)&shared->bias[turn][column];
        pair.im0 += two.x;
        pair.im1 += two.y;
      }
      return pair;
    });
  }
}

#endif

template <CorrelatorKind KIND>
__global__ void __launch_bounds__(THREADS, 1)
    correlate(const __grid_constant__ CUtensorMap map, const __grid_constant__ CorrelatorRun run,
              guint32 chunks, guint32 tiles, guint32 jobs)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ guint8 bytes[];
  Shared *shared = (Shared *)(((guintptr)bytes + 1023) & ~(guintptr)1023);

  if (threadIdx.x == 0) {
    for (int i = 0; i < SLOTS; i++) {
      barrier_init(&shared->full[i], 1);
      barrier_init(&shared->empty[i], CONSUMER_WARPS);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x >= CONSUMERS) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (threadIdx.x == CONSUMERS)
      produce(&map, run, chunks, tiles, jobs, shared);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    consume<KIND>(run, chunks, tiles, jobs, shared, threadIdx.x);
  }
#else
  __trap(); /* never run: astro_cuda_architecture rules this kernel out */
#endif
}

/* ---- launch ---- */

static void (*const kernels[])(CUtensorMap map, CorrelatorRun run, guint32 chunks, guint32 tiles,
                               guint32 jobs) = {
  [CORRELATOR_S8] = correlate<CORRELATOR_S8>,
  [CORRELATOR_F16] = correlate<CORRELATOR_F16>,
  [CORRELATOR_SPLIT] = correlate<CORRELATOR_SPLIT>,
};

const void *astro_correlator_wgmma_kernel(CorrelatorKind kind)
{
  return (const void *)kernels[kind];
}

gboolean astro_correlator_wgmma_init(CorrelatorKind kind, GError **error)
{
  return astro_correlator_map_init(error) &&
         CUDA_TRY(cudaFuncSetAttribute(kernels[kind], cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       SHARED_BYTES));
}

gboolean astro_correlator_wgmma(CorrelatorKind kind, const CorrelatorRun *run, gint multiprocessors,
                                cudaStream_t stream, GError **error)
{
  guint64 row_bytes = (guint64)run->in.steps * (kind == CORRELATOR_S8 ? 2 : 4);
  guint32 chunks = (guint32)((row_bytes + CHUNK - 1) / CHUNK) * run->planes;
  guint32 side = (run->inputs + TILE - 1) / TILE, tiles = side * (side + 1) / 2,
          jobs = tiles * run->channels;
  CUtensorMap map;

  if (kind != CORRELATOR_S8) /* the chunk beyond the end is zeros */
    chunks += chunks % 2;
  if (!astro_correlator_map(&map, run, row_bytes, error))
    return FALSE;
  kernels[kind]<<<MIN(jobs, (guint32)multiprocessors), THREADS, SHARED_BYTES, stream>>>(
      map, *run, chunks, tiles, jobs);
  return CUDA_TRY(cudaGetLastError());
}
