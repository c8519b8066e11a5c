#include "config.h"
#include "core/sky/kernels.h"

const AstroSkyKernels *astro_sky_kernels(void)
{
  static const AstroSkyKernels *const variants[] = { &astro_sky_kernels_avx512,
                                                     &astro_sky_kernels_avx2 };
  AstroCpuLevel level = astro_cpu_level();
  for (guint i = 0; i < G_N_ELEMENTS(variants); i++)
    if (variants[i]->variant.level <= level)
      return variants[i];
  return &astro_sky_kernels_c;
}
