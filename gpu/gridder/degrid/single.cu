/* Collects visibilities in single precision. */
#include "gpu/gridder/degrid/collect.h"

template <int SUPPORT>
static __global__ void __launch_bounds__(WARPS *LANES)
    collect(const __grid_constant__ DegridPlane p)
{
  const SingleTaps taps(SUPPORT, p.beta);
  collect_batch<SUPPORT, float>(p, taps);
}

gboolean astro_degrid_collect_single(const DegridPlane *plane, cudaStream_t stream, GError **error)
{
  static const DegridKernel kernels[] = DEGRID_KERNELS(collect);
  return launch(plane, kernels[plane->support - ASTRO_SEMICIRCLE_MIN], stream, error);
}
