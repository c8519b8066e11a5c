#include "config.h"
#include "core/delay/kernels.h"

static const AstroDelayKernels kernels[] = {
  { { "avx512", ASTRO_CPU_AVX512 }, astro_interpolate_avx512 },
  { { "avx2", ASTRO_CPU_AVX2 }, astro_interpolate_avx2 },
  { { "c", ASTRO_CPU_C }, astro_interpolate_c },
};

const AstroDelayKernels *astro_delay_kernels(void)
{
  return ASTRO_VARIANT_PICK(kernels);
}
