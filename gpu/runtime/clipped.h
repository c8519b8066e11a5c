/* How many components a stage's kernels clipped: counted on the device, added to the caller's total
 * when its work is done. */
#pragma once

#include "gpu/runtime/cuda.h"

struct AstroCudaClipped {
  guint64 *counter; /* on the device: since the last drain; astro_cuda_free frees it */
  guint64 *total;   /* the caller's, or NULL */
};

gboolean astro_cuda_clipped_init(AstroCudaClipped *self, const AstroPlace *place, GError **error);

/* What comes is for that total; what was for another is given to it first. */
gboolean astro_cuda_clipped_to(AstroCudaClipped *self, const AstroPlace *place, guint64 *total,
                               GError **error);

/* Waits for the device. */
gboolean astro_cuda_clipped_drain(AstroCudaClipped *self, const AstroPlace *place, GError **error);
