#include <math.h>

#define LANES 2
#define NAME "c"
#define LEVEL ASTRO_CPU_C
#define KERNELS astro_image_kernels_c

typedef double Vector __attribute__((vector_size(8 * LANES)));

static inline Vector root(Vector x)
{
  return (Vector){ sqrt(x[0]), sqrt(x[1]) };
}

#include "core/image/kernels-body.h"
