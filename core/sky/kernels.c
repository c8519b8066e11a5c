#include "config.h"
#include "core/sky/kernels.h"

const AstroSkyKernels *astro_sky_kernels(void)
{
  static const AstroSkyKernels *const variants[] = { &astro_sky_kernels_avx512,
                                                     &astro_sky_kernels_avx2,
                                                     &astro_sky_kernels_c };
  return ASTRO_KERNELS_PICK(variants);
}
