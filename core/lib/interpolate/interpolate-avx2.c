#include "config.h"
#define LANES 8
#define NAME "avx2"
#define LEVEL ASTRO_CPU_AVX2
#define KERNELS astro_delay_kernels_avx2
#include "core/lib/interpolate/interpolate-body.h"
