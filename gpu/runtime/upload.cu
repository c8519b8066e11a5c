/* Sends small host data to the device. */
#include "gpu/runtime/upload.h"

gboolean astro_cuda_upload(AstroCudaUpload *self, const AstroPlace *place, const char *stage,
                           AstroCudaPiece *pieces, guint n, GError **error)
{
  gsize bytes = 0;
  for (guint i = 0; i < n; i++)
    bytes += pieces[i].bytes;
  if (bytes > self->bytes) {
    astro_cuda_free(place, &self->block);
    self->bytes = 0;
    if (!astro_cuda_alloc(place, stage, &self->block, bytes, 1, error))
      return FALSE;
    self->bytes = bytes;
  }
  guint8 *to = (guint8 *)self->block;
  for (guint i = 0; i < n; to += pieces[i++].bytes) {
    pieces[i].device = to;
    if (pieces[i].bytes &&
        !CUDA_TRY(cudaMemcpyAsync(to, pieces[i].host, pieces[i].bytes, cudaMemcpyHostToDevice,
                                  astro_cuda_stream(place->queue))))
      return FALSE;
  }
  return TRUE;
}
