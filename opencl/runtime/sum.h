/* Adds one block on the device to another: grids, images. */
#pragma once

#include "opencl/runtime/opencl.h"

gboolean astro_opencl_sum(const AstroPlace *place, gpointer to, gconstpointer from, gsize bytes,
                          gboolean is_double, GError **error);
