#include "config.h"
#define LANES 8
#define NAME "avx512"
#define LEVEL ASTRO_CPU_AVX512
#define KERNELS astro_predict_kernels_avx512
#include "core/lib/predict/kernels-body.h"
