/* The values of one product of visibilities, for a device that has room for one grid only. */
#pragma once

#include "core/gridder/per-product.h"
#include "opencl/runtime/opencl.h"

/* AstroPerProduct.take */
gboolean astro_opencl_take_product(const AstroPlace *place, const AstroProductTake *take,
                                   GError **error);
/* Whether the device's compiler takes its kernel. */
gboolean astro_opencl_take_compiles(gboolean is_double, const AstroPlace *place, GError **error);
