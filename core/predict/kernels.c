#include "config.h"
#include "core/predict/kernels.h"

const AstroPredictKernels *astro_predict_kernels(void)
{
  static const AstroPredictKernels *const variants[] = { &astro_predict_kernels_avx512,
                                                         &astro_predict_kernels_avx2 };
  AstroCpuLevel level = astro_cpu_level();
  for (guint i = 0; i < G_N_ELEMENTS(variants); i++)
    if (variants[i]->variant.level <= level)
      return variants[i];
  return &astro_predict_kernels_c;
}
