/* The correlator on Hopper's tensor cores.
 *
 * A tile is 128 x 128 inputs of a channel. One warp brings chunks of 128 bytes of time of its rows and columns
 * with the bulk copy engine; two warpgroups multiply, 64 rows each. Samples stay as they are, re and im side by
 * side: the product of a row with a column is the real part of E_i conj(E_j), that of the row turned to
 * (im, -re) the imaginary part. Rows are turned in registers. For bytes -re - 1 stands for -re, since -128 has
 * no other sign; the sum over the column's im corrects it.
 *
 * Half precision: tensor cores cut what they add, which errs one way; so they add no more than a chunk, and
 * chunks are added with rounding. One set of accumulators takes the real and the imaginary part in turn while
 * the other warpgroup keeps the tensor cores busy. */
#include "gpu/correlator.h"
#include "gpu/wgmma.h"

#include <cudaTypedefs.h>

enum {
  TILE = 128,
  HALF = TILE / 2,
  CHUNK = 128, /* bytes of time: a line of the swizzle */
  STEP = 32,   /* bytes of time that one instruction multiplies */
  STEPS = CHUNK / STEP,
  SLOTS = 6,
  TILE_BYTES = TILE * CHUNK,
  CONSUMERS = 256,
  THREADS = CONSUMERS + 128,
  CONSUMER_WARPS = CONSUMERS / 32,
};

struct Shared {
  guint8 rows[SLOTS][TILE_BYTES], columns[SLOTS][TILE_BYTES];
  guint64 full[SLOTS], empty[SLOTS];
  gint32 bias[2][TILE];
};
enum { SHARED_BYTES = sizeof(Shared) + 1024 /* to begin at a line of the swizzle */ };

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

__device__ inline guint32 shared_address(const void *p)
{
  return (guint32)__cvta_generic_to_shared(p);
}

__device__ inline void barrier_init(guint64 *barrier, guint32 count)
{
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count));
}

__device__ inline void barrier_expect(guint64 *barrier, guint32 bytes)
{
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}

__device__ inline void barrier_arrive(guint64 *barrier)
{
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

__device__ inline void barrier_wait(guint64 *barrier, guint32 parity)
{
  asm volatile("{\n.reg .pred p;\n"
               "again:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
               "@!p bra again;\n}\n" ::"r"(shared_address(barrier)),
               "r"(parity)
               : "memory");
}

__device__ inline void load_tile(const CUtensorMap *map, guint64 *barrier, void *to, guint32 byte, guint32 input,
                                 guint32 channel)
{
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], "
               "[%2];" ::"r"(shared_address(to)),
               "l"(map), "r"(shared_address(barrier)), "r"(byte), "r"(input), "r"(channel)
               : "memory");
}

/* Rows of 128 bytes, swizzled, eight of them 1024 bytes from the next eight. */
__device__ inline guint64 describe(const void *tile)
{
  return (guint64)((shared_address(tile) & 0x3ffff) >> 4) | (guint64)1 << 16 | (guint64)(1024 >> 4) << 32 |
         (guint64)1 << 62;
}

