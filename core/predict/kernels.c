#include "config.h"
#include "core/predict/kernels.h"

const AstroPredictKernels *astro_predict_kernels(void)
{
  static const AstroPredictKernels *const variants[] = { &astro_predict_kernels_avx512,
                                                         &astro_predict_kernels_avx2,
                                                         &astro_predict_kernels_c };
  return ASTRO_KERNELS_PICK(variants);
}
