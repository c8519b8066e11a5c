#include "config.h"
#include "core/delay/kernels.h"

const AstroDelayKernels *astro_delay_kernels(void)
{
  static const AstroDelayKernels *const variants[] = { &astro_delay_kernels_avx512,
                                                       &astro_delay_kernels_avx2,
                                                       &astro_delay_kernels_c };
  return ASTRO_KERNELS_PICK(variants);
}