__device__ inline void wgmma_fence()
{
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ inline void wgmma_commit()
{
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int PENDING> __device__ inline void wgmma_wait()
{
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}

/* The part of a warpgroup's 64 rows that one instruction takes: four registers of each thread. lines is the
 * first of the warp's 16 rows. */
__device__ inline void load_rows(guint32 (&words)[4], const guint8 *lines, int step)
{
  guint32 lane = threadIdx.x % 32, row = lane % 16, piece = step * 2 + lane / 16;
  guint32 at = shared_address(lines) + row * CHUNK + ((piece ^ (row % 8)) << 4);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(at)
               : "memory");
}

/* ---- the ring of chunks ---- */

struct Ring {
  guint32 slot, parity;
  __device__ void next()
  {
    if (++slot == SLOTS) {
      slot = 0;
      parity ^= 1;
    }
  }
};

struct Job {
  guint32 channel, row, column; /* of tiles */
};

__device__ inline Job job_of(guint32 number, guint32 tiles)
{
  Job job = { number / tiles };
  correlator_tile(number % tiles, &job.row, &job.column);
  return job;
}

/* What a warpgroup knows of the tile in work. */
struct Part {
  Shared *shared;
  Ring ring;
  guint32 chunks, terms, group; /* group: which 64 rows */
  bool same_tile;
};

/* Whether rows and columns of a term are the same bytes, which are then loaded once, as columns. */
__device__ inline bool is_shared(bool same_tile, guint32 terms, guint32 term)
{
  return same_tile && correlator_left_plane(terms, term) == correlator_right_plane(terms, term);
}

__device__ inline const guint8 *rows_of(const Part &part, guint32 term)
{
  const guint8 *tile = is_shared(part.same_tile, part.terms, term) ? part.shared->columns[part.ring.slot]
                                                                   : part.shared->rows[part.ring.slot];
  return tile + part.group * HALF * CHUNK;
}

__device__ inline void release(Shared *shared, guint32 slot)
{
  __syncwarp();
  if (threadIdx.x % 32 == 0)
    barrier_arrive(&shared->empty[slot]);
}

/* ---- bytes ---- */

/* The sum of the im of half a column's chunk. */
__device__ inline gint32 sum_im(const guint8 *columns, guint32 thread)
{
  guint32 column = thread / 2;
  gint32 sum = 0;
#pragma unroll
  for (guint32 i = 0; i < CHUNK / 32; i++) {
    guint32 piece = thread % 2 * (CHUNK / 32) + i;
    int4 words = *(const int4 *)(columns + column * CHUNK + ((piece ^ (column % 8)) << 4));
    sum = __dp4a(words.x, 0x01000100, sum);
    sum = __dp4a(words.y, 0x01000100, sum);
    sum = __dp4a(words.z, 0x01000100, sum);
    sum = __dp4a(words.w, 0x01000100, sum);
  }
  return sum;
}

/* Real parts of a chunk are in work while its rows are turned, imaginary parts while the next chunk's real
 * parts are begun. */
template <int COLUMNS>
__device__ inline gint32 correlate_s8(Part &part, int (&re)[HALF], int (&im)[HALF], guint32 thread)
{
  const guint32 warp = thread / 32 % 4;
  guint32 turned[STEPS][4], last = 0;
  gint32 bias = 0;

  for (guint32 c = 0; c < part.chunks; c++) {
    const guint32 slot = part.ring.slot;
    barrier_wait(&part.shared->full[slot], part.ring.parity);
    const guint8 *rows = rows_of(part, 0), *columns = part.shared->columns[slot];
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
      release(part.shared, last);
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
      load_rows(turned[k], rows + warp * 16 * CHUNK, k);
#pragma unroll
      for (int i = 0; i < 4; i++)
        turned[k][i] = correlator_turn<CORRELATOR_S8>(turned[k][i]);
    }
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < STEPS; k++)
      if constexpr (COLUMNS == TILE)
        wgmma_s8_128(im, turned[k], b + k * (STEP >> 4), c + k > 0);
      else
        wgmma_s8_64(im, turned[k], b + k * (STEP >> 4), c + k > 0);
    wgmma_commit();
    bias += sum_im(columns, thread);
    last = slot;
    part.ring.next();
  }
  wgmma_wait<0>();
  release(part.shared, last);
  return bias;
}

/* ---- half precision ---- */

