#include "config.h"
#include "core/delay/kernels.h"

const AstroDelayKernels *astro_delay_kernels(void)
{
  static const AstroDelayKernels *const variants[] = { &astro_delay_kernels_avx512,
                                                       &astro_delay_kernels_avx2 };
  AstroCpuLevel level = astro_cpu_level();
  for (guint i = 0; i < G_N_ELEMENTS(variants); i++)
    if (variants[i]->variant.level <= level)
      return variants[i];
  return &astro_delay_kernels_c;
}
