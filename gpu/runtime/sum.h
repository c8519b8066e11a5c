/* Sums of what several devices have made: grids, images. */
#pragma once

#include "gpu/runtime/cuda.h"

/* Adds values of so many bytes, floats or doubles, to others. */
gboolean astro_cuda_sum(const AstroPlace *place, gpointer to, gconstpointer from, gsize bytes,
                        gboolean is_double, GError **error);
