/* Picks the kernels of prediction for this CPU. */
#include "config.h"
#include "core/lib/predict/kernels.h"

const AstroPredictKernels *astro_predict_kernels(void)
{
  static const AstroPredictKernels *const variants[] = ASTRO_KERNELS(astro_predict_kernels);
  return ASTRO_KERNELS_PICK(variants);
}
