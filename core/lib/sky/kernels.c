/* Picks the kernels of the voltage simulator for this CPU. */
#include "config.h"
#include "core/lib/sky/kernels.h"

const AstroSkyKernels *astro_sky_kernels(void)
{
  static const AstroSkyKernels *const variants[] = ASTRO_KERNELS(astro_sky_kernels);
  return ASTRO_KERNELS_PICK(variants);
}
