/* Data that groups of channels keep on the host between their turns on the device. */
#include "gpu/correlator/correlator.h"

gboolean astro_correlator_held_alloc(CorrelatorHeld *held, const AstroPlace *place, guint channels,
                                     guint group, gsize channel_bytes, GError **error)
{
  gsize bytes;
  held->channel_bytes = channel_bytes;
  if (!g_size_checked_mul(&bytes, channels, channel_bytes)) {
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY,
                "more bytes than can be addressed");
    return FALSE;
  }
  if (!place->device->funcs->alloc(place->device, group * channel_bytes, &held->face, error))
    return FALSE;
  if (group == channels)
    return TRUE;
  held->memory = astro_memory_new(bytes, place->device);
  if (held->memory && gst_memory_map(held->memory, &held->host, GST_MAP_READWRITE))
    return TRUE;
  g_clear_pointer(&held->memory, gst_memory_unref);
  g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY,
              "%u channels need %" G_GSIZE_FORMAT
              " bytes of the host's memory, since %s has room for %u of them",
              channels, bytes, place->device->name, group);
  return FALSE;
}

void astro_correlator_held_free(CorrelatorHeld *held, const AstroPlace *place)
{
  astro_cuda_free(place, &held->face);
  if (held->memory)
    gst_memory_unmap(held->memory, &held->host);
  g_clear_pointer(&held->memory, gst_memory_unref);
}

gboolean astro_correlator_held_bring(const CorrelatorHeld *held, guint first, guint n,
                                     cudaStream_t stream, GError **error)
{
  return !held->memory ||
         CUDA_TRY(cudaMemcpyAsync(held->face, held->host.data + first * held->channel_bytes,
                                  n * held->channel_bytes, cudaMemcpyHostToDevice, stream));
}

gboolean astro_correlator_held_keep(const CorrelatorHeld *held, guint first, guint n,
                                    cudaStream_t stream, GError **error)
{
  return !held->memory ||
         CUDA_TRY(cudaMemcpyAsync(held->host.data + first * held->channel_bytes, held->face,
                                  n * held->channel_bytes, cudaMemcpyDeviceToHost, stream));
}
