/* Picks the kernels of delays for this CPU. */
#include "config.h"
#include "core/lib/interpolate/kernels.h"

const AstroDelayKernels *astro_delay_kernels(void)
{
  static const AstroDelayKernels *const variants[] = ASTRO_KERNELS(astro_delay_kernels);
  return ASTRO_KERNELS_PICK(variants);
}
