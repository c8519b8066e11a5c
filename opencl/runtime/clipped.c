/* Counts clipped components on the device. */
#include "config.h"
#include "opencl/runtime/clipped.h"

#define BYTES (2 * sizeof(guint32))

gboolean astro_opencl_clipped_init(AstroOpenclClipped *self, const AstroPlace *place,
                                   GError **error)
{
  return place->device->funcs->alloc(place->device, BYTES, &self->counter, error) &&
         astro_opencl_fill(place, self->counter, 0, BYTES, error);
}

void astro_opencl_clipped_clear(AstroOpenclClipped *self, const AstroPlace *place)
{
  astro_opencl_free(place, &self->counter);
}

gboolean astro_opencl_clipped_drain(AstroOpenclClipped *self, const AstroPlace *place,
                                    AstroResult *result, GError **error)
{
  guint32 words[2] = { 0 };
  if (!place->device->funcs->queue_copy(place->device, place->queue, ASTRO_COPY_DOWN, words,
                                        self->counter, BYTES, error) ||
      !astro_opencl_fill(place, self->counter, 0, BYTES, error) ||
      !astro_opencl_drain(place, error))
    return FALSE;
  if (result)
    result->clipped += (guint64)words[1] << 32 | words[0];
  return TRUE;
}
