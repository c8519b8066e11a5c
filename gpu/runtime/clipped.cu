/* Counts clipped components on the device. */
#include "gpu/runtime/clipped.h"

gboolean astro_cuda_clipped_init(AstroCudaClipped *self, const AstroPlace *place, GError **error)
{
  return place->device->funcs->alloc(place->device, sizeof *self->counter,
                                     (gpointer *)&self->counter, error) &&
         CUDA_TRY(cudaMemsetAsync(self->counter, 0, sizeof *self->counter,
                                  astro_cuda_stream(place->queue)));
}

gboolean astro_cuda_clipped_drain(AstroCudaClipped *self, const AstroPlace *place,
                                  AstroResult *result, GError **error)
{
  cudaStream_t stream = astro_cuda_stream(place->queue);
  guint64 clipped = 0;

  if (!astro_cuda_enter(place->device, error) ||
      !CUDA_TRY(cudaMemcpyAsync(&clipped, self->counter, sizeof clipped, cudaMemcpyDeviceToHost,
                                stream)) ||
      !CUDA_TRY(cudaMemsetAsync(self->counter, 0, sizeof clipped, stream)) ||
      !CUDA_TRY(cudaStreamSynchronize(stream)))
    return FALSE;
  if (result)
    result->clipped += clipped;
  return TRUE;
}
