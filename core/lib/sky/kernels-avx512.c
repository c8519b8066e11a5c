#include "config.h"
#define LANES 16
#define NAME "avx512"
#define LEVEL ASTRO_CPU_AVX512
#define KERNELS astro_sky_kernels_avx512
#include "core/lib/sky/kernels-body.h"
