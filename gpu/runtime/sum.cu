/* Adds up what several devices have made. */
#include "gpu/runtime/sum.h"

enum { THREADS = 256, MOST_BLOCKS = 65536 };

template <typename Real>
static __global__ void __launch_bounds__(THREADS) add_values(const Real *from, Real *to, guint64 n)
{
  const guint64 step = (guint64)gridDim.x * THREADS;
  for (guint64 i = (guint64)blockIdx.x * THREADS + threadIdx.x; i < n; i += step)
    to[i] += from[i];
}

template <typename Real>
static gboolean sum(const AstroPlace *place, gpointer to, gconstpointer from, gsize bytes,
                    GError **error)
{
  const guint64 n = bytes / sizeof(Real);
  const guint blocks = (guint)CLAMP((n + THREADS - 1) / THREADS, 1, MOST_BLOCKS);
  add_values<<<blocks, THREADS, 0, astro_cuda_stream(place->queue)>>>((const Real *)from,
                                                                      (Real *)to, n);
  return CUDA_TRY(cudaGetLastError());
}

gboolean astro_cuda_sum(const AstroPlace *place, gpointer to, gconstpointer from, gsize bytes,
                        gboolean is_double, GError **error)
{
  return (is_double ? sum<double> : sum<float>)(place, to, from, bytes, error);
}
