/* The parts of the CUDA convert. */
#pragma once

#include "gpu/runtime/cuda.h"

typedef struct {
  const guint8 *in;
  guint8 *out;
  guint64 groups;   /* of components, at multiples of their size on both sides */
  guint64 *counter; /* of clipped components, on the device */
  gint multiprocessors;
} AstroConvertWork;

/* Groups of 16 components. The scale is finite. */
void astro_convert_nibbles(const AstroConvertWork *work, float scale,
                           cudaStream_t stream); /* CI4 to CI8 */
void astro_convert_bytes(const AstroConvertWork *work, float scale,
                         cudaStream_t stream); /* CI8 to CI8, I8 to I8 */

/* ---- shared by the kernels of both files ---- */

#ifdef __CUDACC__
/* A Conversion makes a group Out from a group In, and if it COUNTS, adds to the thread's count of
 * clipped components. If it STREAMS, its output is not kept in the caches, which pays if more is
 * written than read. If conversions count, few blocks go on from part to part, so that few add to
 * the counter; else each block does one part and ends, so that the parts in progress are next to
 * each other in memory. */
enum { CONVERT_THREADS = 256 };
/* Groups that a thread loads at once, independently of each other. */
template <typename Conversion> static constexpr int CONVERT_GROUPS = Conversion::COUNTS ? 4 : 2;

template <typename Conversion>
static __global__ void __launch_bounds__(CONVERT_THREADS)
    convert_groups(const typename Conversion::In *in, typename Conversion::Out *out, guint64 groups,
                   const __grid_constant__ Conversion conversion, guint64 *counter)
{
  constexpr int GROUPS = CONVERT_GROUPS<Conversion>;
  const guint64 part = CONVERT_THREADS * GROUPS, stride = gridDim.x * part;
  int clipped = 0;

  for (guint64 first = blockIdx.x * part + threadIdx.x; first < groups; first += stride) {
    typename Conversion::In group[GROUPS];
#pragma unroll
    for (int g = 0; g < GROUPS; g++)
      if (first + g * CONVERT_THREADS < groups)
        group[g] = in[first + g * CONVERT_THREADS];
#pragma unroll
    for (int g = 0; g < GROUPS; g++)
      if (first + g * CONVERT_THREADS < groups) {
        const typename Conversion::Out made = conversion(group[g], &clipped);
        if constexpr (Conversion::STREAMS)
          __stcs((uint4 *)&out[first + g * CONVERT_THREADS], *(const uint4 *)&made);
        else
          out[first + g * CONVERT_THREADS] = made;
      }
  }
  clipped = __reduce_add_sync(0xffffffff, clipped);
  if (threadIdx.x % 32 == 0 && clipped)
    atomicAdd((unsigned long long *)counter, (unsigned long long)clipped);
}

template <typename Conversion>
static void convert_launch(const Conversion &conversion, const AstroConvertWork *work,
                           cudaStream_t stream)
{
  const guint64 part = CONVERT_THREADS * CONVERT_GROUPS<Conversion>;
  const guint64 blocks = (work->groups + part - 1) / part;
  const guint64 most = Conversion::COUNTS ? (guint64)work->multiprocessors * 32 : G_MAXINT32;
  if (work->groups > 0)
    convert_groups<<<(guint)MIN(blocks, most), CONVERT_THREADS, 0, stream>>>(
        (const typename Conversion::In *)work->in, (typename Conversion::Out *)work->out,
        work->groups, conversion, work->counter);
}
#endif
