/* Gridding algorithms of an OpenCL device, by the interface that core/gridder/gridder.h has for
 * those of the host. None has choose: the host's answers for them. */
#pragma once

#include "core/gridder/gridder.h"
#include "opencl/runtime/opencl.h"

extern const AstroGridAlgorithm astro_opencl_direct, astro_opencl_wprojection,
    astro_opencl_wstacking;