template <int COLUMNS>
__device__ inline void correlate_f16(Part &part, float (&re)[HALF], float (&im)[HALF], guint32 thread)
{
  const guint32 warp = thread / 32 % 4;
  float sum[HALF];
  guint32 turned[STEPS][4];

#pragma unroll
  for (int i = 0; i < HALF; i++)
    sum[i] = 0;
  for (guint32 c = 0; c < part.chunks; c++)
    for (guint32 term = 0; term < part.terms; term++) {
      const guint32 slot = part.ring.slot;
      barrier_wait(&part.shared->full[slot], part.ring.parity);
      const guint8 *rows = rows_of(part, term);
      const guint64 a = describe(rows), b = describe(part.shared->columns[slot]);
      wgmma_fence();
#pragma unroll
      for (int k = 0; k < STEPS; k++)
        if constexpr (COLUMNS == TILE)
          wgmma_f16_shared_128(sum, a + k * (STEP >> 4), b + k * (STEP >> 4), k > 0);
        else
          wgmma_f16_shared_64(sum, a + k * (STEP >> 4), b + k * (STEP >> 4), k > 0);
      wgmma_commit();
#pragma unroll
      for (int k = 0; k < STEPS; k++) {
        load_rows(turned[k], rows + warp * 16 * CHUNK, k);
#pragma unroll
        for (int i = 0; i < 4; i++)
          turned[k][i] = correlator_turn<CORRELATOR_F16>(turned[k][i]);
      }
      wgmma_wait<0>();
#pragma unroll
      for (int i = 0; i < COLUMNS / 2; i++)
        re[i] += sum[i];
      wgmma_fence();
#pragma unroll
      for (int k = 0; k < STEPS; k++)
        if constexpr (COLUMNS == TILE)
          wgmma_f16_128(sum, turned[k], b + k * (STEP >> 4), k > 0);
        else
          wgmma_f16_64(sum, turned[k], b + k * (STEP >> 4), k > 0);
      wgmma_commit();
      wgmma_wait<0>();
      release(part.shared, slot);
#pragma unroll
      for (int i = 0; i < COLUMNS / 2; i++)
        im[i] += sum[i];
      part.ring.next();
    }
}

/* ---- what both share ---- */

template <int COLUMNS, typename Sum, typename Value>
__device__ inline void give(const CorrelatorRun &run, const Job &job, guint32 group, const Value (&re)[HALF],
                            const Value (&im)[HALF], const gint32 *bias, guint32 thread)
{
  guint32 lane = thread % 32, row = job.row * TILE + group * HALF + thread / 32 % 4 * 16 + lane / 4;
#pragma unroll
  for (int half = 0; half < 2; half++)
#pragma unroll
    for (int n = 0; n < COLUMNS / 8; n++) {
      guint32 column = n * 8 + lane % 4 * 2;
      int at = n * 4 + half * 2;
      Sum im0 = im[at], im1 = im[at + 1];
      if (sizeof(Sum) == 4) {
        im0 += bias[column];
        im1 += bias[column + 1];
      }
      correlator_give_two<Sum>(run.sink, run.inputs, job.channel, row + half * 8, job.column * TILE + column,
                               (Sum)re[at], im0, (Sum)re[at + 1], im1);
    }
}

__device__ inline void produce(const CUtensorMap *map, const CorrelatorRun &run, guint32 chunks, guint32 tiles,
                               guint32 jobs, Shared *shared)
{
  Ring ring = { 0, 1 };
  for (guint32 number = blockIdx.x; number < jobs; number += gridDim.x) {
    Job job = job_of(number, tiles);
    for (guint32 c = 0; c < chunks; c++)
      for (guint32 term = 0; term < run.terms; term++, ring.next()) {
        bool once = is_shared(job.row == job.column, run.terms, term);
        guint32 left = correlator_left_plane(run.terms, term) * run.channels;
        guint32 right = correlator_right_plane(run.terms, term) * run.channels;
        guint64 *full = &shared->full[ring.slot];
        barrier_wait(&shared->empty[ring.slot], ring.parity);
        barrier_expect(full, once ? TILE_BYTES : 2 * TILE_BYTES);
        if (!once)
          load_tile(map, full, shared->rows[ring.slot], c * CHUNK, job.row * TILE, job.channel + left);
        load_tile(map, full, shared->columns[ring.slot], c * CHUNK, job.column * TILE, job.channel + right);
      }
  }
}

