#include "config.h"
#define LANES 4
#define NAME "c"
#define LEVEL ASTRO_CPU_C
#define KERNELS astro_delay_kernels_c
#include "core/lib/interpolate/interpolate-body.h"
