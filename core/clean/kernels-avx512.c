#define BYTES 64
#define NAME "avx512"
#define LEVEL ASTRO_CPU_AVX512
#define KERNELS astro_clean_kernels_avx512
#include "core/clean/kernels-body.h"
