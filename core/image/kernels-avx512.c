#include <immintrin.h>

#define LANES 8
#define NAME "avx512"
#define LEVEL ASTRO_CPU_AVX512
#define KERNELS astro_image_kernels_avx512

typedef double Vector __attribute__((vector_size(8 * LANES)));

static inline Vector root(Vector x)
{
  return (Vector)_mm512_sqrt_pd((__m512d)x);
}

#include "core/image/kernels-body.h"
