/* Counts clipped components on the device, for stages that write integers. */
#pragma once

#include "opencl/runtime/opencl.h"

typedef struct {
  gpointer counter; /* on the device: 64 bits in two words, low ones first */
} AstroOpenclClipped;

gboolean astro_opencl_clipped_init(AstroOpenclClipped *self, const AstroPlace *place,
                                   GError **error);
void astro_opencl_clipped_clear(AstroOpenclClipped *self, const AstroPlace *place);
/* Waits for the queue, adds what was counted to the result, and begins anew. */
gboolean astro_opencl_clipped_drain(AstroOpenclClipped *self, const AstroPlace *place,
                                    AstroResult *result, GError **error);
