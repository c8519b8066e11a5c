/* How many components a stage's kernels clipped: counted on the device, added to the result when
 * its work is done. */
#pragma once

#include "gpu/runtime/cuda.h"

struct AstroCudaClipped {
  guint64 *counter; /* on the device: since the last drain; astro_cuda_free frees it */
};

gboolean astro_cuda_clipped_init(AstroCudaClipped *self, const AstroPlace *place, GError **error);

/* Waits for the device. */
gboolean astro_cuda_clipped_drain(AstroCudaClipped *self, const AstroPlace *place,
                                  AstroResult *result, GError **error);
