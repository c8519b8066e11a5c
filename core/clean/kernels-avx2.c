#define BYTES 32
#define NAME "avx2"
#define LEVEL ASTRO_CPU_AVX2
#define KERNELS astro_clean_kernels_avx2
#include "core/clean/kernels-body.h"