template <CorrelatorKind KIND>
__device__ inline void consume(const CorrelatorRun &run, guint32 chunks, guint32 tiles, guint32 jobs, Shared *shared,
                               guint32 thread)
{
  using Value = std::conditional_t<KIND == CORRELATOR_S8, int, float>;
  using Sum = std::conditional_t<KIND == CORRELATOR_S8, int, double>;
  Part part = { shared, { 0, 0 }, chunks, run.terms, thread / 128, false };
  guint32 turn = 0;

  for (guint32 number = blockIdx.x; number < jobs; number += gridDim.x, turn ^= 1) {
    Job job = job_of(number, tiles);
    Value re[HALF], im[HALF];
    gint32 bias = 0;
#pragma unroll
    for (int i = 0; i < HALF; i++)
      re[i] = im[i] = 0;
    part.same_tile = job.row == job.column;
    /* Of a tile on the diagonal the upper right quarter is not wanted. */
    bool narrow = part.same_tile && part.group == 0;
    if constexpr (KIND == CORRELATOR_S8) {
      bias = narrow ? correlate_s8<HALF>(part, re, im, thread) : correlate_s8<TILE>(part, re, im, thread);
      bias += __shfl_xor_sync(0xffffffff, bias, 1);
      if (thread % 2 == 0)
        shared->bias[turn][thread / 2] = bias;
      asm volatile("bar.sync 1, %0;" ::"n"((int)CONSUMERS) : "memory");
    } else if (narrow) {
      correlate_f16<HALF>(part, re, im, thread);
    } else {
      correlate_f16<TILE>(part, re, im, thread);
    }
    if (narrow)
      give<HALF, Sum>(run, job, part.group, re, im, shared->bias[turn], thread);
    else
      give<TILE, Sum>(run, job, part.group, re, im, shared->bias[turn], thread);
  }
}

#endif

template <CorrelatorKind KIND>
__global__ void __launch_bounds__(THREADS, 1)
    correlate(const __grid_constant__ CUtensorMap map, const __grid_constant__ CorrelatorRun run, guint32 chunks,
              guint32 tiles, guint32 jobs)
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
#endif
}

/* ---- launch ---- */

static PFN_cuTensorMapEncodeTiled_v12000 encode_map;

gboolean astro_correlator_wgmma_init(GError **error)
{
  cudaDriverEntryPointQueryResult found;
  return CUDA_TRY(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode_map, 12000,
                                                   cudaEnableDefault, &found)) &&
         CUDA_TRY(cudaFuncSetAttribute(correlate<CORRELATOR_S8>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       SHARED_BYTES)) &&
         CUDA_TRY(cudaFuncSetAttribute(correlate<CORRELATOR_F16>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       SHARED_BYTES));
}

static gboolean make_map(CUtensorMap *map, const CorrelatorRun *run, guint64 row_bytes, GError **error)
{
  const guint32 planes = run->terms == 3 ? 2 : 1;
  cuuint64_t extents[] = { row_bytes, run->inputs, (cuuint64_t)run->channels * planes };
  cuuint64_t strides[] = { run->in.row, run->in.channel };
  cuuint32_t box[] = { CHUNK, TILE, 1 }, steps[] = { 1, 1, 1 };
  CUresult result =
      encode_map(map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 3, (void *)run->in.data, extents, strides, box, steps,
                 CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                 CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result == CUDA_SUCCESS)
    return TRUE;
  g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_DEVICE, "CUDA: cuTensorMapEncodeTiled: error %d",
              (int)result);
  return FALSE;
}

gboolean astro_correlator_wgmma(CorrelatorKind kind, const CorrelatorRun *run, gint multiprocessors,
                                cudaStream_t stream, GError **error)
{
  guint64 row_bytes = (guint64)run->in.steps * (kind == CORRELATOR_S8 ? 2 : 4);
  guint32 chunks = (guint32)((row_bytes + CHUNK - 1) / CHUNK), side = (run->inputs + TILE - 1) / TILE;
  guint32 tiles = side * (side + 1) / 2, jobs = tiles * run->channels;
  guint32 blocks = MIN(jobs, (guint32)multiprocessors);
  CUtensorMap map;

  if (!make_map(&map, run, row_bytes, error))
    return FALSE;
  if (kind == CORRELATOR_S8)
    correlate<CORRELATOR_S8><<<blocks, THREADS, SHARED_BYTES, stream>>>(map, *run, chunks, tiles, jobs);
  else
    correlate<CORRELATOR_F16><<<blocks, THREADS, SHARED_BYTES, stream>>>(map, *run, chunks, tiles, jobs);
  return CUDA_TRY(cudaGetLastError());
}
