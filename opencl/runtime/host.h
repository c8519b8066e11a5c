/* Host memory that a driver allocates (CL_MEM_ALLOC_HOST_PTR), and page-locks where it copies from
 * and to it without the host: OpenCL has no call that locks memory which is there already. */
#pragma once

#include "opencl/runtime/opencl.h"

/* For AstroDeviceFuncs. */
gpointer astro_opencl_alloc_host(AstroDevice *device, gsize bytes, gsize align, GError **error);
void astro_opencl_free_host(AstroDevice *device, gpointer host);
