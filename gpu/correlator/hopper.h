/* Parts that the kernels for the tensor cores of Hopper share. A tile is 128 x 128 inputs of a
 * channel. Chunks of 128 bytes of time of its rows and columns come by the bulk copy engine; two
 * warpgroups multiply 64 rows each, and write their sums. */
#pragma once

#include "gpu/runtime/barrier.h"
#include "gpu/correlator/correlator.h"

#include <cudaTypedefs.h>

/* Code for compute_90 and compute_90a could not be told apart when a kernel is picked. */
#if __CUDA_ARCH__ == 900 && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
#error "NVCC_ARCH has compute_90, expected compute_90a"
#endif

/* Makes the map by which chunks of a run's samples are loaded, with zeros beyond the last input and
 * the last byte of a row; init finds the driver's function for it. */
gboolean astro_correlator_map_init(GError **error);
gboolean astro_correlator_map(CUtensorMap *map, const CorrelatorRun *run, guint64 row_bytes,
                              GError **error);

enum {
  TILE = 128,
  HALF = TILE / 2,
  CHUNK = 128, /* bytes of time: one line of the swizzle */
  STEP = 32,   /* bytes of time that one instruction multiplies */
  STEPS = CHUNK / STEP,
  TILE_BYTES = TILE * CHUNK,
  SWIZZLE = 1024, /* bytes that tiles have to be aligned to */
  CONSUMERS = 256,
  THREADS = CONSUMERS + 128,
  CONSUMER_WARPS = CONSUMERS / 32,
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

__device__ inline void load_tile(const CUtensorMap *map, guint64 *barrier, void *to, guint32 byte,
                                 guint32 input, guint32 channel)
{
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
               "[%1, {%3, %4, %5}], "
               "[%2];" ::"r"(shared_address(to)),
               "l"(map), "r"(shared_address(barrier)), "r"(byte), "r"(input), "r"(channel)
               : "memory");
}

/* Descriptor of a tile: rows of 128 bytes, swizzled, with groups of eight rows 1024 bytes apart. */
__device__ inline guint64 describe(const void *tile)
{
  return (guint64)((shared_address(tile) & 0x3ffff) >> 4) | (guint64)1 << 16 |
         (guint64)(1024 >> 4) << 32 | (guint64)1 << 62;
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

/* Loads the part of a warpgroup's 64 rows that one instruction uses: four registers in each thread.
 * lines is the first of the warp's 16 rows. */
__device__ inline void load_rows(guint32 (&words)[4], const guint8 *lines, int step)
{
  guint32 lane = threadIdx.x % 32, row = lane % 16, piece = step * 2 + lane / 16;
  guint32 at = shared_address(lines) + row * CHUNK + ((piece ^ (row % 8)) << 4);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(at)
               : "memory");
}

struct Job {
  guint32 channel, row, column; /* row and column of the tile */
};

__device__ inline Job job_of(guint32 number, guint32 tiles)
{
  Job job = { number / tiles };
  correlator_tile(number % tiles, &job.row, &job.column);
  return job;
}

/* A warp has read what it waited for. */
__device__ inline void release(guint64 *empty)
{
  __syncwarp();
  if (threadIdx.x % 32 == 0)
    barrier_arrive(empty);
}

/* The sums of two columns side by side. */
template <typename Sum> struct Pair {
  Sum re0, im0, re1, im1;
};

/* Gives a warpgroup's part of a tile. pair(at, column): those of sums at and at + 1, which belong
 * to that column of the tile and the next. */
template <typename Sum, typename Get>
__device__ inline void give_tile(const CorrelatorRun &run, const Job &job, guint32 group,
                                 guint32 thread, const Get &pair)
{
  const guint32 lane = thread % 32, column = lane % 4 * 2;
  const guint32 row = job.row * TILE + group * HALF + thread / 32 % 4 * 16 + lane / 4;

  correlator_give_all<Sum>(run.sink, [&](auto giving, auto pols) {
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const CorrelatorRow<pols> to(run.sink, run.inputs, job.channel, row + half * 8,
                                   job.column * TILE + column);
#pragma unroll
      for (int n = 0; n < TILE / 8; n++) {
        const Pair<Sum> sums = pair(n * 4 + half * 2, n * 8 + column);
        to.template give<giving, Sum>(run.sink, n * 8, sums.re0, sums.im0, sums.re1, sums.im1);
      }
    }
  });
}

#endif
