#include "config.h"
#define LANES 16
#define NAME "avx512"
#define LEVEL ASTRO_CPU_AVX512
#define KERNELS astro_delay_kernels_avx512
#include "core/lib/interpolate/interpolate-body.h"
