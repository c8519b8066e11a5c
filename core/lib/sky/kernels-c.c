#include "config.h"
#define LANES 4
#define NAME "c"
#define LEVEL ASTRO_CPU_C
#define KERNELS astro_sky_kernels_c
#include "core/lib/sky/kernels-body.h"
