/* Gridding algorithms of the device, by the interface that core/gridder/gridder.h has for those of
 * the host. */
#pragma once

#include "gpu/runtime/cuda.h"

extern "C" {
#include "core/gridder/gridder.h"
}

/* None has choose: the host's answers for them. */
extern const AstroGridAlgorithm astro_cuda_direct, astro_cuda_wprojection, astro_cuda_wstacking;
