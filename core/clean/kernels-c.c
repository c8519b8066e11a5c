#define BYTES 16
#define NAME "c"
#define LEVEL ASTRO_CPU_C
#define KERNELS astro_clean_kernels_c
#include "core/clean/kernels-body.h"
