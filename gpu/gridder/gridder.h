/* Gridding algorithms of the device, by the interface that core/gridder/gridder.h has for those of
 * the host. */
#pragma once

#include "gpu/runtime/cuda.h"

extern "C" {
#include "core/gridder/gridder.h"
}

/* Each list ends with a NULL. The second one is for grids of which the device has room for one
 * product only (gpu/gridder/per-product.cu). None has choose: the host's answers for them. */
extern const AstroGridAlgorithm astro_cuda_direct, astro_cuda_wprojection, astro_cuda_wstacking;
extern const AstroGridAlgorithm *const astro_cuda_algorithms[], *const astro_cuda_per_product[];
