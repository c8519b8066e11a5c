/* Gridding algorithms on the device, as core/gridder/gridder.h has them on the CPU: what the
 * stage "gridder" drives. */
#pragma once

#include "gpu/runtime/cuda.h"

extern "C" {
#include "core/gridder/gridder.h"
}

/* AstroGridAlgorithms of the device, but for choose, and those that work there for grids that are
 * too large for it (gpu/gridder/by-product.cu); up to a NULL. */
extern const AstroGridAlgorithm astro_cuda_direct, astro_cuda_wprojection, astro_cuda_wstacking;
extern const AstroGridAlgorithm *const astro_cuda_algorithms[], *const astro_cuda_turns[];
