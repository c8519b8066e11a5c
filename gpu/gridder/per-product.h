/* The values of one product of visibilities, for a device that has room for one grid only. */
#pragma once

#include "gpu/gridder/gridder.h"

extern "C" {
#include "core/gridder/per-product.h"
}

gboolean astro_cuda_take_product(const AstroPlace *place, const AstroProductTake *take,
                                 GError **error);
