/* Gridding algorithms of an OpenCL device, by the interface that core/gridder/gridder.h has for
 * those of the host. None has choose: the host's answers for them. */
#pragma once

#include "core/gridder/gridder.h"
#include "opencl/gridder/work.h"

extern const AstroGridAlgorithm astro_opencl_direct, astro_opencl_wprojection,
    astro_opencl_wstacking;

/* Whether the device's compiler takes the kernels of each: where there is no observation yet, which
 * they need to be created. */
gboolean astro_opencl_direct_compiles(const AstroGriddingConfig *config, const AstroPlace *place,
                                      GError **error);
gboolean astro_opencl_wprojection_compiles(const AstroGriddingConfig *config,
                                           const AstroPlace *place, GError **error);
gboolean astro_opencl_wstacking_compiles(const AstroGriddingConfig *config, const AstroPlace *place,
                                         GError **error);
