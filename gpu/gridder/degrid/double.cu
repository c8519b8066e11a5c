/* Collects visibilities in double precision. */
#include "gpu/gridder/degrid/collect.h"

template <int SUPPORT, int PRODUCTS>
static __global__ void __launch_bounds__(WARPS *LANES)
    collect(const __grid_constant__ DegridPlane p)
{
  __shared__ double powers[ASTRO_SEMICIRCLE_TERMS * ASTRO_SEMICIRCLE_MAX];
  for (guint i = threadIdx.x; i < ASTRO_SEMICIRCLE_TERMS * ASTRO_SEMICIRCLE_MAX; i += WARPS * LANES)
    powers[i] = p.powers[i];
  __syncthreads();
  const DoubleTaps taps = { powers, (gint)p.degree };
  collect_batch<SUPPORT, PRODUCTS, double>(p, taps);
}

gboolean astro_degrid_collect_double(const DegridPlane *plane, cudaStream_t stream, GError **error)
{
  static const DegridKernel kernels[][3] = DEGRID_KERNELS(collect);
  return launch(plane, kernels, stream, error);
}
