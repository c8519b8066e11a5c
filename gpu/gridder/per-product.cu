/* Takes the values of one product from those of all (core/gridder/per-product.h). */
#include "gpu/gridder/per-product.h"

#include <float.h>

enum { THREADS = 256, MOST_BLOCKS = 65536 };

/* Where any product of a visibility is not zero, the others become the least number above zero. */
template <typename Value>
__device__ static Value never_zero(const Value *all, guint products, Value value)
{
  bool is_used = false;
  for (guint p = 0; p < products; p++)
    is_used |= all[p].x != 0 || all[p].y != 0;
  if (is_used && value.x == 0 && value.y == 0)
    value.x = sizeof value.x == sizeof(float) ? FLT_TRUE_MIN : DBL_TRUE_MIN;
  return value;
}

template <typename Value>
static __global__ void __launch_bounds__(THREADS)
    take_values(const Value *from, Value *to, guint64 n, guint every, guint pass, bool all_or_none)
{
  for (guint64 i = (guint64)blockIdx.x * THREADS + threadIdx.x; i < n;
       i += (guint64)gridDim.x * THREADS) {
    const Value *all = from + i * every;
    to[i] = all_or_none ? never_zero(all, every, all[pass]) : all[pass];
  }
}

template <typename Value> static void take_all(const AstroProductTake *take, cudaStream_t stream)
{
  const guint blocks = (guint)CLAMP((take->n + THREADS - 1) / THREADS, 1, MOST_BLOCKS);
  take_values<<<blocks, THREADS, 0, stream>>>((const Value *)take->from, (Value *)take->to, take->n,
                                              take->every, take->pass, (bool)take->all_or_none);
}

gboolean astro_cuda_take_product(const AstroPlace *place, const AstroProductTake *take,
                                 GError **error)
{
  (take->is_double ? take_all<double2> : take_all<float2>)(take, astro_cuda_stream(place->queue));
  return CUDA_TRY(cudaGetLastError());
}
