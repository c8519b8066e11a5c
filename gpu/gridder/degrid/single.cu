/* Collects visibilities in single precision. */
#include "gpu/gridder/degrid/collect.h"

template <int SUPPORT, int PRODUCTS>
static __global__ void __launch_bounds__(WARPS *LANES)
    collect(const __grid_constant__ DegridPlane p)
{
  const SingleTaps taps(SUPPORT, p.beta);
  collect_batch<SUPPORT, PRODUCTS, float>(p, taps);
}

gboolean astro_degrid_collect_single(const DegridPlane *plane, cudaStream_t stream, GError **error)
{
  static const DegridKernel kernels[][3] = DEGRID_KERNELS(collect);
  return launch(plane, kernels, stream, error);
}
