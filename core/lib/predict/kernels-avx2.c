#include "config.h"
#define LANES 4
#define NAME "avx2"
#define LEVEL ASTRO_CPU_AVX2
#define KERNELS astro_predict_kernels_avx2
#include "core/lib/predict/kernels-body.h"
