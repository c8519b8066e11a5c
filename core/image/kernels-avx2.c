#include <immintrin.h>

#define LANES 4
#define NAME "avx2"
#define LEVEL ASTRO_CPU_AVX2
#define KERNELS astro_image_kernels_avx2

typedef double Vector __attribute__((vector_size(8 * LANES)));

static inline Vector root(Vector x)
{
  return (Vector)_mm256_sqrt_pd((__m256d)x);
}

#include "core/image/kernels-body.h"
