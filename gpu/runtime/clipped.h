/* The number of components that a stage's kernels clipped: counted on the device, and added to the
 * result when the stage is drained. */
#pragma once

#include "gpu/runtime/cuda.h"

struct AstroCudaClipped {
  guint64 *counter; /* on the device, since the last drain; freed by astro_cuda_free */
};

gboolean astro_cuda_clipped_init(AstroCudaClipped *self, const AstroPlace *place, GError **error);

/* Waits for the device, adds the count to the result, and begins again at 0. */
gboolean astro_cuda_clipped_drain(AstroCudaClipped *self, const AstroPlace *place,
                                  AstroResult *result, GError **error);
